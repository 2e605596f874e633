// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyModel
import LatchkeySystem

/// Why a command failed: wrong usage (message, hint), or a failure of the work.
enum CommandFailure: Error {
    case usage(String, String)
    case failure(Failure)

    /// Exit codes of sysexits(3), so that scripts can distinguish the cases.
    var exitCode: CInt {
        switch self {
        case .usage: 64
        case .failure(let failure):
            switch failure.status {
            case .itemNotFound: 66
            case .daemonUnavailable, .noHome, .peerNotTrusted, .timedOut: 69
            case .duplicateItem: 73
            case .authenticationFailed, .itemAuthenticationFailed, .userCancel, .userFallback, .systemCancel,
                .passcodeNotSet, .biometryNotAvailable, .biometryNotEnrolled, .biometryLockout, .appCancel,
                .notInteractive, .interactionNotAllowed, .passcodeDelayed, .missingEntitlement, .notPermitted:
                77
            default: 1
            }
        }
    }

    /// Writes on standard error what happened and what to do.
    func report() {
        let (message, hint): (String, String) =
            switch self {
            case .usage(let message, let hint): (message, hint)
            case .failure(let failure):
                (failure.message.isEmpty ? "\(failure.status)" : failure.message, failure.hint)
            }
        let isColoured = isatty(STDERR_FILENO) == 1 && Environment.value("NO_COLOR") == nil
        let error = localized("error:")
        let head = isColoured ? "\u{1b}[1;31m\(error)\u{1b}[0m " : error + " "
        let advice = hint.isEmpty ? "" : localized("hint:") + " \(localized.translation(of: hint))\n"
        Output.writeError(head + localized.translation(of: message) + "\n" + advice)
    }
}

/// Writes to the two standard streams, completely and without a buffer that would hold a secret.
enum Output {
    static func write(_ text: String) { write(Array(text.utf8), to: STDOUT_FILENO) }
    static func writeError(_ text: String) { write(Array(text.utf8), to: STDERR_FILENO) }

    private static func write(_ bytes: [UInt8], to descriptor: CInt) {
        bytes.withUnsafeBytes { write($0, to: descriptor) }
    }

    static func writeError(_ secret: SecretBytes) { secret.withBytes { write($0, to: STDERR_FILENO) } }

    static func write(_ secret: SecretBytes) { secret.withBytes { write($0, to: STDOUT_FILENO) } }

    private static func write(_ bytes: UnsafeRawBufferPointer, to descriptor: CInt) {
        var rest = bytes
        while !rest.isEmpty {
            let count = Glibc.write(descriptor, rest.baseAddress, rest.count)
            if count < 0 {
                if errno == EINTR { continue }
                exit(errno == EPIPE ? 0 : 74)
            }
            rest = UnsafeRawBufferPointer(rebasing: rest[count...])
        }
    }
}
