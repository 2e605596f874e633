// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The temporary folder of a run, with Latchkey's store and the databases of the floors on one disk.
struct Workspace: Sendable {
    /// The type of its file system, as `df -T` prints it.
    let fileSystem: String
    private let path: String

    /// The folder of the daemon's store.
    var store: String { path + "/store" }

    /// The path of another folder, which is not created.
    func folder(_ name: String) -> String { path + "/" + name }

    /// The path of a floor's database.
    func database(_ name: String) -> String { path + "/\(name).sqlite" }

    /// Creates the folder and sets the environment so that Latchkey's client and daemon use it.
    init(in chosen: String?) throws(BenchFailure) {
        let environment = ProcessInfo.processInfo.environment
        let usual = [environment["TMPDIR"], "/var/tmp", "/tmp", environment["HOME"]].compactMap { $0 }
        let candidates = chosen.map { [$0] } ?? usual
        // On a file system in memory durable writes cost nothing, and the comparison would be meaningless.
        let place = candidates.first { folder in
            access(folder, W_OK) == 0 && !["tmpfs", "ramfs", "unknown"].contains(Workspace.fileSystem(of: folder))
        }
        guard let place else {
            throw BenchFailure(
                "None of these folders is writable and on a real disk: \(candidates.joined(separator: ", ")).",
                hint: "Name one with --folder DIR.")
        }
        var template = Array("\(place)/latchkey-bench-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw .system("mkdtemp") }
        path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        fileSystem = Workspace.fileSystem(of: place)
        // The run measures the software enclave, not a TPM.
        guard mkdir(store, 0o700) == 0 else { throw .system("mkdir") }
        try configure("enclave = software\n")
        setenv("LATCHKEY_HOME", store, 1)
        setenv("LATCHKEY_APP_ID", "org.example.latchkey-bench", 1)
        // Without this variable the socket is in the store's folder and is removed with it.
        unsetenv("XDG_RUNTIME_DIR")
    }

    /// Replaces the configuration of the daemon, before it is started.
    func configure(_ text: String) throws(BenchFailure) {
        let isWritten = FileManager.default.createFile(
            atPath: store + "/latchkeyd.conf", contents: Data(text.utf8), attributes: [.posixPermissions: 0o600])
        guard isWritten else { throw .system("latchkeyd.conf") }
    }

    /// Reads all files once, so that they are in the page cache and disk reads are not measured.
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
            // Of two mounts on the same directory the later one is visible.
            if isAbove, mount.utf8.count >= best.length { best = (mount.utf8.count, String(fields[2])) }
        }
        return best.type
    }
}
