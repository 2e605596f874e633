// SPDX-License-Identifier: Apache-2.0

import CSystemd
import Glibc
import LatchkeyModel
import LatchkeySystem

/// A connection of sd-bus(3). This file makes all calls of libsystemd; a connection is used on one thread only.
final class SDBus {
    private typealias Handler =
        @convention(c) (OpaquePointer?, UnsafeMutableRawPointer?, UnsafeMutablePointer<sd_bus_error>?) -> CInt

    /// Maximum depth of one message: messages come from programs that are not trusted.
    private static let deepest = 8

    private let bus: OpaquePointer
    private var matches: [Match] = []
    private var calls: [ObjectIdentifier: Pending] = [:]
    private var served: Served?
    private let mostValues: Int

    /// Connects to the bus at `address`, or to the system's bus (`DBUS_SYSTEM_BUS_ADDRESS`, or the usual socket).
    /// Returns before the bus has accepted the connection.
    ///
    /// - Parameter mostValues: maximum values of one message.
    init(address: String?, mostValues: Int) throws(BusError) {
        self.mostValues = mostValues
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
        sd_bus_slot_unref(served?.slot)
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

    /// - Returns: the match, for `remove`.
    @discardableResult
    func match(_ rule: String, _ body: @escaping (BusSignal) -> Void) throws(BusError) -> AnyObject {
        let match = Match(mostValues, body)
        let handler: Handler = { message, context, _ in
            guard let message, let context else { return 0 }
            Unmanaged<Match>.fromOpaque(context).takeUnretainedValue().received(message)
            return 0
        }
        let code = sd_bus_add_match_async(
            bus, &match.slot, rule, handler, nil, Unmanaged.passUnretained(match).toOpaque())
        guard code >= 0 else { throw .disconnected(-code) }
        matches.append(match)
        return match
    }

    /// Ends a match.
    func remove(_ match: AnyObject) {
        guard let index = matches.firstIndex(where: { $0 === match }) else { return }
        sd_bus_slot_unref(matches.remove(at: index).slot)
    }

    func send(_ event: BusEvent) throws(BusError) {
        var made: OpaquePointer?
        let code = sd_bus_message_new_signal(bus, &made, event.path, event.interface, event.member)
        guard code >= 0, let message = made else { throw .malformed }
        defer { sd_bus_message_unref(message) }
        if let destination = event.destination, sd_bus_message_set_destination(message, destination) < 0 {
            throw .malformed
        }
        guard MessageWriter(message).write(event.arguments, event.signature) else { throw .malformed }
        let sent = sd_bus_send(bus, message, nil)
        guard sent >= 0 else { throw .disconnected(-sent) }
    }

    private final class Match {
        var slot: OpaquePointer?
        private let mostValues: Int
        private let body: (BusSignal) -> Void
        init(_ mostValues: Int, _ body: @escaping (BusSignal) -> Void) {
            (self.mostValues, self.body) = (mostValues, body)
        }

        func received(_ message: OpaquePointer) {
            // A signal whose arguments cannot be read is dropped: nothing follows from a signal that is missing.
            guard let arguments = SDBus.read(message, takesFiles: false, mostValues) else { return }
            let signal = BusSignal(
                sender: sd_bus_message_get_sender(message).flatMap { String(validatingCString: $0) } ?? "",
                path: sd_bus_message_get_path(message).flatMap { String(validatingCString: $0) } ?? "",
                member: sd_bus_message_get_member(message).flatMap { String(validatingCString: $0) } ?? "",
                arguments: arguments)
            // The caller of this function does not own the object, and the handler may remove the match.
            withExtendedLifetime(self) { body(signal) }
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
        sd_bus_message_sensitive(message)
        // A path was always written as a string here, and no program that is called expects another type.
        let signature = call.signature ?? call.arguments.map(\.simpleSignature).joined()
        guard MessageWriter(message).write(call.arguments, signature) else { throw .malformed }
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
                } else if let arguments = SDBus.read(message, takesFiles: true, bus.mostValues) {
                    reply(.success(arguments))
                } else {
                    reply(.failure(.malformed))
                }
            }
        }
    }

    // MARK: - Serving

    /// A received call, until it is answered.
    final class Incoming {
        fileprivate let message: OpaquePointer
        fileprivate init(_ message: OpaquePointer) { self.message = sd_bus_message_ref(message) }
        deinit { sd_bus_message_unref(message) }
    }

    private final class Served {
        var slot: OpaquePointer?
        let mostValues: Int
        let body: (BusRequest, Incoming) -> Void
        init(_ mostValues: Int, _ body: @escaping (BusRequest, Incoming) -> Void) {
            (self.mostValues, self.body) = (mostValues, body)
        }
    }

    /// Receives all calls of the object `path` and those below it. To be called once.
    func serve(_ path: String, _ body: @escaping (BusRequest, Incoming) -> Void) throws(BusError) {
        let served = Served(mostValues, body)
        let handler: Handler = { message, context, _ in
            guard let message, let context else { return 0 }
            let served = Unmanaged<Served>.fromOpaque(context).takeUnretainedValue()
            served.body(SDBus.request(message, served.mostValues), Incoming(message))
            return 1
        }
        let code = sd_bus_add_fallback(bus, &served.slot, path, handler, Unmanaged.passUnretained(served).toOpaque())
        guard code >= 0 else { throw .disconnected(-code) }
        self.served = served
    }

    private static func request(_ message: OpaquePointer, _ mostValues: Int) -> BusRequest {
        // The memory of the message is overwritten when it is freed.
        sd_bus_message_sensitive(message)
        func text(_ text: UnsafePointer<CChar>?) -> String? { text.flatMap { String(validatingCString: $0) } }
        let signature = text(sd_bus_message_get_signature(message, 1)) ?? ""
        return BusRequest(
            sender: text(sd_bus_message_get_sender(message)) ?? "", path: text(sd_bus_message_get_path(message)) ?? "",
            interface: text(sd_bus_message_get_interface(message)),
            member: text(sd_bus_message_get_member(message)) ?? "", signature: signature,
            arguments: read(message, takesFiles: false, mostValues))
    }

    /// Answers a call, unless its caller wants no answer.
    func answer(_ call: Incoming, _ answer: BusAnswer) throws(BusError) {
        var made: OpaquePointer?
        var code: CInt
        switch answer {
        case .values:
            code = sd_bus_message_new_method_return(call.message, &made)
        case .error(let name, let message):
            code = name.withCString { name in
                message.withCString { message in
                    var error = sd_bus_error(name: name, message: message, _need_free: 0)
                    return sd_bus_message_new_method_error(call.message, &made, &error)
                }
            }
        }
        guard code >= 0, let reply = made else { throw .malformed }
        defer { sd_bus_message_unref(reply) }
        if case .values(let values, let signature) = answer {
            sd_bus_message_sensitive(reply)
            guard MessageWriter(reply).write(values, signature) else { throw .malformed }
        }
        code = sd_bus_send(bus, reply, nil)
        guard code >= 0 else { throw .disconnected(-code) }
    }

    // MARK: - Values

    /// What remains of the limits while a message is read.
    private struct Budget {
        var values: Int
        /// Whether files are taken out of the message: a program that sends signals must not use up descriptors.
        let takesFiles: Bool
    }

    /// Reads the values of a message; nil if there are too many or they cannot be read.
    private static func read(_ message: OpaquePointer, takesFiles: Bool, _ mostValues: Int) -> [BusValue]? {
        var left = Budget(values: mostValues, takesFiles: takesFiles)
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
        case UInt8(ascii: "a") where content.map { $0[0] == CChar(bitPattern: UInt8(ascii: "y")) && $0[1] == 0 } == true:
            bytes(message)
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
        guard let signature = content.flatMap({ String(validatingCString: $0) }) else { return nil }
        return values.first.map { .variant(signature, $0) }
    }

    private static func bytes(_ message: OpaquePointer) -> BusValue? {
        var start: UnsafeRawPointer?
        var count = 0
        guard sd_bus_message_read_array(message, CChar(bitPattern: UInt8(ascii: "y")), &start, &count) >= 0 else {
            return nil
        }
        return .bytes(SecretBytes(copying: UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : count)))
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

/// Writes values into a message as a signature says.
private struct MessageWriter {
    private let message: OpaquePointer
    init(_ message: OpaquePointer) { self.message = message }

    /// False if the values are not of these types, or too long.
    func write(_ values: [BusValue], _ signature: String) -> Bool {
        write(values, ArraySlice(signature.utf8))
    }

    private func write(_ values: [BusValue], _ types: ArraySlice<UInt8>) -> Bool {
        var types = types
        for value in values {
            guard let type = Self.first(of: types), write(value, type) else { return false }
            types = types[type.endIndex...]
        }
        return types.isEmpty
    }

    /// The first complete type of a signature; nil if there is none. The signatures are our own, and sd-bus checks them too.
    private static func first(of types: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        var depth = 0
        for index in types.indices {
            switch types[index] {
            case UInt8(ascii: "("), UInt8(ascii: "{"): depth += 1
            case UInt8(ascii: ")"), UInt8(ascii: "}"): depth -= 1
            case UInt8(ascii: "a"): continue
            default: break
            }
            if depth == 0 { return types[...index] }
        }
        return nil
    }

    private func write(_ value: BusValue, _ type: ArraySlice<UInt8>) -> Bool {
        guard let letter = type.first else { return false }
        switch (letter, value) {
        case (UInt8(ascii: "s"), .string(let text)), (UInt8(ascii: "s"), .path(let text)),
            (UInt8(ascii: "g"), .string(let text)), (UInt8(ascii: "o"), .path(let text)):
            return sd_bus_message_append_basic(message, CChar(bitPattern: letter), text) >= 0
        case (UInt8(ascii: "b"), .boolean(let flag)): return append(letter, CInt(flag ? 1 : 0))
        case (UInt8(ascii: "u"), .integer(let number)): return append(letter, UInt32(exactly: number))
        case (UInt8(ascii: "t"), .integer(let number)): return append(letter, UInt64(exactly: number))
        case (UInt8(ascii: "v"), .variant(let signature, let content)):
            return inside("v", signature) { write([content], ArraySlice(signature.utf8)) }
        case (UInt8(ascii: "a"), .bytes(let bytes)) where type.dropFirst() == [UInt8(ascii: "y")]:
            return bytes.withBytes { bytes in
                sd_bus_message_append_array(
                    message, CChar(bitPattern: UInt8(ascii: "y")), bytes.baseAddress, bytes.count) >= 0
            }
        case (UInt8(ascii: "a"), .list(let values)):
            let element = type.dropFirst()
            return inside("a", String(decoding: element, as: UTF8.self)) { values.allSatisfy { write($0, element) } }
        case (UInt8(ascii: "("), .list(let values)), (UInt8(ascii: "{"), .list(let values)):
            let fields = type.dropFirst().dropLast()
            let kind: Unicode.Scalar = letter == UInt8(ascii: "(") ? "r" : "e"
            return inside(kind, String(decoding: fields, as: UTF8.self)) { write(values, fields) }
        default: return false
        }
    }

    private func inside(_ kind: Unicode.Scalar, _ contents: String, _ body: () -> Bool) -> Bool {
        sd_bus_message_open_container(message, CChar(truncatingIfNeeded: kind.value), contents) >= 0 && body()
            && sd_bus_message_close_container(message) >= 0
    }

    private func append<Number: BitwiseCopyable>(_ letter: UInt8, _ number: Number?) -> Bool {
        guard var number else { return false }
        return sd_bus_message_append_basic(message, CChar(bitPattern: letter), &number) >= 0
    }
}

extension BusValue {
    /// The signature of a simple argument; that of no argument for others, so that the message cannot be made.
    fileprivate var simpleSignature: String {
        switch self {
        case .string, .path: "s"
        case .boolean: "b"
        case .integer: "u"
        case .list, .bytes, .variant, .file, .other: ""
        }
    }
}
