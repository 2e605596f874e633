// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
package import LatchkeyWire

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

    /// The message encoded as CBOR.
    package func encoded() -> SecretBytes {
        var writer = CBORWriter()
        writer.array(2)
        switch self {
        case .begin(let account, let service):
            writer.unsigned(1)
            writer.array(2)
            writer.text(account.text)
            writer.unsigned(UInt64(service.rawValue))
        case .answer(let answer):
            writer.unsigned(2)
            writer.bytes(answer)
        case .said(let style, let text):
            writer.unsigned(3)
            writer.array(2)
            writer.unsigned(UInt64(style.rawValue))
            writer.text(text)
        case .ended(let phase, let code):
            writer.unsigned(4)
            writer.array(2)
            writer.unsigned(UInt64(phase.rawValue))
            writer.unsigned(code)
        }
        return writer.finish()
    }

    /// Decodes a payload; throws unless it is exactly one canonical message.
    package init(decoding payload: SecretBytes) throws(WireError) {
        self = try payload.withBytes { (bytes) throws(WireError) -> PAMMessage in
            var reader = CBORReader(bytes)
            let message = try reader.tuple(2) { (reader) throws(WireError) -> PAMMessage in
                switch try reader.unsigned() {
                case 1:
                    return try reader.tuple(2) { (reader) throws(WireError) -> PAMMessage in
                        guard let account = AccountName(try reader.text(limit: AccountName.bytes)) else {
                            throw .invalidValue
                        }
                        return .begin(account, try reader.number())
                    }
                case 2: return .answer(try reader.secret(limit: Self.answerBytes))
                case 3:
                    return try reader.tuple(2) { (reader) throws(WireError) -> PAMMessage in
                        let style: Style = try reader.number()
                        return .said(style, try reader.text(limit: Self.textBytes))
                    }
                case 4:
                    return try reader.tuple(2) { (reader) throws(WireError) -> PAMMessage in
                        let phase: Phase = try reader.number()
                        return .ended(phase, code: try reader.unsigned())
                    }
                default: throw .unknownMessage
                }
            }
            try reader.finish()
            return message
        }
    }
}
