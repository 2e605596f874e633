// SPDX-License-Identifier: Apache-2.0
//
// libFuzzer target of the decoder of an agent's frames; `scripts/fuzz 60 agent` runs it. The tests of LatchkeyWire hold
// the same property against every changed bit of the golden vectors.
//

import LatchkeyAgentProtocol
import LatchkeyModel

/// What libFuzzer calls with each input; a broken property ends the process.
///
/// Refusing is always right here. What is accepted has to be the one encoding of what it says, but for optional keys, which
/// are skipped: only they make a frame longer.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let payload = SecretBytes(UnsafeBufferPointer(start: start, count: count))
    guard let frame = try? AgentFrame(decoding: payload) else { return 0 }
    let encoded = frame.encoded()
    if encoded != payload, encoded.count >= payload.count { fatalError("accepted two encodings of one frame") }
    if (try? AgentFrame(decoding: encoded)) != frame { fatalError("wrote what it does not read") }
    return 0
}
