// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Variables by which a user makes an ordinary program execute other code: of the dynamic loader, of toolkits that load
/// modules, and of languages that a program may embed.
///
/// `/proc/PID/environ` shows them as they were at execve(2), unless the process has overwritten them. Loaded code can
/// do that, so this check reveals what is set openly; it does not keep out an attacker of the same user.
package enum CodeVariables {
    private static let names: Set<String> = [
        // The C library: tables of character conversions.
        "GCONV_PATH",
        // GTK and GLib: modules, input methods, loaders of images, extensions of input and output, printing, type
        // libraries of introspection.
        "GTK_MODULES", "GTK3_MODULES", "GTK_PATH", "GTK_EXE_PREFIX", "GTK_IM_MODULE_FILE", "GDK_PIXBUF_MODULE_FILE",
        "GDK_PIXBUF_MODULEDIR", "GIO_EXTRA_MODULES", "GIO_MODULE_DIR", "GI_TYPELIB_PATH", "LIBDECOR_PLUGIN_DIR",
        // GStreamer: plug-ins, the program that scans them, and the list of plug-ins that it wrote.
        "GST_PLUGIN_PATH", "GST_PLUGIN_PATH_1_0", "GST_PLUGIN_SYSTEM_PATH", "GST_PLUGIN_SYSTEM_PATH_1_0",
        "GST_PLUGIN_SCANNER", "GST_PLUGIN_SCANNER_1_0", "GST_REGISTRY", "GST_REGISTRY_1_0",
        // Qt: plug-ins, QML modules, the process of its web engine.
        "QT_PLUGIN_PATH", "QT_QPA_PLATFORM_PLUGIN_PATH", "QML_IMPORT_PATH", "QML2_IMPORT_PATH",
        "QTWEBENGINEPROCESS_PATH",
        // WebKit: a library for the process of each page, and the programs of these processes.
        "WEBKIT_INJECTED_BUNDLE_PATH", "WEBKIT_EXEC_PATH",
        // Graphics: drivers, layers between a program and its driver, and their manifests.
        "LIBGL_DRIVERS_PATH", "LIBGL_DRIVERS_DIR", "LIBVA_DRIVERS_PATH", "VDPAU_DRIVER_PATH", "GBM_BACKENDS_PATH",
        "VK_ICD_FILENAMES",
        "VK_DRIVER_FILES", "VK_ADD_DRIVER_FILES", "VK_LAYER_PATH", "VK_ADD_LAYER_PATH", "VK_INSTANCE_LAYERS",
        "VK_IMPLICIT_LAYER_PATH", "VK_ADD_IMPLICIT_LAYER_PATH", "__EGL_VENDOR_LIBRARY_DIRS",
        "__EGL_VENDOR_LIBRARY_FILENAMES", "__EGL_EXTERNAL_PLATFORM_CONFIG_DIRS",
        "__EGL_EXTERNAL_PLATFORM_CONFIG_FILENAMES", "OCL_ICD_VENDORS", "OCL_ICD_FILENAMES", "OPENCL_LAYERS",
        "XR_RUNTIME_JSON", "XR_API_LAYER_PATH",
        // Sound: plug-ins, and configurations that name them.
        "LADSPA_PATH", "LV2_PATH", "ALSA_CONFIG_PATH", "ALSA_CONFIG_DIR", "ALSA_PLUGIN_DIR", "SPA_PLUGIN_DIR",
        "PIPEWIRE_MODULE_DIR", "PIPEWIRE_CONFIG_DIR", "PIPEWIRE_CONFIG_PREFIX",
        // Libraries of cryptography and of names: engines, providers, modules, and configurations that name them.
        "OPENSSL_CONF", "OPENSSL_MODULES", "OPENSSL_ENGINES", "SASL_PATH", "SASL_CONF_PATH", "KRB5_CONFIG",
        // Images and films: modules of formats and filters, and a configuration that names commands.
        "BABL_PATH", "GEGL_PATH", "FREI0R_PATH", "MAGICK_CODER_MODULE_PATH", "MAGICK_CODER_FILTER_PATH",
        "MAGICK_CONFIGURE_PATH", "IMLIB2_LOADER_PATH",
        // Embedded languages: search paths, start files, options.
        "ELECTRON_RUN_AS_NODE", "NODE_OPTIONS", "NODE_PATH", "PERL5LIB", "PERL5OPT", "PERL5DB", "PERLLIB",
        "PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP", "PYTHONUSERBASE", "PYTHONPLATLIBDIR", "RUBYLIB", "RUBYOPT",
        "LUA_PATH", "LUA_CPATH", "LUA_INIT", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS",
        "JDK_JAVA_OPTIONS", "CLASSPATH", "DOTNET_STARTUP_HOOKS", "CORECLR_PROFILER_PATH", "GUILE_LOAD_PATH",
        "GUILE_LOAD_COMPILED_PATH", "GUILE_EXTENSIONS_PATH", "TCLLIBPATH", "TCL_LIBRARY", "PHPRC",
        "PHP_INI_SCAN_DIR", "GJS_PATH",
    ]
    /// Prefixes of further ones: the dynamic loader's, and those of a variable for each version.
    private static let prefixes = ["LD_", "LUA_PATH_5_", "LUA_CPATH_5_", "LUA_INIT_5_"]

    /// Whether a variable is one of them, whatever its value.
    package static func contains(_ name: String) -> Bool {
        prefixes.contains { name.hasPrefix($0) } || names.contains(name)
    }

    // MARK: - Scan

    /// A byte of a name, with the names that begin as those up to here.
    private struct Node {
        var byte: UInt8
        /// Whether a name ends here, and whether every name that begins so counts.
        var isName = false
        var isPrefix = false
        /// The first of the next bytes, and the next alternative to this byte; 0 if there is none.
        var child: Int32 = 0
        var sibling: Int32 = 0
    }

    /// The names and prefixes as a tree; its root is node 0. An entry costs one step for each byte, whatever the process
    /// chose as its name.
    private static let tree: [Node] = {
        var nodes = [Node(byte: 0)]
        for (name, isPrefix) in names.map({ ($0, false) }) + prefixes.map({ ($0, true) }) {
            var node = 0
            for byte in name.utf8 {
                var next = Int(nodes[node].child)
                while next != 0, nodes[next].byte != byte { next = Int(nodes[next].sibling) }
                if next == 0 {
                    next = nodes.count
                    nodes.append(Node(byte: byte, sibling: nodes[node].child))
                    nodes[node].child = Int32(next)
                }
                node = next
            }
            if isPrefix { nodes[node].isPrefix = true } else { nodes[node].isName = true }
        }
        return nodes
    }()
    /// The nodes of first bytes, by byte.
    private static let first: [Int32] = {
        var first = [Int32](repeating: 0, count: 256)
        var node = Int(tree[0].child)
        while node != 0 {
            first[Int(tree[node].byte)] = Int32(node)
            node = Int(tree[node].sibling)
        }
        return first
    }()

    /// Looks for the variables in an environment that arrives in pieces: entries `NAME=value`, each with a zero byte at its
    /// end.
    ///
    /// The process chooses the number of entries and their lengths, so an entry costs no memory.
    package struct Scan {
        package private(set) var hasFound = false
        /// The node of the present name so far; -1 in a value, and in a name that is none of these.
        private var node = 0

        package init() {}

        package mutating func take(_ piece: UnsafeRawBufferPointer) {
            guard let base = piece.baseAddress, !hasFound else { return }
            var (node, isFound, index) = (node, false, 0)
            tree.withUnsafeBufferPointer { tree in
                first.withUnsafeBufferPointer { first in
                    while index < piece.count {
                        if node < 0 {
                            // Most entries end soon, and a call costs more than some bytes.
                            let near = min(piece.count, index + 8)
                            while index < near, base.load(fromByteOffset: index, as: UInt8.self) != 0 { index += 1 }
                            if index == near {
                                guard index < piece.count, let end = memchr(base + index, 0, piece.count - index) else {
                                    return
                                }
                                index = UnsafeRawPointer(end) - base
                            }
                            index += 1
                            node = 0
                            continue
                        }
                        let byte = base.load(fromByteOffset: index, as: UInt8.self)
                        index += 1
                        if byte == 0 || byte == UInt8(ascii: "=") {
                            isFound = tree[node].isName
                            node = byte == 0 ? 0 : -1
                        } else {
                            var next = Int(node == 0 ? first[Int(byte)] : tree[node].child)
                            while next != 0, tree[next].byte != byte { next = Int(tree[next].sibling) }
                            isFound = tree[next].isPrefix
                            node = next == 0 ? -1 : next
                        }
                        if isFound { return }
                    }
                }
            }
            self.node = node
            hasFound = isFound
        }

        package mutating func end() { if node >= 0, tree[node].isName { hasFound = true } }
    }
}
