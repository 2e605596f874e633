// SPDX-License-Identifier: Apache-2.0
//
// libFuzzer target of the messages between `latchkeyd` of tier `user` and the process of its sensors; `scripts/fuzz 60
// sensor` runs it. The tests of SensorDriver check the same property for the corpus.

import LatchkeyModel
import LatchkeySeams
import LatchkeyWire

/// Reads one message and describes how it violates the property; nil when it does not: a message that is accepted has one
/// encoding, and none is longer than a frame may be.
func complaint(aboutSensor bytes: [UInt8]) -> String? {
    guard let message = try? SensorMessage(decoding: SecretBytes(bytes)) else { return nil }
    if message.encoded().copyBytes() != bytes { return "accepts a message in another encoding" }
    return bytes.count > SensorMessage.bytes ? "accepts a message that is longer than a frame" : nil
}
