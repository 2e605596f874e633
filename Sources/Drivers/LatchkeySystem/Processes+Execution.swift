// SPDX-License-Identifier: Apache-2.0

import Glibc
package import LatchkeyModel

/// A command that a person has typed, which replaces this process.
extension Processes {
    private static let slash = UInt8(ascii: "/")

    /// Finds the file of a command as execvp(3) does: a name with a slash is a path, and another one is looked for in the
    /// folders of `PATH`. Neither has to be text.
    ///
    /// - Throws: `SystemError` with ENOENT if there is none, and with another code if none can be executed.
    package static func find(_ command: [UInt8]) throws(SystemError) -> FilePath {
        guard !command.isEmpty else { throw SystemError("execve", code: ENOENT) }
        var places = [command]
        if !command.contains(slash) {
            let path = getenv("PATH").map {
                UnsafeBufferPointer(start: $0, count: strlen($0)).map(UInt8.init(bitPattern:))
            }
            places = (path ?? Array("/bin:/usr/bin".utf8)).split(
                separator: UInt8(ascii: ":"), omittingEmptySubsequences: false
            ).map { ($0.isEmpty ? [UInt8(ascii: ".")] : $0) + [slash] + command }
        }
        var code = ENOENT
        for place in places.map({ FilePath(bytes: $0) }) {
            switch refusal(of: place) {
            case 0: return place
            case ENOENT, ENOTDIR: break
            case let other: code = other
            }
        }
        throw SystemError("execve", code: code)
    }

    /// The error with which executing a file fails, as far as it is known before; 0 if there is none.
    private static func refusal(of file: FilePath) -> CInt {
        var status = stat()
        guard file.call({ stat($0, &status) }) == 0 else { return errno }
        guard status.st_mode & S_IFMT == S_IFREG else { return EACCES }
        return file.call { access($0, X_OK) } == 0 ? 0 : errno
    }

    /// Replaces this process by a program (execve(2)). A file without a format that the kernel knows is a script of sh, as for
    /// execvp(3).
    ///
    /// - Parameters:
    ///   - arguments: all of them, the name of the program first; none contains a zero byte.
    ///   - variables: entries `NAME=value` with a zero byte after each. They replace those of this process.
    /// - Returns: the error, if the program cannot be started.
    package static func become(
        _ file: FilePath, _ arguments: [[UInt8]], variables: SecretBytes
    ) -> SystemError {
        let code: CInt = variables.withBytes { memory in
            var entries: [UnsafeMutablePointer<CChar>?] = []
            var rest = memory[...]
            while let end = rest.firstIndex(of: 0), let base = memory.baseAddress {
                // execve(2) changes nothing there; only its type says that it may.
                let entry = UnsafeMutableRawPointer(mutating: base + rest.startIndex)
                entries.append(entry.assumingMemoryBound(to: CChar.self))
                rest = rest[(end + 1)...]
            }
            let own = entries
            var inherited = environ
            while let entry = inherited.pointee {
                if !own.contains(where: { haveSameName($0, entry) }) { entries.append(entry) }
                inherited += 1
            }
            entries.append(nil)
            return execute(file, arguments, entries)
        }
        return SystemError("execve", code: code)
    }

    private static func haveSameName(_ left: UnsafeMutablePointer<CChar>?, _ right: UnsafePointer<CChar>) -> Bool {
        guard let left, let sign = strchr(left, CInt(UInt8(ascii: "="))) else { return false }
        return strncmp(left, right, sign - left + 1) == 0
    }

    private static func execute(
        _ file: FilePath, _ arguments: [[UInt8]], _ environment: [UnsafeMutablePointer<CChar>?]
    ) -> CInt {
        func execute(_ path: UnsafePointer<CChar>, _ arguments: [[UInt8]]) -> CInt {
            withCStrings(arguments) {
                _ = execve(path, $0, environment)
                return errno
            }
        }
        let code = file.call { execute($0, arguments) }
        return code == ENOEXEC ? execute("/bin/sh", [Array("sh".utf8), file.bytes] + arguments.dropFirst()) : code
    }

    private static func withCStrings(
        _ strings: [[UInt8]], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> CInt
    ) -> CInt {
        let copies = strings.map { strdup($0.map { CChar(bitPattern: $0) } + [0]) }
        defer { for copy in copies { free(copy) } }
        return (copies + [nil]).withUnsafeBufferPointer { buffer in
            // The array ends with nil and is never empty, so it has a base address.
            // swift-format-ignore: NeverForceUnwrap
            body(buffer.baseAddress!)
        }
    }
}
