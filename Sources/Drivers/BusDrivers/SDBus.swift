// SPDX-License-Identifier: Apache-2.0

import CSystemd
import Glibc
import LatchkeySystem

/// A connection of sd-bus(3). This file makes all calls of libsystemd; a connection is used on one thread only.
final class SDBus {
    private typealias Handler =
        @convention(c) (OpaquePointer?, UnsafeMutableRawPointer?, UnsafeMutablePointer<sd_bus_error>?) -> CInt

    /// Maximum values of one message, and maximum depth: messages come from programs that are not trusted.
    private static let mostValues = 4096
    private static let deepest = 8

    private let bus: OpaquePointer
    private var matches: [Match] = []
    private var calls: [ObjectIdentifier: Pending] = [:]

    /// Connects to the bus at `address`, or to the system's bus (`DBUS_SYSTEM_BUS_ADDRESS`, or the usual socket).
    /// Returns before the bus has accepted the connection.
    init(address: String?) throws(BusError) {
        var made: OpaquePointer?
        guard let address else {
            let code = sd_bus_open_system(&made)
            guard code >= 0, let made else { throw .disconnected(-code) }
            bus = made
            return
        }
        var code = sd_bus_new(&made)
        guard code >= 0, let made else { throw .disconnected(-code) }
        code = sd_bus_set_address(made, address)
        if code >= 0 { code = sd_bus_set_bus_client(made, 1) }
        if code >= 0 { code = sd_bus_start(made) }
        guard code >= 0 else {
            sd_bus_unref(made)
            throw .disconnected(-code)
        }
        bus = made
    }

    deinit {
        for match in matches { sd_bus_slot_unref(match.slot) }
        for call in calls.values { sd_bus_slot_unref(call.slot) }
        sd_bus_close_unref(bus)
    }

    /// The descriptor to poll, and for which events.
    var descriptor: (number: CInt, events: Int16) {
        (sd_bus_get_fd(bus), Int16(truncatingIfNeeded: sd_bus_get_events(bus)))
    }

    /// Milliseconds until `process` must be called without an event; nil if it need not.
    var timeout: Int64? {
        var microseconds: UInt64 = 0
        guard sd_bus_get_timeout(bus, &microseconds) >= 0, microseconds != .max else { return nil }
        var now = timespec()
        clock_gettime(CLOCK_MONOTONIC, &now)
        let elapsed = UInt64(now.tv_sec) * 1_000_000 + UInt64(now.tv_nsec) / 1000
        return microseconds <= elapsed ? 0 : Int64(clamping: (microseconds - elapsed + 999) / 1000)
    }

    /// Processes one message; false if there was none.
    func process() throws(BusError) -> Bool {
        let code = sd_bus_process(bus, nil)
        guard code >= 0 else { throw .disconnected(-code) }
        return code > 0
    }

    // MARK: - Signals

    func match(_ rule: String, _ body: @escaping (BusSignal) -> Void) throws(BusError) {
        let match = Match(body)
        let handler: Handler = { message, context, _ in
            guard let message, let context else { return 0 }
            Unmanaged<Match>.fromOpaque(context).takeUnretainedValue().received(message)
            return 0
        }
        let code = sd_bus_add_match_async(
            bus, &match.slot, rule, handler, nil, Unmanaged.passUnretained(match).toOpaque())
        guard code >= 0 else { throw .disconnected(-code) }
        matches.append(match)
    }

    private final class Match {
        var slot: OpaquePointer?
        private let body: (BusSignal) -> Void
        init(_ body: @escaping (BusSignal) -> Void) { self.body = body }

        func received(_ message: OpaquePointer) {
            // A signal whose arguments cannot be read is dropped: nothing follows from a signal that is missing.
            guard let arguments = SDBus.read(message, takesFiles: false) else { return }
            body(
                BusSignal(
                    sender: sd_bus_message_get_sender(message).flatMap { String(validatingCString: $0) } ?? "",
                    path: sd_bus_message_get_path(message).flatMap { String(validatingCString: $0) } ?? "",
                    member: sd_bus_message_get_member(message).flatMap { String(validatingCString: $0) } ?? "",
                    arguments: arguments))
        }
    }

    // MARK: - Calls

    /// Sends a call. `reply` is called once, unless the call is cancelled first.
    ///
    /// - Returns: the call, for `cancel`.
    func send(_ call: BusCall, _ reply: @escaping (Result<[BusValue], BusError>) -> Void) throws(BusError) -> AnyObject
    {
        var made: OpaquePointer?
        var code = sd_bus_message_new_method_call(bus, &made, call.destination, call.path, call.interface, call.member)
        guard code >= 0, let message = made else { throw .malformed }
        defer { sd_bus_message_unref(message) }
        for argument in call.arguments {
            switch argument {
            case .string(let text), .path(let text):
                code = sd_bus_message_append_basic(message, CChar(bitPattern: UInt8(ascii: "s")), text)
            case .boolean(let flag):
                var value: CInt = flag ? 1 : 0
                code = sd_bus_message_append_basic(message, CChar(bitPattern: UInt8(ascii: "b")), &value)
            case .integer(let number):
                guard var value = UInt32(exactly: number) else { throw .malformed }
                code = sd_bus_message_append_basic(message, CChar(bitPattern: UInt8(ascii: "u")), &value)
            case .list, .variant, .file, .other: throw .malformed
            }
            guard code >= 0 else { throw .malformed }
        }
        let pending = Pending(self, reply)
        let handler: Handler = { message, context, _ in
            guard let message, let context else { return 0 }
            Unmanaged<Pending>.fromOpaque(context).takeUnretainedValue().received(message)
            return 0
        }
        // The deadline is the caller's: that of sd-bus begins only when the bus has accepted the connection.
        code = sd_bus_call_async(
            bus, &pending.slot, message, handler, Unmanaged.passUnretained(pending).toOpaque(), .max)
        guard code >= 0 else { throw .disconnected(-code) }
        calls[ObjectIdentifier(pending)] = pending
        return pending
    }

    /// Drops a call, whose reply is then ignored.
    func cancel(_ call: AnyObject) {
        guard let pending = calls.removeValue(forKey: ObjectIdentifier(call)) else { return }
        sd_bus_slot_unref(pending.slot)
    }

    private final class Pending {
        var slot: OpaquePointer?
        private unowned let bus: SDBus
        private let reply: (Result<[BusValue], BusError>) -> Void

        init(_ bus: SDBus, _ reply: @escaping (Result<[BusValue], BusError>) -> Void) {
            (self.bus, self.reply) = (bus, reply)
        }

        func received(_ message: OpaquePointer) {
            // The caller of this function does not own the object, and `cancel` removes the last reference.
            withExtendedLifetime(self) {
                bus.cancel(self)
                if let error = sd_bus_message_get_error(message)?.pointee {
                    let name = error.name.flatMap { String(validatingCString: $0) } ?? ""
                    reply(
                        .failure(
                            .refused(name: name, message: error.message.flatMap { String(validatingCString: $0) } ?? "")
                        ))
                } else if let arguments = SDBus.read(message, takesFiles: true) {
                    reply(.success(arguments))
                } else {
                    reply(.failure(.malformed))
                }
            }
        }
    }

    // MARK: - Values

    /// What remains of the limits while a message is read.
    private struct Budget {
        var values = mostValues
        /// Whether files are taken out of the message: a program that sends signals must not use up descriptors.
        let takesFiles: Bool
    }

    /// Reads the values of a message; nil if there are too many or they cannot be read.
    private static func read(_ message: OpaquePointer, takesFiles: Bool) -> [BusValue]? {
        var left = Budget(takesFiles: takesFiles)
        return values(message, depth: 0, left: &left)
    }

    private static func values(_ message: OpaquePointer, depth: Int, left: inout Budget) -> [BusValue]? {
        var values: [BusValue] = []
        while true {
            var type: CChar = 0
            var content: UnsafePointer<CChar>?
            let code = sd_bus_message_peek_type(message, &type, &content)
            if code == 0 { return values }
            left.values -= 1
            guard code > 0, left.values > 0, let value = value(message, type, content, depth, &left) else { return nil }
            values.append(value)
        }
    }

    private static func value(
        _ message: OpaquePointer, _ type: CChar, _ content: UnsafePointer<CChar>?, _ depth: Int, _ left: inout Budget
    ) -> BusValue? {
        switch UInt8(bitPattern: type) {
        case UInt8(ascii: "s"), UInt8(ascii: "g"): text(message, type).map { .string($0) }
        case UInt8(ascii: "o"): text(message, type).map { .path($0) }
        case UInt8(ascii: "b"): basic(message, type, CInt(0)).map { .boolean($0 != 0) }
        case UInt8(ascii: "y"): basic(message, type, UInt8(0)).map { .integer(Int64($0)) }
        case UInt8(ascii: "n"): basic(message, type, Int16(0)).map { .integer(Int64($0)) }
        case UInt8(ascii: "q"): basic(message, type, UInt16(0)).map { .integer(Int64($0)) }
        case UInt8(ascii: "i"): basic(message, type, Int32(0)).map { .integer(Int64($0)) }
        case UInt8(ascii: "u"): basic(message, type, UInt32(0)).map { .integer(Int64($0)) }
        case UInt8(ascii: "x"): basic(message, type, Int64(0)).map { .integer($0) }
        case UInt8(ascii: "t"):
            basic(message, type, UInt64(0)).map { Int64(exactly: $0).map { .integer($0) } ?? .other }
        case UInt8(ascii: "a"), UInt8(ascii: "r"), UInt8(ascii: "e"), UInt8(ascii: "v"):
            container(message, type, content, depth, &left)
        case UInt8(ascii: "h") where left.takesFiles: file(message, type)
        default: sd_bus_message_skip(message, [type, 0]) >= 0 ? .other : nil
        }
    }

    private static func container(
        _ message: OpaquePointer, _ type: CChar, _ content: UnsafePointer<CChar>?, _ depth: Int, _ left: inout Budget
    ) -> BusValue? {
        guard depth < deepest, sd_bus_message_enter_container(message, type, content) > 0,
            let values = values(message, depth: depth + 1, left: &left),
            sd_bus_message_exit_container(message) >= 0
        else { return nil }
        guard UInt8(bitPattern: type) == UInt8(ascii: "v") else { return .list(values) }
        return values.first.map { .variant($0) }
    }

    private static func text(_ message: OpaquePointer, _ type: CChar) -> String? {
        var text: UnsafePointer<CChar>?
        guard sd_bus_message_read_basic(message, type, &text) > 0, let text else { return nil }
        return String(validatingCString: text)
    }

    /// A copy of the file: the message owns another.
    private static func file(_ message: OpaquePointer, _ type: CChar) -> BusValue? {
        guard let number = basic(message, type, CInt(-1)) else { return nil }
        let copy = fcntl(number, F_DUPFD_CLOEXEC, 3)
        return copy < 0 ? nil : .file(BusFile(Descriptor(owning: copy)))
    }

    private static func basic<Number: BitwiseCopyable>(
        _ message: OpaquePointer, _ type: CChar, _ zero: Number
    ) -> Number? {
        var number = zero
        return sd_bus_message_read_basic(message, type, &number) > 0 ? number : nil
    }
}
