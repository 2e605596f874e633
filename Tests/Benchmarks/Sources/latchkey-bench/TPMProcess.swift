// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A software TPM of this run, with an empty state.
final class TPMProcess {
    /// The path of its socket.
    let path: String
    private let process = Process()

    /// The program; nil if it is not installed.
    static var program: String? {
        let path = "/usr/bin/swtpm"
        return access(path, X_OK) == 0 ? path : nil
    }

    /// Starts a TPM with its state in a folder, which is created, and waits until it listens.
    init(_ program: String, folder: String) throws(BenchFailure) {
        path = folder + "/socket"
        guard mkdir(folder, 0o700) == 0 else { throw .system("mkdir") }
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = [
            "socket", "--tpm2", "--server", "type=unixio,path=\(path)", "--tpmstate", "dir=\(folder)", "--flags",
            "not-need-init,startup-clear",
        ]
        process.standardError = FileHandle.nullDevice
        do { try process.run() } catch { throw BenchFailure("swtpm does not start: \(error)") }
        for _ in 0..<500 where access(path, F_OK) != 0 { usleep(10_000) }
        guard access(path, F_OK) == 0 else { throw BenchFailure("swtpm did not listen within 5 seconds.") }
    }

    deinit { process.terminate() }

    /// Prints what a service has left in the memory of the TPM, after it has ended: the TPM takes one connection at a
    /// time. Throws unless there is nothing.
    func expectNothingHeld(after work: String) throws(BenchFailure) {
        var held: [String] = []
        for (name, kind) in [("objects", 0x80), ("loaded sessions", 0x02), ("saved sessions", 0x03)]
            as [(String, UInt32)]
        {
            let count = try TPMFloor.handles(kind, at: path)
            held.append("\(count) \(name)")
            guard count == 0 else { throw BenchFailure("\(work) left \(count) \(name) in the TPM.") }
        }
        print("left in the TPM after \(work): \(held.joined(separator: ", "))", to: .standardOutput)
    }

    /// Connects to a socket.
    static func connect(_ path: String) throws(BenchFailure) -> CInt {
        let descriptor = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw .system("socket") }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else {
            throw BenchFailure("The path of a socket is too long.", hint: "Name a shorter one with --folder DIR.")
        }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        let code = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard code == 0 else { throw .system("connect") }
        return descriptor
    }
}
