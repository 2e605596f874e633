// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySystem

/// What `latchkey-authd` reads from the configuration of the services. latchkeyd could name something weaker, so its word
/// is not taken for it; it reads the other lines, and refuses unknown ones.
struct AuthorityConfiguration {
    /// The tier; without the file latchkeyd does not start, and no tier but `file` can be meant.
    private(set) var tier = Tier.file
    /// What a first passcode is, where the account has a password; nil for the default of the tier.
    private(set) var firstPasscode: PasscodeKind?
    /// Whether a face that PAM recognises answers policies.
    private(set) var usesFace = false
    /// Whether a reader may be used that is a program.
    private(set) var allowsVirtualHardware = false
    /// The password of the owner hierarchy of the TPM; nil for the empty one, and in tier `file`.
    private(set) var ownerPassword: SecretBytes?

    /// - Parameter group: the group of latchkeyd, which may read the file of the owner's password too.
    /// - Throws: `peerNotTrusted` if others than root can change the file, `invalidParameter` if it names no tier of the
    ///   services, or does not say clearly whether faces are used, what a passcode is or whether virtual hardware is allowed;
    ///   the errors of `OwnerPasswordFile.read`.
    init(_ path: String, group: UInt32) throws(Failure) {
        guard let file = try ConfigurationFile(ofRoot: path) else { return }
        switch file.lines.filter({ $0.name == "tier" }).map(\.value) {
        case ["file"]: tier = .file
        case ["tpm"]: tier = .tpm
        default:
            throw Failure(
                .invalidParameter, "\(path) does not name one tier of the services.",
                hint: "It needs one line: tier = file, or tier = tpm")
        }
        switch file.lines.filter({ $0.name == "face" }).map(\.value) {
        case [], ["off"]: usesFace = false
        case ["policy"]: usesFace = true
        default:
            throw Failure(
                .invalidParameter, "\(path) does not say whether a face may answer policies.",
                hint: "Known: face = off, face = policy")
        }
        switch file.lines.filter({ $0.name == "passcode" }).map(\.value) {
        case []: firstPasscode = nil
        case ["account"]: firstPasscode = .account
        case ["own"]: firstPasscode = .own
        default:
            throw Failure(
                .invalidParameter, "\(path) does not say what a passcode is.",
                hint: "Known: passcode = account, passcode = own")
        }
        // The last line counts, as in latchkeyd.
        if let line = file.lines.last(where: { $0.name == HardwareConfiguration.name }) {
            guard let isAllowed = HardwareConfiguration.allowsVirtual(line) else {
                throw file.refusal(line, known: HardwareConfiguration.known)
            }
            allowsVirtualHardware = isAllowed
        }
        guard tier == .tpm, let line = file.lines.last(where: { $0.name == "owner_auth_file" }) else { return }
        ownerPassword = try OwnerPasswordFile.read(line.value, group: group)
    }
}
