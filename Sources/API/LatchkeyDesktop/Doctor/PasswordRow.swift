// SPDX-License-Identifier: Apache-2.0

import LatchkeySystem
import LatchkeyWire

extension DoctorRow {
    /// The service file by which `latchkey-authd` verifies account passwords.
    ///
    /// - Parameters:
    ///   - file: its state; nil if it does not exist.
    ///   - text: its contents; nil if they cannot be read.
    ///   - chain: the folders above the file that exist.
    package static func accountPasswords(
        _ path: String, _ file: PathState?, text: String?, _ chain: [PathState], administrator: UInt32,
        isInstalled: Bool
    ) -> DoctorRow {
        let name = "PAM"
        let mend = Hint(
            "printf 'auth required pam_unix.so nodelay\\naccount required pam_unix.so\\n' > \(ShellWord.quoted(path))",
            needsRoot: true)
        guard let file else {
            guard isInstalled else { return DoctorRow(name, .absent, "\(path) does not exist") }
            return DoctorRow(name, .attention, "\(path) is missing, so no password of an account is verified", mend)
        }
        return serviceFile(name, path, file, text: text, chain, administrator: administrator, mend: mend)
    }

    /// The service file by which `latchkey-authd` asks for faces.
    ///
    /// - Parameter isUsed: whether the configuration allows faces; nil if it cannot be read.
    package static func faces(
        _ path: String, _ file: PathState?, text: String?, _ chain: [PathState], administrator: UInt32, isUsed: Bool?
    ) -> DoctorRow {
        let name = "faces"
        guard let file else {
            guard isUsed == true else { return DoctorRow(name, .absent, "not used; \(path) does not exist") }
            // The modules are those of the camera, which nothing here can choose.
            return DoctorRow(name, .attention, "\(path) is missing, so no face is recognised")
        }
        let row = serviceFile(name, path, file, text: text, chain, administrator: administrator, mend: nil)
        guard row.state == .ok else { return row }
        switch isUsed {
        case true?: return DoctorRow(name, .ok, "\(path); a face answers policies and releases nothing")
        case false?: return DoctorRow(name, .absent, "\(path), not used: the configuration does not say face = policy")
        case nil: return DoctorRow(name, .absent, "\(path), not known whether it is used")
        }
    }

    private static func serviceFile(
        _ name: String, _ path: String, _ file: PathState, text: String?, _ chain: [PathState], administrator: UInt32,
        mend: Hint?
    ) -> DoctorRow {
        let defects = (chain + [file]).compactMap { PathDefect.changeable($0, owners: [administrator]) }
        if let row = defects.row(name, needsRoot: true) { return row }
        guard file.kind == .file, let text else { return DoctorRow(name, .attention, "\(path) cannot be read", mend) }
        if let flaw = PAMServiceFile.flaw(of: text) { return DoctorRow(name, .attention, "\(path): \(flaw)", mend) }
        return DoctorRow(name, .ok, "\(path)")
    }

    package static func accountPasswords(_ places: MachinePlaces, isInstalled: Bool) -> DoctorRow {
        let path = places.passwordService
        let bytes = try? Files.read(path, limit: PAMServiceFile.byteLimit)  // An unreadable file has a row.
        return accountPasswords(
            path, PathState(path), text: bytes?.withBytes { String(decoding: $0, as: UTF8.self) },
            places.chain(to: path).dropLast().compactMap { PathState($0) }, administrator: places.administrator,
            isInstalled: isInstalled)
    }
    /// Reads the service file of faces, and the line of the configuration that allows them.
    package static func faces(_ places: MachinePlaces) -> DoctorRow {
        let path = places.faceService
        let bytes = try? Files.read(path, limit: PAMServiceFile.byteLimit)  // An unreadable file has a row.
        return faces(
            path, PathState(path), text: bytes?.withBytes { String(decoding: $0, as: UTF8.self) },
            places.chain(to: path).dropLast().compactMap { PathState($0) }, administrator: places.administrator,
            isUsed: usesFaces(places.configuration))
    }

    /// Whether the configuration allows faces; nil if it cannot be read.
    private static func usesFaces(_ path: String) -> Bool? {
        guard Files.exists(path) else { return false }
        // An unreadable configuration has a row.
        guard let bytes = try? Files.read(path, limit: PAMServiceFile.byteLimit) else { return nil }
        return ConfigurationLine.lines(bytes.copyBytes()).contains { $0.name == "face" && $0.value == "policy" }
    }
}
