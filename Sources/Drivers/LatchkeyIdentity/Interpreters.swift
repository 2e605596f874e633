// SPDX-License-Identifier: Apache-2.0

/// Programs that execute code of the user under their own name: interpreters, shells, debuggers, emulators, dynamic
/// loaders, and programs that start any other program or hold a terminal for it.
package enum Interpreters {
    private static let names: Set<String> = [
        // Shells and programs of many names.
        "sh", "ash", "bash", "rbash", "dash", "zsh", "fish", "ksh", "ksh93", "mksh", "csh", "tcsh", "yash", "rc", "es",
        "nu", "pwsh", "elvish", "xonsh", "busybox", "toybox",
        // Languages without a version in the name of the program.
        "node", "nodejs", "deno", "bun", "java", "jshell", "scala", "kotlin", "groovy", "clojure", "mono", "dotnet",
        "gjs", "gjs-console", "seed", "osascript", "awk", "gawk", "mawk", "nawk", "sed", "expect", "make", "gmake",
        "ninja", "m4", "bc", "dc", "jq", "ghc", "ghci", "runghc", "ocaml", "swift", "swift-frontend", "swift-repl",
        "julia", "octave", "octave-cli", "R", "Rscript", "erl", "beam", "beam.smp", "elixir", "iex", "sbcl", "clisp",
        "racket", "emacs", "vi", "vim", "nvim", "ed", "go", "cargo", "tcc", "electron",
        // Debuggers and tracers.
        "gdb", "gdbserver", "strace", "ltrace", "valgrind", "rr", "perf", "uftrace",
        // Programs that start any other program.
        "env", "sudo", "su", "runuser", "pkexec", "doas", "run0", "setpriv", "setsid", "nsenter", "unshare", "chroot",
        "bwrap", "firejail", "flatpak", "snap", "fakeroot", "faked", "proot", "nohup", "nice", "ionice", "taskset",
        "timeout", "stdbuf", "time", "xargs", "find", "parallel", "watch", "systemd-run", "start-stop-daemon",
        "ssh", "ssh-agent", "dbus-run-session", "dbus-launch", "xvfb-run", "wine", "wine64", "box64", "box86", "FEX",
        // Programs that hold a terminal.
        "script", "scriptreplay", "tmux", "screen", "dtach", "abduco", "zellij", "socat",
    ]
    /// Their names are followed by nothing or by a version, as in `python3.11`.
    private static let families = [
        "python", "pypy", "perl", "ruby", "irb", "jruby", "lua", "luajit", "texlua", "php", "guile", "node", "nodejs",
        "tclsh", "wish", "lldb", "lldb-server", "gdb", "java", "ocaml", "ghc", "electron", "emacs", "R", "bash", "ksh",
        "micropython", "wine", "julia", "swipl", "gforth", "vim",
    ]
    /// Every name that begins so.
    private static let prefixes = ["qemu-", "ld-linux", "ld-musl", "ld.so", "ld64.so", "ld-2."]

    /// Whether a file name is that of such a program.
    package static func contains(_ name: String) -> Bool {
        names.contains(name) || prefixes.contains { name.hasPrefix($0) }
            || families.contains { family in
                guard name.hasPrefix(family) else { return false }
                // `python3.11-dbg` and `guile-3.0` are such programs, `lualatex` and `perlbrew` are not.
                let rest = name.dropFirst(family.count).drop { $0 == "-" || $0 == "." }
                return rest.isEmpty || rest.first.map { "0"..."9" ~= $0 } == true
            }
    }
}
