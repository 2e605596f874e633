// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
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
    /// An array of bytes, which may be a secret.
    case bytes(SecretBytes)
    /// A value with its signature.
    case variant(String, BusValue)
    /// A file that an answer contains; those of signals are `other`.
    case file(BusFile)
    /// A value of a type that no caller needs.
    case other

    /// The string or object path; nil for another type.
    package var text: String? {
        switch self {
        case .string(let text), .path(let text): text
        case .boolean, .integer, .list, .bytes, .variant, .file, .other: nil
        }
    }

    /// The boolean; nil for another type.
    package var flag: Bool? { if case .boolean(let flag) = self { flag } else { nil } }
    /// The integer; nil for another type.
    package var number: Int64? { if case .integer(let number) = self { number } else { nil } }
    /// The values of an array; nil for another type.
    package var values: [BusValue]? { if case .list(let values) = self { values } else { nil } }
    /// The value inside a variant; nil for another type.
    package var content: BusValue? { if case .variant(_, let value) = self { value } else { nil } }
    /// The bytes of an array of bytes; nil for another type.
    package var octets: SecretBytes? { if case .bytes(let bytes) = self { bytes } else { nil } }
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
    package var arguments: [BusValue]
    /// The signature of the arguments; nil if they are strings, booleans and non-negative integers (as `u`) only.
    package var signature: String?

    package init(
        _ destination: String, _ path: String, _ interface: String, _ member: String, _ arguments: [BusValue] = [],
        signature: String? = nil
    ) {
        self.destination = destination
        self.path = path
        self.interface = interface
        self.member = member
        self.arguments = arguments
        self.signature = signature
    }
}

/// A call that another program has made of this one.
package struct BusRequest: Sendable {
    /// The unique name of the caller, which the bus has set.
    package let sender: String
    package let path: String
    /// Nil if the caller gave none, which the protocol allows.
    package let interface: String?
    package let member: String
    /// The signature of all arguments.
    package let signature: String
    /// Nil if there are too many or they cannot be read.
    package let arguments: [BusValue]?
}

/// A signal to send.
package struct BusEvent: Equatable, Sendable {
    package var path: String
    package var interface: String
    package var member: String
    package var signature: String
    package var arguments: [BusValue]
    /// The only receiver; nil for all programs.
    package var destination: String?

    package init(
        _ path: String, _ interface: String, _ member: String, _ signature: String, _ arguments: [BusValue],
        to destination: String? = nil
    ) {
        self.path = path
        self.interface = interface
        self.member = member
        self.signature = signature
        self.arguments = arguments
        self.destination = destination
    }
}

/// An answer to a call.
package enum BusAnswer: Sendable {
    case values([BusValue], signature: String)
    /// An error with its name, such as `org.freedesktop.DBus.Error.InvalidArgs`, and a text for people.
    case error(name: String, message: String)
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
        case .disconnected(let code): "no connection to the message bus (\(code))"
        case .malformed: "a message that cannot be read"
        }
    }
}
