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
        // A message may have a name of an item or a group, which must not begin a line of its own.
        let advice = hint.isEmpty ? "" : localized("hint:") + " \(localized.translation(of: hint).withoutControls)\n"
        if isColoured { Output.control(.boldRed) }
        Output.writeError(error)
        if isColoured { Output.control(.plain) }
        Output.writeError(" " + localized.translation(of: message).withoutControls + "\n" + advice)
    }
}

/// A sequence that controls a terminal; only this command's own ones exist.
struct TerminalSequence {
    fileprivate let bytes: [UInt8]

    private init(_ text: String) { bytes = Array(text.utf8) }

    /// Moves the cursor to the beginning of the line.
    static let start = TerminalSequence("\r")
    /// Clears the line and moves the cursor to its beginning.
    static let clearLine = TerminalSequence("\r\u{1b}[K")
    static let plain = TerminalSequence("\u{1b}[0m")
    static let dim = TerminalSequence("\u{1b}[2m")
    static let boldRed = TerminalSequence("\u{1b}[1;31m")
    static let green = TerminalSequence("\u{1b}[32m")
}

/// Writes to the two standard streams, completely and without a buffer that would hold a secret.
///
/// Every text of the command goes through `write` or `writeError`. They replace the characters that control a terminal or
/// turn text, so that a name of an app does neither, wherever it is shown. Names in sentences are without line feeds
/// before (`withoutControls`).
enum Output {
    static func write(_ text: String) { write(Array(text.linesWithoutControls.utf8), to: STDOUT_FILENO) }
    static func writeError(_ text: String) { write(Array(text.linesWithoutControls.utf8), to: STDERR_FILENO) }

    static func control(_ sequence: TerminalSequence, to descriptor: CInt = STDERR_FILENO) {
        write(sequence.bytes, to: descriptor)
    }

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
