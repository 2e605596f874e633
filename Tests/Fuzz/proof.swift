// SPDX-License-Identifier: Apache-2.0
//
// libFuzzer target of the messages that a relying party receives from a device. `scripts/fuzz 60 proof` runs it.

import DeviceProof
import LatchkeyModel
import TPMProtocol

/// Whether a message that is accepted is encoded in the same way again.
private func isCanonical<Message: AttestationMessage>(_ type: Message.Type, _ bytes: [UInt8]) -> Bool {
    guard let message = try? Message(decoding: bytes) else { return true }
    return (try? message.encoded()) == bytes
}

/// Reads one input and describes how it violates the property; nil when it does not.
func complaint(aboutProof bytes: [UInt8]) -> String? {
    if !isCanonical(EnrolmentRequest.self, bytes) || !isCanonical(EnrolmentChallenge.self, bytes)
        || !isCanonical(EnrolmentAnswer.self, bytes) || !isCanonical(KeyProof.self, bytes)
    {
        return "a message has two encodings"
    }
    guard let verifier = try? Verifier(roots: []) else { return "a verifier needs no certificate" }
    if (try? verifier.begin(bytes, at: 0)) != nil { return "accepts a device without a pinned certificate" }
    let device = EnrolledDevice(attestationKey: Array(bytes.prefix(94)), kind: .virtual)
    let nonce = [UInt8](repeating: 0, count: 32)
    if (try? verifier.verify(bytes, of: [], nonce: nonce, by: device)) != nil { return "accepts a proof" }
    return nil
}
