// SPDX-License-Identifier: Apache-2.0

package import LatchkeySystem

/// A value of a D-Bus message.
package indirect enum BusValue: Equatable, Sendable {
    case string(String)
    case path(String)
    case boolean(Bool)
    /// An integer of any width; those above `Int64.max` are `other`.
    case integer(Int64)
    /// An array, a structure or a dictionary entry.
    case list([BusValue])
    case variant(BusValue)
    /// A file that an answer contains; those of signals are `other`.
    case file(BusFile)
    /// A value of a type that no caller needs.
    case other

    /// The string or object path; nil for another type.
    package var text: String? {
        switch self {
        case .string(let text), .path(let text): text
        case .boolean, .integer, .list, .variant, .file, .other: nil
        }
    }

    /// The boolean; nil for another type.
    package var flag: Bool? { if case .boolean(let flag) = self { flag } else { nil } }
    /// The integer; nil for another type.
    package var number: Int64? { if case .integer(let number) = self { number } else { nil } }
    /// The values of an array; nil for another type.
    package var values: [BusValue]? { if case .list(let values) = self { values } else { nil } }
    /// The value inside a variant; nil for another type.
    package var content: BusValue? { if case .variant(let value) = self { value } else { nil } }
}

/// A received file, open until its last reference is gone. Two are equal if they are the same object.
package final class BusFile: Equatable, Sendable {
    package let descriptor: Descriptor

    init(_ descriptor: Descriptor) { self.descriptor = descriptor }

    package static func == (left: BusFile, right: BusFile) -> Bool { left === right }
}

/// A method call.
package struct BusCall: Sendable {
    package var destination: String
    package var path: String
    package var interface: String
    package var member: String
    /// Strings, booleans and non-negative integers (as `u`).
    package var arguments: [BusValue]

    package init(
        _ destination: String, _ path: String, _ interface: String, _ member: String, _ arguments: [BusValue] = []
    ) {
        self.destination = destination
        self.path = path
        self.interface = interface
        self.member = member
        self.arguments = arguments
    }
}

/// A received signal.
package struct BusSignal: Sendable {
    /// The unique name of the sender, which the bus has set; empty if there is none.
    package let sender: String
    package let path: String
    package let member: String
    package let arguments: [BusValue]
}

/// Why a call has no answer.
package enum BusError: Error, Equatable, Sendable {
    /// The other program answered with an error.
    case refused(name: String, message: String)
    /// There was no answer before the deadline.
    case timedOut
    /// There is no connection to the bus, or it ended; the value of errno.
    case disconnected(CInt)
    /// The message could not be made or read.
    case malformed

    package var description: String {
        switch self {
        case .refused(let name, let message): "\(name): \(message)"
        case .timedOut: "no answer before the deadline"
        case .disconnected(let code): "no connection to the system's message bus (\(code))"
        case .malformed: "a message that cannot be read"
        }
    }
}
