// SPDX-License-Identifier: Apache-2.0

import BusDrivers
import BusTestSupport
import Foundation
import LatchkeyModel
import TestSupport
import Testing

@testable import latchkey_secrets

/// Random calls of every method of the tables: each is answered, with values or with an error of the protocol, and the provider
/// serves afterwards.
@Suite(.needs(.messageBus), .timeLimit(.minutes(2))) struct MethodFuzzTests {
    private static let calls = 700
    private static let errors = Set(SecretError.Name.allCases.map(\.rawValue))

    @Test(arguments: [1, 2, 3] as [UInt64]) func everyCallIsAnswered(_ seed: UInt64) throws {
        let bus = try SecretBus()
        let client = try bus.client()
        let session = try client.plainSession()
        let item = try client.store("x", [("a", "1")], session: session)
        let temporary = try client.store("y", [("a", "1")], collection: SecretClient.temporary, session: session)
        let foreign = SecretObject.item(
            collection: "login", bus.keeper.addForeign(try .of(("site", "example.org")), "z")
        ).path
        bus.keeper.setLocked(true)
        let prompt = try #require(try client.service("Unlock", "ao", .list([.path(SecretClient.login)])).last?.text)
        var random = RandomCalls(
            SeededGenerator(seed: seed),
            paths: [
                SecretObject.root, SecretClient.login, SecretClient.temporary, item, temporary, foreign, session,
                prompt,
            ])
        var answered = 0
        for number in 0..<Self.calls {
            let (call, isRight) = random.call()
            let words =
                "seed \(seed), call \(number): \(call.interface).\(call.member) \(call.signature ?? "") \(call.path)"
            switch Result(catching: { () throws(BusError) in try client.conversation.call(call) }) {
            case .success:
                answered += 1
                #expect(isRight, "\(words) is answered, and has other arguments")
            case .failure(.refused(let name, let message)):
                #expect(Self.errors.contains(name), "\(words): \(name)")
                #expect(!message.isEmpty, "\(words): \(name)")
            case .failure(let error): Issue.record(error, "\(words)")
            }
        }
        #expect(answered > Self.calls / 20, "most calls would test the comparison of signatures alone")

        bus.keeper.setLocked(false)
        let other = try bus.client()
        let own = try other.plainSession()
        let path = try other.store("still here", [("b", "2")], session: own)
        #expect(try other.secret(path, session: own) == "still here")
        #expect(try client.service("ReadAlias", "s", .string("default")) == [.path(SecretClient.login)])
    }
}

/// Calls with random objects, methods, signatures and values, the same for the same seed.
private struct RandomCalls {
    private var generator: SeededGenerator
    private let paths: [String]

    init(_ generator: SeededGenerator, paths: [String]) { (self.generator, self.paths) = (generator, paths) }

    /// - Returns: a call, and whether its arguments have the types of the method.
    mutating func call() -> (call: BusCall, isRight: Bool) {
        let path = path()
        let own = SecretObject(path: path)?.interface ?? .service
        let interfaces: [BusInterface] = [
            own, own, own, .propertyAccess, .introspection, .peer, .service, .collection, .item, .session, .prompt,
        ]
        let interface = any(interfaces)
        let method = any(interface.methods)
        let signature = one(of: 3) ? self.signature() : method.signature
        let arguments = Self.types(signature).map { value($0, depth: 0) }
        let call = BusCall(
            SecretProvider.name, path, interface.name, method.name, arguments, signature: signature)
        // sd-bus answers the calls of `peer`, and does not look at their arguments.
        return (call, signature == method.signature || interface.name == BusInterface.peer.name)
    }

    private mutating func one(of count: Int) -> Bool { generator.next(below: count) == 0 }
    private mutating func any<Value>(_ values: [Value]) -> Value { values[generator.next(below: values.count)] }

    // MARK: - Types

    private mutating func signature() -> String {
        (0..<generator.next(below: 4)).map { _ in type(depth: 0) }.joined()
    }

    private mutating func type(depth: Int) -> String {
        let basic = ["s", "o", "g", "b", "u", "t", "ay"]
        switch generator.next(below: depth < 5 ? 6 : 1) {
        case 0, 1: return any(basic)
        case 2: return "v"
        case 3: return "a" + type(depth: depth + 1)
        case 4: return "a{" + any(["s", "o", "u", "b"]) + type(depth: depth + 1) + "}"
        default: return "(" + (0...generator.next(below: 3)).map { _ in type(depth: depth + 1) }.joined() + ")"
        }
    }

    /// The complete types of a signature.
    private static func types(_ signature: String) -> [String] {
        var (types, type, depth) = ([String](), "", 0)
        for letter in signature {
            type.append(letter)
            if "({".contains(letter) { depth += 1 }
            if ")}".contains(letter) { depth -= 1 }
            guard depth == 0, letter != "a" else { continue }
            types.append(type)
            type = ""
        }
        return types
    }

    // MARK: - Values

    private mutating func value(_ type: String, depth: Int) -> BusValue {
        switch type.first {
        case "s": return .string(text())
        case "o": return .path(path())
        case "g": return .string(signature())
        case "b": return .boolean(one(of: 2))
        case "u": return .integer(any([0, 1, Int64(UInt32.max), Int64(generator.next(below: 1 << 20))]))
        case "t": return .integer(any([0, 1, .max, Int64(generator.next(below: 1 << 40))]))
        case "v":
            let content = any(["s", "ay", "a{ss}", "b", self.type(depth: depth + 2)])
            // Each variant can contain another one.
            let inner = depth < 3 ? content : "s"
            return .variant(inner, value(inner, depth: depth + 1))
        case "a" where type == "ay":
            let count = any([0, 1, 16, 128, 129, 300, one(of: 8) ? Limits.secretBytes + 1 : 7])
            return .bytes(SecretBytes([UInt8](repeating: UInt8(generator.next(below: 256)), count: count)))
        case "a":
            let element = String(type.dropFirst())
            let isHuge = element.count == 1 && element != "v" && depth == 0 && one(of: 20)
            let count = isHuge ? SecretProvider.Bound.valuesOfMessage + 1 : generator.next(below: 4)
            if isHuge { return .list(Array(repeating: value(element, depth: depth + 1), count: count)) }
            return .list((0..<count).map { _ in value(element, depth: depth + 1) })
        // A structure or an entry.
        default:
            return .list(Self.types(String(type.dropFirst().dropLast())).map { value($0, depth: depth + 1) })
        }
    }

    private mutating func text() -> String {
        any([
            "", "default", "login", "session", "plain", TransferSession.encryptedName, "Label", "Attributes", "Items",
            BusInterface.item.name, BusInterface.item.name + ".Label", BusInterface.item.name + ".Attributes",
            BusInterface.collection.name + ".Label", SecretPairs.schema, "a", "1", "\u{202e}ä\u{1f511}", "/", "%s%n",
            String(repeating: "x", count: any([100, 5000, 20_000])),
        ])
    }

    private mutating func path() -> String {
        guard one(of: 4) else { return any(paths) }
        let elements = [
            "collection", "session", "prompt", "aliases", "login", "_", "_2d", "18446744073709551616", "1", "x",
        ]
        return SecretObject.root + (0..<generator.next(below: 4)).map { _ in "/" + any(elements) }.joined()
    }
}
