// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyModel
import LatchkeySystem

/// The two files by which a person chooses the provider.
///
/// The file of the bus goes before those of `/usr/share`, such as that of gnome-keyring, so the bus starts this provider
/// when a program calls the name. The link makes the service manager start it at the beginning of a session, because
/// gnome-keyring is started then too and takes the name if it is free.
struct SecretsSetup: Sendable {
    static let unit = "latchkey-secrets.service"
    private static let mark = "# Written by: latchkey secrets enable"

    /// The file of the bus, whose first line is the mark.
    let serviceFile: String
    let link: String
    private let program: String

    init() throws(Failure) {
        guard let home = Environment.home else {
            throw Failure(.noHome, "You have no home folder.", hint: "Set HOME.")
        }
        guard let program = Environment.executable else {
            throw Failure(.internalFailure, "The path of this program cannot be determined.")
        }
        self.init(
            data: Self.folder("XDG_DATA_HOME", home + "/.local/share"),
            configuration: Self.folder("XDG_CONFIG_HOME", home + "/.config"), program: program)
    }

    /// - Parameters:
    ///   - data: the folder of the user's data.
    ///   - configuration: the folder of the user's configuration.
    ///   - program: the path of `latchkey-secrets`.
    init(data: String, configuration: String, program: String) {
        serviceFile = data + "/dbus-1/services/\(SecretProvider.name).service"
        link = configuration + "/systemd/user/default.target.wants/\(Self.unit)"
        self.program = program
    }

    /// As the XDG base directory specification: a relative path is ignored.
    private static func folder(_ variable: String, _ usual: String) -> String {
        guard let value = Environment.value(variable), value.begins(with: "/") else { return usual }
        return value
    }

    /// Whether the file of the bus is ours.
    var isEnabled: Bool {
        // One that cannot be read is not ours, and so is neither replaced nor removed.
        guard let bytes = try? Files.read(serviceFile, limit: 64 << 10) else { return false }
        return String(validating: bytes.copyBytes(), as: UTF8.self)?.begins(with: Self.mark + "\n") ?? false
    }

    /// Whether there is a file of the bus that we have not written.
    var hasForeignFile: Bool { Files.exists(serviceFile) && !isEnabled }

    private var service: String {
        """
        \(Self.mark)
        [D-BUS Service]
        Name=\(SecretProvider.name)
        Exec=\(program) --serve
        SystemdService=\(Self.unit)

        """
    }

    func enable() throws(Failure) {
        // The bus reads a path without quotes.
        guard
            !program.utf8.contains(where: { [UInt8(ascii: " "), UInt8(ascii: "\n"), UInt8(ascii: "\"")].contains($0) })
        else { throw Failure(.invalidParameter, "The message bus starts no program at \(program).") }
        try makeFolder(of: serviceFile)
        try makeFolder(of: link)
        do throws(SystemError) {
            try Files.replace(serviceFile, with: SecretBytes(service.utf8))
            // As systemctl enable makes it; the name is what counts.
            Files.remove(link)
            guard symlink(unitFile, link) == 0 else { throw SystemError("symlink") }
        } catch {
            throw Failure(error, "\(serviceFile) cannot be written")
        }
    }

    /// - Returns: whether anything was there.
    func disable() -> Bool {
        let wasEnabled = isEnabled || Files.exists(link)
        if isEnabled { Files.remove(serviceFile) }
        Files.remove(link)
        return wasEnabled
    }

    /// The unit of the installation of this program: `PREFIX/lib/systemd/user` beside `PREFIX/libexec`.
    private var unitFile: String {
        Files.folder(of: Files.folder(of: program)) + "/lib/systemd/user/" + Self.unit
    }

    private func makeFolder(of path: String) throws(Failure) {
        for folder in Files.parents(of: path) where mkdir(folder, 0o755) != 0 && errno != EEXIST {
            let code = errno
            guard Files.exists(folder) else {
                throw Failure(SystemError("mkdir", code: code), "\(folder) cannot be made")
            }
        }
    }
}
