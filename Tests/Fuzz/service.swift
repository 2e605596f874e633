// SPDX-License-Identifier: Apache-2.0
//
// libFuzzer target of the decoder of the messages between latchkeyd and latchkey-authd; `scripts/fuzz 60 service` runs
// it.

import LatchkeyModel
import LatchkeyWire

/// Reads one input and describes how it violates the property; nil when it does not.
///
/// Every rejection is correct. An accepted message must be the only encoding of its contents, except that it may be
/// longer by optional keys, which the decoder skips.
func complaint(aboutService bytes: [UInt8]) -> String? {
    let payload = SecretBytes(bytes)
    guard let message = try? ServiceMessage(decoding: payload) else { return nil }
    let encoded = message.encoded()
    if encoded != payload, encoded.count >= payload.count { return "accepts two encodings of one message" }
    if (try? ServiceMessage(decoding: encoded)) != message { return "rejects its own output" }
    return nil
}
