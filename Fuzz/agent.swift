// SPDX-License-Identifier: Apache-2.0
//
// libFuzzer target of the decoder of an agent's frames; `scripts/fuzz 60 agent` runs it. The tests of LatchkeyWire
// check the same property for every single-bit change of the golden vectors.
//

import LatchkeyModel
import LatchkeyPrompts

/// The entry point of libFuzzer, called with each input; aborts the process when the property is violated.
///
/// Every rejection is correct. An accepted frame must be the only encoding of its contents, except that it may be
/// longer by optional keys, which the decoder skips.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let payload = SecretBytes(UnsafeBufferPointer(start: start, count: count))
    guard let frame = try? AgentFrame(decoding: payload) else { return 0 }
    let encoded = frame.encoded()
    if encoded != payload, encoded.count >= payload.count { fatalError("accepts two encodings of one frame") }
    if (try? AgentFrame(decoding: encoded)) != frame { fatalError("rejects its own output") }
    return 0
}
