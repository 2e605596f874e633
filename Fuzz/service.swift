// SPDX-License-Identifier: Apache-2.0
//
// libFuzzer target of the decoder of the messages between latchkeyd and latchkey-authd; `scripts/fuzz 60 service` runs
// it.
//

import LatchkeyModel
import LatchkeyWire

/// The entry point of libFuzzer, called with each input; aborts the process when the property is violated.
///
/// Every rejection is correct. An accepted message must be the only encoding of its contents, except that it may be
/// longer by optional keys, which the decoder skips.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let payload = SecretBytes(UnsafeBufferPointer(start: start, count: count))
    guard let message = try? ServiceMessage(decoding: payload) else { return 0 }
    let encoded = message.encoded()
    if encoded != payload, encoded.count >= payload.count { fatalError("accepts two encodings of one message") }
    if (try? ServiceMessage(decoding: encoded)) != message { fatalError("rejects its own output") }
    return 0
}
