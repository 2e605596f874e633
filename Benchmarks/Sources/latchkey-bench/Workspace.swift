// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The temporary folder of a run: Latchkey's store and the databases of the floors, on one disk.
struct Workspace: Sendable {
    /// What `df -T` calls the file system it is on.
    let fileSystem: String
    private let path: String

    /// The folder of the daemon's store.
    var store: String { path + "/store" }

    /// A folder for something else, not made yet.
    func folder(_ name: String) -> String { path + "/" + name }

    /// The path of a floor's database.
    func database(_ name: String) -> String { path + "/\(name).sqlite" }

    /// Makes the folder and points Latchkey at it.
    init(in chosen: String?) throws(BenchFailure) {
        let environment = ProcessInfo.processInfo.environment
        let usual = [environment["TMPDIR"], "/var/tmp", "/tmp", environment["HOME"]].compactMap { $0 }
        let candidates = chosen.map { [$0] } ?? usual
        // Where writing costs nothing, neither side of a comparison means anything.
        let place = candidates.first { folder in
            access(folder, W_OK) == 0 && !["tmpfs", "ramfs", "unknown"].contains(Workspace.fileSystem(of: folder))
        }
        guard let place else {
            throw BenchFailure(
                "No folder on a real disk to write to: looked at \(candidates.joined(separator: ", ")).",
                hint: "Name one with --folder DIR.")
        }
        var template = Array("\(place)/latchkey-bench-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw .system("mkdtemp") }
        path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        fileSystem = Workspace.fileSystem(of: place)
        // No TPM is measured: the enclave is made of software.
        let isConfigured =
            mkdir(store, 0o700) == 0
            && FileManager.default.createFile(
                atPath: store + "/latchkeyd.conf", contents: Data("enclave = software\n".utf8),
                attributes: [.posixPermissions: 0o600])
        guard isConfigured else { throw .system("latchkeyd.conf") }
        setenv("LATCHKEY_HOME", store, 1)
        setenv("LATCHKEY_APP_ID", "org.example.latchkey-bench", 1)
        // The socket lies beside the store then, and goes with it.
        unsetenv("XDG_RUNTIME_DIR")
    }

    /// Reads all files once, so that the kernel has them: what is measured is not how long ago a page was on the disk.
    func warm() {
        guard let files = FileManager.default.enumerator(atPath: path) else { return }
        for case let name as String in files {
            guard let file = FileHandle(forReadingAtPath: path + "/" + name) else { continue }
            while let piece = try? file.read(upToCount: 4 << 20), !piece.isEmpty {}
        }
    }

    /// Removes everything.
    func remove() { try? FileManager.default.removeItem(atPath: path) }

    private static func fileSystem(of folder: String) -> String {
        let folder = URL(fileURLWithPath: folder).resolvingSymlinksInPath().path
        var best = (length: -1, type: "unknown")
        for line in Machine.text("/proc/self/mounts").split(separator: "\n") {
            let fields = line.split(separator: " ")
            guard fields.count > 2 else { continue }
            let mount = String(fields[1])
            let isAbove = mount == "/" || folder == mount || folder.hasPrefix(mount + "/")
            // Of two mounts at one place the later one is seen.
            if isAbove, mount.utf8.count >= best.length { best = (mount.utf8.count, String(fields[2])) }
        }
        return best.type
    }
}
