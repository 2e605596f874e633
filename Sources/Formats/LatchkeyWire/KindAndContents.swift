// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel

// Messages of the form `[kind, contents]`: those of prompts, of PAM and of the sensors of tier `user`. The number of a kind
// stands at the case of the message, and the form of the contents in a field list (`WireTuple`) or a shape.

extension CBORWriter {
    /// Writes `[kind, contents]`.
    package mutating func message<Shape: WireShape>(_ kind: UInt64, _ contents: Shape.Value, _ shape: Shape) {
        array(2)
        unsigned(kind)
        shape.write(contents, to: &self)
    }

    /// Writes `[kind, contents]`, where the contents are an array.
    package mutating func message(_ kind: UInt64, _ contents: some WireTuple) {
        array(2)
        unsigned(kind)
        contents.write(to: &self)
    }

    /// Writes `[kind, {}]`.
    package mutating func message(_ kind: UInt64) {
        array(2)
        unsigned(kind)
        map(0)
    }
}

extension CBORReader {
    /// Reads `[kind, contents]`; `contents` reads the contents of a kind, or throws if it is unknown.
    package mutating func message<Message>(
        _ contents: (inout CBORReader, _ kind: UInt64) throws(WireError) -> Message
    ) throws(WireError) -> Message {
        try tuple(2) { (reader) throws(WireError) in try contents(&reader, try reader.unsigned()) }
    }

    /// Decodes a payload, which must be exactly one canonical message `[kind, contents]`.
    package static func message<Message>(
        of payload: SecretBytes, _ contents: (inout CBORReader, _ kind: UInt64) throws(WireError) -> Message
    ) throws(WireError) -> Message {
        try payload.withBytes { (bytes) throws(WireError) -> Message in
            var reader = CBORReader(bytes)
            let message = try reader.message(contents)
            try reader.finish()
            return message
        }
    }
}
