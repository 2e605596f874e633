// SPDX-License-Identifier: Apache-2.0
//
// libFuzzer target of the decoder of an agent's frames; `scripts/fuzz 60 agent` runs it. The tests of LatchkeyWire
// check the same property for every single-bit change of the golden vectors.

import LatchkeyModel
import LatchkeyPrompts

/// Reads one input and describes how it violates the property; nil when it does not.
///
/// Every rejection is correct. An accepted frame must be the only encoding of its contents, except that it may be
/// longer by optional keys, which the decoder skips.
func complaint(aboutAgent bytes: [UInt8]) -> String? {
    let payload = SecretBytes(bytes)
    guard let frame = try? AgentFrame(decoding: payload) else { return nil }
    let encoded = frame.encoded()
    if encoded != payload, encoded.count >= payload.count { return "accepts two encodings of one frame" }
    if (try? AgentFrame(decoding: encoded)) != frame { return "rejects its own output" }
    return nil
}
