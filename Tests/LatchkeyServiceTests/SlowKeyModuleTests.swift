// SPDX-License-Identifier: Apache-2.0

import Dispatch
import LatchkeyModel
import LatchkeyService
import LatchkeyWire
import SeamStandIns
import SimulatedDriver
import SoftwareEnclaveDriver
import SystemDriver
import TestSupport
import Testing

/// A key module that waits for its device delays neither the thread that serves all clients nor the one that writes.
@Suite struct SlowKeyModuleTests {
    private let module: GatedKeyModule
    private let simulated: SimulatedService
    private let client: Client
    private let other: Client

    /// A connection whose replies come from any thread.
    private struct Client: Sendable {
        private let replies = Replies()
        private let arrivals = DispatchSemaphore(value: 0)
        private let session: HostSession

        init(_ simulated: SimulatedService) {
            let (replies, arrivals) = (replies, arrivals)
            session = HostSession(greeted: simulated.session()) {
                replies.add($0)
                arrivals.signal()
            }
        }

        func send(_ id: UInt64, _ request: Request) {
            session.receive(Message.request(id: id, request).encoded())
        }

        func replies(to id: UInt64) -> [Reply] { replies.of(id) }

        /// Waits for one more reply; false after ten seconds.
        func waitForReply() -> Bool { arrivals.wait(timeout: .now() + 10) == .success }
    }

    init() throws { try self.init(device: nil) }

    private init(device: EnclaveDevice?) throws {
        let random = SystemRandomSource()
        let module = GatedKeyModule(SoftwareEnclave(clock: VirtualClock(), random: random), device: device)
        self.module = module
        simulated = try SimulatedService { parts, _ in
            parts.keyModule = module
            parts.keyWork = SerialWorkQueue { false }
        }
        client = Client(simulated)
        other = Client(simulated)
    }

    private func creation(_ attributes: Attributes = [:]) -> Request {
        .createEnclaveKey(
            Request.CreateEnclaveKey(
                attributes: attributes,
                accessControl: AccessControl(accessibility: .whenUnlocked, constraints: .privateKeyUsage),
                isPermanent: true, authentication: Authentication()))
    }

    private func use(_ name: EnclaveKeyName, _ byte: UInt8) -> Request {
        .useEnclaveKey(
            Request.UseEnclaveKey(
                name: name, operation: .sign(digest: [UInt8](repeating: byte, count: 32)),
                authentication: Authentication()))
    }

    private func makeKey() throws -> EnclaveKeyName {
        module.open()
        client.send(1, creation())
        #expect(module.waitForArrival() && client.waitForReply())
        guard case .enclaveKey(let key)? = client.replies(to: 1).first else { throw Failure(.internalFailure) }
        return key.name
    }

    @Test func theStatusAsksTheDeviceOnceAndDelaysNoOtherRequest_abuse24() throws {
        let tests = try Self(device: .program)
        let (module, client, other) = (tests.module, tests.client, tests.other)
        func device(_ id: UInt64) -> EnclaveDevice? {
            guard case .status(let report)? = client.replies(to: id).first else { return nil }
            return report.enclaveDevice
        }
        client.send(1, .status)
        #expect(module.waitForArrival() && client.replies(to: 1).isEmpty)
        other.send(1, .createContext)
        #expect(other.replies(to: 1).count == 1)
        module.open()
        #expect(client.waitForReply() && device(1) == .program)
        client.send(2, .status)
        #expect(device(2) == .program)
    }

    @Test func otherRequestsAreAnsweredWhileAKeyIsUsed() throws {
        let key = try makeKey()
        client.send(2, use(key, 1))
        #expect(module.waitForArrival())
        other.send(1, .status)
        #expect(other.replies(to: 1).count == 1)
        other.send(2, .addItem(Request.AddItem()))
        #expect(other.replies(to: 2) == [.done])
        client.send(3, .status)
        #expect(client.replies(to: 3).count == 1, "also a request of the same client")
        #expect(client.waitForReply())
        #expect(client.replies(to: 2).isEmpty)
        module.open()
        #expect(client.waitForReply())
        guard case .enclaveResult? = client.replies(to: 2).first else {
            Issue.record("not signed: \(client.replies(to: 2))")
            return
        }
    }

    @Test func usesAreServedInOrderOfTheirRequests() throws {
        let key = try makeKey()
        let bytes: [UInt8] = [1, 2, 3]
        for byte in bytes { (byte == 2 ? other : client).send(10 + UInt64(byte), use(key, byte)) }
        module.open(bytes.count)
        #expect(client.waitForReply() && client.waitForReply() && other.waitForReply())
        #expect(module.operations == bytes.map { .sign(digest: [UInt8](repeating: $0, count: 32)) })
    }

    @Test func aKeyThatCannotBeStoredIsErased() throws {
        module.open(2)
        client.send(1, creation([.synchronizable: .boolean(true)]))
        #expect(client.waitForReply())
        #expect(client.replies(to: 1) == [.failure(Failure(.invalidParameter))])
        // The erasure is on the queue before the next operation.
        client.send(2, creation())
        #expect(client.waitForReply())
        #expect(module.erased == 1)
    }
}
