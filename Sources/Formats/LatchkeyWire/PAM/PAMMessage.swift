// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel

/// A message between `latchkey-authd` and `latchkey-pam`, which runs libpam for one verification: `[kind, contents]` in
/// a frame of at most `PAMMessage.bytes`.
///
/// The process has modules of the system in its memory, so it only passes on what they say; `latchkey-authd` decides.
package enum PAMMessage: Equatable, Sendable {
    /// To the process: authenticate this account by a service. The first message, sent once.
    case begin(AccountName, PAMService)
    /// To the process: the answer to the question that it sent last.
    case answer(SecretBytes)
    /// From the process: a module asks or says something.
    case said(Style, String)
    /// From the process: the end, with a return value of libpam.
    case ended(Phase, code: UInt64)

    /// The kind of what a module says (pam_conv(3)).
    package enum Style: UInt8, CaseIterable, Sendable {
        /// A question whose answer is not shown: PAM_PROMPT_ECHO_OFF.
        case hiddenQuestion = 1
        /// A question whose answer is shown: PAM_PROMPT_ECHO_ON.
        case shownQuestion = 2
        /// PAM_TEXT_INFO.
        case information = 3
        /// PAM_ERROR_MSG.
        case error = 4
        /// A style that this version does not know.
        case other = 5
    }

    /// The call of libpam that returned the value.
    package enum Phase: UInt8, CaseIterable, Sendable {
        /// pam_start(3).
        case start = 1
        /// pam_authenticate(3).
        case authentication = 2
        /// pam_acct_mgmt(3), after the password was accepted.
        case account = 3
    }

    /// Maximum bytes of a message.
    package static let bytes = 1024
    /// Maximum bytes of a text in UTF-8; longer ones are cut by the process (PAM_MAX_MSG_SIZE).
    package static let textBytes = 512
    /// Maximum bytes of an answer: PAM_MAX_RESP_SIZE without the terminating zero.
    package static let answerBytes = 511
}

// MARK: - Encoding and decoding

extension PAMMessage {
    package func encoded() -> SecretBytes {
        var writer = CBORWriter()
        switch self {
        case .begin(let account, let service): writer.message(1, Begin(account: account, service: service))
        case .answer(let answer): writer.message(2, answer, .answer)
        case .said(let style, let text): writer.message(3, Said(style: style, text: text))
        case .ended(let phase, let code): writer.message(4, Ended(phase: phase, code: code))
        }
        return writer.finish()
    }

    /// Decodes a payload; throws unless it is exactly one canonical message.
    package init(decoding payload: SecretBytes) throws(WireError) {
        self = try CBORReader.message(of: payload) { (reader, kind) throws(WireError) -> PAMMessage in
            switch kind {
            case 1:
                let begin = try Begin(from: &reader)
                return .begin(begin.account, begin.service)
            case 2: return .answer(try reader.value(.answer))
            case 3:
                let said = try Said(from: &reader)
                return .said(said.style, said.text)
            case 4:
                let ended = try Ended(from: &reader)
                return .ended(ended.phase, code: ended.code)
            default: throw .unknownMessage
            }
        }
    }
}

private struct Begin: WireTuple {
    var account: AccountName
    var service: PAMService

    package static func fields<Pass: FieldPass<Self> & ~Copyable>(_ tuple: inout Pass) throws(Pass.Failure) -> Self {
        Self(account: try tuple.field(0, \.account, AccountShape()), service: try tuple.field(1, \.service, .number()))
    }
}

private struct Said: WireTuple {
    var style: PAMMessage.Style
    var text: String

    package static func fields<Pass: FieldPass<Self> & ~Copyable>(_ tuple: inout Pass) throws(Pass.Failure) -> Self {
        Self(
            style: try tuple.field(0, \.style, .number()),
            text: try tuple.field(1, \.text, .text(limit: PAMMessage.textBytes)))
    }
}

private struct Ended: WireTuple {
    var phase: PAMMessage.Phase
    var code: UInt64

    package static func fields<Pass: FieldPass<Self> & ~Copyable>(_ tuple: inout Pass) throws(Pass.Failure) -> Self {
        Self(phase: try tuple.field(0, \.phase, .number()), code: try tuple.field(1, \.code, .unsigned))
    }
}

private struct AccountShape: WireShape {
    func write(_ value: AccountName, to writer: inout CBORWriter) { writer.text(value.text) }

    func read(from reader: inout CBORReader) throws(WireError) -> AccountName {
        guard let account = AccountName(try reader.text(limit: AccountName.bytes)) else { throw .invalidValue }
        return account
    }
}

extension WireShape where Self == SecretShape {
    fileprivate static var answer: Self { .secret(limit: PAMMessage.answerBytes) }
}

/// The return values of libpam that have a meaning here, with the numbers of Linux-PAM (`_pam_types.h`); every other one
/// is a failure. A test of the package System compares them with the header.
package enum PAMReturnValue: UInt64, CaseIterable, Sendable {
    case success = 0
    case permissionDenied = 6
    case authenticationError = 7
    case informationUnavailable = 9
    case userUnknown = 10
    case triesExceeded = 11
    case newPasswordRequired = 12
    case accountExpired = 13
    case passwordExpired = 27
}
