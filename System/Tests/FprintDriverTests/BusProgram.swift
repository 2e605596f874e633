// SPDX-License-Identifier: Apache-2.0

import CSystemd
import Foundation
import LatchkeySystem
import Synchronization

/// A program on a bus, played by the test: it owns a name, answers calls as the test says, and sends signals.
final class BusProgram: @unchecked Sendable {
    // Sendable: `bus` is used on the program's thread only, the rest has locks.

    enum Value: Sendable {
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
    }

    enum Reply: Sendable {
        case values([Value])
        case error(String)
        /// The call is never answered.
        case none
    }

    struct Call: Sendable {
        let path: String
        let interface: String
        let member: String
        let text: String
        let sender: String
    }

    private let bus: OpaquePointer
    private let answer: @Sendable (Call) -> Reply
    private let jobs = Mutex<[@Sendable (OpaquePointer) -> Void]>([])
    private let earlier = Mutex<[String: @Sendable (OpaquePointer) -> Void]>([:])
    private let hasEnded = DispatchSemaphore(value: 0)
    private let isEnding = Mutex(false)
    private let calls = Mutex<[Call]>([])

    /// The calls that were received.
    var received: [Call] { calls.withLock { $0 } }
    /// The unique name of the connection.
    let uniqueName: String

    init(_ private: PrivateBus, name: String?, answer: @escaping @Sendable (Call) -> Reply) throws {
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
                for job in jobs.withLock({ jobs in
                    defer { jobs = [] }
                    return jobs
                }) { job(bus) }
                while sd_bus_process(bus, nil) > 0 {}
                sd_bus_wait(bus, 10_000)
            }
            sd_bus_flush(bus)
            sd_bus_close_unref(bus)
            hasEnded.signal()
        }
    }

    /// Leaves the bus.
    func end() {
        let isFirst = isEnding.withLock { isEnding in
            defer { isEnding = true }
            return !isEnding
        }
        if isFirst { hasEnded.wait() }
    }

    /// Sends a signal, to all programs or to one.
    func signal(_ path: String, _ interface: String, _ member: String, _ values: [Value], to destination: String? = nil)
    {
        jobs.withLock { $0.append { Self.send($0, path, interface, member, values, to: destination) } }
    }

    /// Sends signals before the answer to a call.
    func signalBefore(_ member: String, _ path: String, _ interface: String, _ signals: [(String, [Value])]) {
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
            case .paths(let texts), .strings(let texts):
                let type: Unicode.Scalar = if case .paths = value { "o" } else { "s" }
                sd_bus_message_open_container(message, letter("a"), String(type))
                for text in texts { sd_bus_message_append_basic(message, letter(type), text) }
                sd_bus_message_close_container(message)
            }
        }
    }

    /// polkit, which answers every question in the same way.
    static func polkit(
        _ bus: PrivateBus, allows: @escaping @Sendable (_ action: String) -> Bool = { _ in true }
    )
        throws -> BusProgram
    {
        try BusProgram(bus, name: "org.freedesktop.PolicyKit1") { call in
            .values([call.member == "CheckAuthorization" ? .authorization(allows(call.text)) : .noProperties])
        }
    }
}
