// SPDX-License-Identifier: Apache-2.0
//
// libFuzzer target of what `latchkey-authd` reads from the process that runs PAM, and of the PAM service file;
// `scripts/fuzz 60 pam` runs it. The tests of PAMDriver check the same property for the corpus and for their own
// inputs.

import LatchkeyModel
import LatchkeySeams
import LatchkeyWire

@testable import ChildProcessDrivers

/// Reads one input and describes how it violates the property; nil when it does not.
///
/// The first byte selects what is read. A message that is accepted has one encoding. A conversation answers once, shows
/// a limited number of texts, and finds a password right only after it was asked for and the account accepted.
func complaint(aboutPAM payload: [UInt8]) -> String? {
    guard let first = payload.first else { return nil }
    let bytes = Array(payload.dropFirst())
    guard first % 2 == 0 else {
        let text = String(decoding: bytes, as: UTF8.self)
        // A file without these types leaves the decision to another one.
        let accepts = PAMServiceFile.flaw(of: text) == nil
        return accepts && !(text.lowercased().contains("auth") && text.lowercased().contains("account"))
            ? "accepts an incomplete service file" : nil
    }
    return complaint(aboutMessages: bytes)
}

/// Reads messages, each after a byte with its length.
private func complaint(aboutMessages bytes: [UInt8]) -> String? {
    var rest = bytes[...]
    var conversation = PAMConversation()
    var (answers, texts) = (0, 0)
    while let count = rest.popFirst() {
        let piece = Array(rest.prefix(Int(count)))
        rest = rest.dropFirst(Int(count))
        guard let message = try? PAMMessage(decoding: SecretBytes(piece)) else { return nil }
        if message.encoded().copyBytes() != piece { return "accepts a message in another encoding" }
        switch conversation.received(message) {
        case .answer: answers += 1
        case .show: texts += 1
        case .end(.right):
            guard answers == 1, case .ended(.account, _) = message else { return "finds an unverified password right" }
            return nil
        case .end: return nil
        }
        if answers > 1 || texts > PAMConversation.messages { return "answers or shows too much" }
    }
    return nil
}
