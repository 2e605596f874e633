// SPDX-License-Identifier: Apache-2.0

import LatchkeySystem
import PAMProtocol

extension DoctorRow {
    /// The service file by which `latchkey-authd` verifies passwords of accounts.
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
        let defects = (chain + [file]).compactMap { PathDefect.changeable($0, owners: [administrator]) }
        if let row = defects.row(name, needsRoot: true) { return row }
        guard file.kind == .file, let text else {
            return DoctorRow(name, .attention, "\(path) cannot be read", mend)
        }
        if let flaw = PAMServiceFile.flaw(of: text) { return DoctorRow(name, .attention, "\(path): \(flaw)", mend) }
        return DoctorRow(name, .ok, path)
    }

    /// Reads the service file.
    package static func accountPasswords(_ places: MachinePlaces, isInstalled: Bool) -> DoctorRow {
        let path = places.passwordService
        let bytes = try? Files.read(path, limit: PAMServiceFile.byteLimit)  // An unreadable file has a row.
        return accountPasswords(
            path, PathState(path), text: bytes?.withBytes { String(decoding: $0, as: UTF8.self) },
            places.chain(to: path).dropLast().compactMap { PathState($0) }, administrator: places.administrator,
            isInstalled: isInstalled)
    }
}
