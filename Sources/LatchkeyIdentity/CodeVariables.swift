// SPDX-License-Identifier: Apache-2.0

/// Variables by which a user makes an ordinary program execute other code: of the dynamic loader, of toolkits that load
/// modules, and of languages that a program may embed.
///
/// `/proc/PID/environ` shows them as they were at execve(2), unless the process has overwritten them. Loaded code can
/// do that, so this check reveals what is set openly; it does not keep out an attacker of the same user.
package enum CodeVariables {
    private static let names: Set<String> = [
        // The C library.
        "GCONV_PATH",
        // Toolkits and media.
        "GTK_MODULES", "GTK3_MODULES", "GTK_PATH", "GTK_EXE_PREFIX", "GTK_IM_MODULE_FILE", "GDK_PIXBUF_MODULE_FILE",
        "GDK_PIXBUF_MODULEDIR", "GIO_EXTRA_MODULES", "GIO_MODULE_DIR", "GST_PLUGIN_PATH", "GST_PLUGIN_PATH_1_0",
        "GST_PLUGIN_SYSTEM_PATH", "GST_PLUGIN_SYSTEM_PATH_1_0", "GST_PLUGIN_SCANNER", "QT_PLUGIN_PATH",
        "QT_QPA_PLATFORM_PLUGIN_PATH", "QML_IMPORT_PATH", "QML2_IMPORT_PATH", "QTWEBENGINEPROCESS_PATH",
        "LIBGL_DRIVERS_PATH", "LIBVA_DRIVERS_PATH", "VDPAU_DRIVER_PATH", "GBM_BACKENDS_PATH", "VK_ICD_FILENAMES",
        "VK_DRIVER_FILES", "VK_ADD_DRIVER_FILES", "VK_LAYER_PATH", "VK_ADD_LAYER_PATH", "VK_INSTANCE_LAYERS",
        "__EGL_VENDOR_LIBRARY_DIRS", "__EGL_VENDOR_LIBRARY_FILENAMES", "LADSPA_PATH", "ALSA_CONFIG_PATH",
        // Libraries of cryptography and of names.
        "OPENSSL_CONF", "OPENSSL_MODULES", "OPENSSL_ENGINES", "SASL_PATH", "KRB5_CONFIG",
        // Embedded languages.
        "ELECTRON_RUN_AS_NODE", "NODE_OPTIONS", "NODE_PATH", "PERL5LIB", "PERL5OPT", "PERLLIB",
        "PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP", "PYTHONUSERBASE", "RUBYLIB", "RUBYOPT", "LUA_PATH", "LUA_CPATH",
        "LUA_INIT", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS", "CLASSPATH", "DOTNET_STARTUP_HOOKS",
        "GUILE_LOAD_PATH", "TCLLIBPATH", "PHPRC", "PHP_INI_SCAN_DIR",
    ]

    /// Whether a variable is one of them, whatever its value.
    package static func contains(_ name: String) -> Bool { name.hasPrefix("LD_") || names.contains(name) }
}
