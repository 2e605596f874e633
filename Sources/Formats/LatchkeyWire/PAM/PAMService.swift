// SPDX-License-Identifier: Apache-2.0

/// A service of PAM that Latchkey uses; each has a file of its own (pam.d(5)).
package enum PAMService: UInt8, CaseIterable, Sendable {
    case password = 1
    /// Recognises the face of an account's user, without asking anything.
    case face = 2

    /// The name, by which libpam finds the file.
    package var name: String {
        switch self {
        case .password: "latchkey"
        case .face: "latchkey-face"
        }
    }

    /// The file of an installed system.
    package var path: String { "/etc/pam.d/" + name }
}
