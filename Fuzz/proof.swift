// SPDX-License-Identifier: Apache-2.0
//
// libFuzzer target of the messages that a relying party receives from a device. `scripts/fuzz 60 proof` runs it.
//

import DeviceProof
import LatchkeyModel
import TPMProtocol

/// Whether a message that is accepted is encoded in the same way again.
private func isCanonical<Message: AttestationMessage>(_ type: Message.Type, _ bytes: [UInt8]) -> Bool {
    guard let message = try? Message(decoding: bytes) else { return true }
    return (try? message.encoded()) == bytes
}

/// The entry point of libFuzzer, called with each input; `fatalError` ends the process, which libFuzzer reports as a
/// finding and stores with its input.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    if !isCanonical(EnrolmentRequest.self, bytes) || !isCanonical(EnrolmentChallenge.self, bytes)
        || !isCanonical(EnrolmentAnswer.self, bytes) || !isCanonical(KeyProof.self, bytes)
    {
        fatalError("a message has two encodings")
    }
    guard let verifier = try? Verifier(roots: []) else { fatalError("a verifier needs no certificate") }
    if (try? verifier.begin(bytes, at: 0)) != nil { fatalError("accepts a device without a pinned certificate") }
    let device = EnrolledDevice(attestationKey: Array(bytes.prefix(94)), kind: .virtual)
    let nonce = [UInt8](repeating: 0, count: 32)
    if (try? verifier.verify(bytes, of: [], nonce: nonce, by: device)) != nil { fatalError("accepts a proof") }
    return 0
}
