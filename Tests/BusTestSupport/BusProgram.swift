// SPDX-License-Identifier: Apache-2.0

import CSystemd
import Foundation
package import LatchkeySystem
import Synchronization
import Testing

/// A program on a bus, played by the test: it owns a name, answers calls as the test says, and sends signals.
package final class BusProgram: @unchecked Sendable {
    // Sendable: `bus` is used on the program's thread only, the rest has locks.

    package indirect enum Value: Sendable {
        case path(String)
        case string(String)
        case flag(Bool)
        case number(UInt32)
        case paths([String])
        case strings([String])
        /// `a{sv}` without entries.
        case noProperties
        /// polkit's answer: whether the action is allowed.
        case authorization(Bool)
        case structure([Value])
        /// An array of structures of five texts and numbers, as logind's sessions.
        case sessions([[Value]])
        /// `a{sv}`.
        case properties([(String, Value)])
        case variant(Value)
        /// A file, which is copied into the message, and open until then.
        case file(Descriptor)
    }

    package enum Reply: Sendable {
        case values([Value])
        case error(String)
        /// The call is never answered.
        case none
    }

    package struct Call: Sendable {
        package let path: String
        package let interface: String
        package let member: String
        package let text: String
        package let sender: String
    }

    private let bus: OpaquePointer
    private let answer: @Sendable (Call) -> Reply
    private let jobs = Mutex<[@Sendable (OpaquePointer) -> Void]>([])
    private let earlier = Mutex<[String: @Sendable (OpaquePointer) -> Void]>([:])
    private let hasEnded = DispatchSemaphore(value: 0)
    private let isEnding = Mutex(false)
    private let calls = Mutex<[Call]>([])

    /// The calls that were received.
    package var received: [Call] { calls.withLock { $0 } }
    /// The unique name of the connection.
    package let uniqueName: String

    package init(_ private: PrivateBus, name: String?, answer: @escaping @Sendable (Call) -> Reply) throws {
        var made: OpaquePointer?
        sd_bus_new(&made)
        guard let made else { throw CocoaError(.fileReadUnknown) }
        sd_bus_set_address(made, `private`.address)
        sd_bus_set_bus_client(made, 1)
        guard sd_bus_start(made) >= 0 else { throw CocoaError(.fileReadUnknown) }
        bus = made
        self.answer = answer
        var unique: UnsafePointer<CChar>?
        guard sd_bus_get_unique_name(made, &unique) >= 0, let unique else { throw CocoaError(.fileReadUnknown) }
        uniqueName = String(cString: unique)
        sd_bus_add_filter(
            made, nil,
            { message, context, _ in
                guard let message, let context else { return 0 }
                return Unmanaged<BusProgram>.fromOpaque(context).takeUnretainedValue().received(message)
            }, Unmanaged.passUnretained(self).toOpaque())
        if let name, sd_bus_request_name(made, name, 0) < 0 { throw CocoaError(.fileReadUnknown) }
        Processes.detachThread { [self] in
            while !isEnding.withLock({ $0 }) {
                runJobs()
                while sd_bus_process(bus, nil) > 0 {}
                sd_bus_wait(bus, 10_000)
            }
            // What was sent before the end is sent.
            runJobs()
            sd_bus_flush(bus)
            sd_bus_close_unref(bus)
            hasEnded.signal()
        }
    }

    private func runJobs() {
        for job in jobs.withLock({ jobs in
            defer { jobs = [] }
            return jobs
        }) { job(bus) }
    }

    /// Leaves the bus.
    package func end() {
        let isFirst = isEnding.withLock { isEnding in
            defer { isEnding = true }
            return !isEnding
        }
        if isFirst, hasEnded.wait(timeout: .now() + 10) != .success { Issue.record("the program is still on the bus") }
    }

    /// Sends a signal, to all programs or to one.
    package func signal(
        _ path: String, _ interface: String, _ member: String, _ values: [Value], to destination: String? = nil
    ) {
        jobs.withLock { $0.append { Self.send($0, path, interface, member, values, to: destination) } }
    }

    /// Sends signals before the answer to a call.
    package func signalBefore(_ member: String, _ path: String, _ interface: String, _ signals: [(String, [Value])]) {
        earlier.withLock { earlier in
            earlier[member] = { bus in
                for (member, values) in signals { Self.send(bus, path, interface, member, values, to: nil) }
            }
        }
    }

    private static func send(
        _ bus: OpaquePointer, _ path: String, _ interface: String, _ member: String, _ values: [Value],
        to destination: String?
    ) {
        var made: OpaquePointer?
        sd_bus_message_new_signal(bus, &made, path, interface, member)
        guard let made else { return }
        if let destination { sd_bus_message_set_destination(made, destination) }
        append(values, to: made)
        sd_bus_send(bus, made, nil)
        sd_bus_message_unref(made)
    }

    private func received(_ message: OpaquePointer) -> CInt {
        guard sd_bus_message_is_method_call(message, nil, nil) > 0 else { return 0 }
        // polkit's action follows the subject.
        sd_bus_message_skip(message, "(sa{sv})")
        var text: UnsafePointer<CChar>?
        if sd_bus_message_read_basic(message, CChar(bitPattern: UInt8(ascii: "s")), &text) <= 0 { text = nil }
        func string(_ text: UnsafePointer<CChar>?) -> String { text.map { String(cString: $0) } ?? "" }
        let call = Call(
            path: string(sd_bus_message_get_path(message)), interface: string(sd_bus_message_get_interface(message)),
            member: string(sd_bus_message_get_member(message)), text: string(text),
            sender: string(sd_bus_message_get_sender(message)))
        calls.withLock { $0.append(call) }
        earlier.withLock { $0[call.member] }?(bus)
        var reply: OpaquePointer?
        switch answer(call) {
        case .none: return 1
        case .error(let name):
            var error = sd_bus_error(name: strdup(name), message: strdup("a test"), _need_free: 1)
            sd_bus_message_new_method_error(message, &reply, &error)
            sd_bus_error_free(&error)
        case .values(let values):
            sd_bus_message_new_method_return(message, &reply)
            if let reply { Self.append(values, to: reply) }
        }
        sd_bus_send(bus, reply, nil)
        sd_bus_message_unref(reply)
        return 1
    }

    private static func append(_ values: [Value], to message: OpaquePointer) {
        func letter(_ text: Unicode.Scalar) -> CChar { CChar(text.value) }
        for value in values {
            switch value {
            case .path(let text): sd_bus_message_append_basic(message, letter("o"), text)
            case .string(let text): sd_bus_message_append_basic(message, letter("s"), text)
            case .flag(let flag):
                var number: CInt = flag ? 1 : 0
                sd_bus_message_append_basic(message, letter("b"), &number)
            case .number(var number): sd_bus_message_append_basic(message, letter("u"), &number)
            case .noProperties:
                sd_bus_message_open_container(message, letter("a"), "{sv}")
                sd_bus_message_close_container(message)
            case .authorization(let isAllowed):
                sd_bus_message_open_container(message, letter("r"), "bba{ss}")
                append([.flag(isAllowed), .flag(false)], to: message)
                sd_bus_message_open_container(message, letter("a"), "{ss}")
                sd_bus_message_close_container(message)
                sd_bus_message_close_container(message)
            case .structure(let fields):
                sd_bus_message_open_container(message, letter("r"), fields.map(\.signature).joined())
                append(fields, to: message)
                sd_bus_message_close_container(message)
            case .sessions(let sessions):
                sd_bus_message_open_container(message, letter("a"), "(susso)")
                for session in sessions { append([.structure(session)], to: message) }
                sd_bus_message_close_container(message)
            case .properties(let properties):
                sd_bus_message_open_container(message, letter("a"), "{sv}")
                for (name, value) in properties {
                    sd_bus_message_open_container(message, letter("e"), "sv")
                    append([.string(name), .variant(value)], to: message)
                    sd_bus_message_close_container(message)
                }
                sd_bus_message_close_container(message)
            case .variant(let value):
                sd_bus_message_open_container(message, letter("v"), value.signature)
                append([value], to: message)
                sd_bus_message_close_container(message)
            case .file(let file):
                var number = file.number
                sd_bus_message_append_basic(message, letter("h"), &number)
            case .paths(let texts), .strings(let texts):
                let type: Unicode.Scalar = if case .paths = value { "o" } else { "s" }
                sd_bus_message_open_container(message, letter("a"), String(type))
                for text in texts { sd_bus_message_append_basic(message, letter(type), text) }
                sd_bus_message_close_container(message)
            }
        }
    }

    /// polkit, which answers every question in the same way.
    package static func polkit(
        _ bus: PrivateBus, allows: @escaping @Sendable (_ action: String) -> Bool = { _ in true }
    )
        throws -> BusProgram
    {
        try BusProgram(bus, name: "org.freedesktop.PolicyKit1") { call in
            .values([call.member == "CheckAuthorization" ? .authorization(allows(call.text)) : .noProperties])
        }
    }
}

extension BusProgram.Value {
    /// The signature of a value inside of a structure or a variant.
    fileprivate var signature: String {
        switch self {
        case .path: "o"
        case .string: "s"
        case .flag: "b"
        case .number: "u"
        case .file: "h"
        case .variant: "v"
        case .structure(let fields): "(" + fields.map(\.signature).joined() + ")"
        case .paths: "ao"
        case .strings: "as"
        case .noProperties, .properties: "a{sv}"
        case .sessions: "a(susso)"
        case .authorization: "(bba{ss})"
        }
    }
}
