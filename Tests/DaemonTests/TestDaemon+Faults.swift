// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyModel
import LatchkeySystem
import Testing

/// Faults injected from outside the daemon.
extension TestDaemon {
    /// Kills the daemon with SIGKILL and waits until it has ended.
    func crash() throws {
        let process = try #require(try self.process)
        kill(process, SIGKILL)
        #expect(Processes.hasEnded(process, within: 20))
    }

    /// Changes or deletes a file of the store while no daemon has it open.
    func edit(file name: String, _ change: ([UInt8]) -> [UInt8]?) throws {
        let path = folder + "/" + name
        let bytes = try Files.read(path, limit: 1 << 20)?.copyBytes() ?? []
        #expect(!bytes.isEmpty, "\(name) exists")
        guard let changed = change(bytes) else { return Files.remove(path) }
        try Files.replace(path, with: SecretBytes(changed))
    }

    /// Compiles a library of `Forge`, which tests preload, into the store's folder.
    func library(_ name: String) throws -> String {
        let library = folder + "/\(name).so"
        let compiled = try Finished(
            "/usr/bin/cc",
            [
                "-shared", "-fPIC", "-O1", "-o", library, Files.folder(of: #filePath) + "/Forge/\(name).c", "-ldl",
            ], input: "", environment: ["PATH=/usr/bin:/bin"])
        #expect(compiled.exitCode == 0, "\(compiled.errors)")
        return library
    }
}
