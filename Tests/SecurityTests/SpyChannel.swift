// SPDX-License-Identifier: Apache-2.0

import LatchkeyClient
import LatchkeyModel
import LatchkeyWire
import Synchronization
import TestSupport

@testable import LatchkeySimulator

/// A channel that records the statuses of failure replies.
final class SpyChannel: ClientChannel {
    /// The statuses of all failures received by the channels of one client.
    final class Record: Sendable {
        private let statuses = Mutex<[Status]>([])

        var last: Status? { statuses.withLock { $0.last } }
        func record(_ status: Status) { statuses.withLock { $0.append(status) } }
    }

    private let inner: any ClientChannel
    private let record: Record

    init(_ inner: any ClientChannel, _ record: Record) {
        self.inner = inner
        self.record = record
    }

    func send(_ payload: SecretBytes) throws(Failure) { try inner.send(payload) }

    func receive(until deadline: Int64) throws(Failure) -> SecretBytes? {
        let payload = try inner.receive(until: deadline)
        if let payload, case .reply(_, .failure(let failure))? = try? Message(decoding: payload) {
            record.record(failure.status)
        }
        return payload
    }
}

/// A stand-in for the engine: answers `hello` itself and every other request with the test's reply.
final class ScriptedChannel: ClientChannel {
    private let answer: @Sendable (UInt64) -> SecretBytes
    private let waiting = Mutex<[SecretBytes]>([])

    /// Creates a channel whose replies are the bytes that `answer` returns for a request's identifier.
    init(_ answer: @escaping @Sendable (UInt64) -> SecretBytes) { self.answer = answer }

    func send(_ payload: SecretBytes) throws(Failure) {
        guard case .request(let id, let request)? = try? Message(decoding: payload) else { return }
        var reply = answer(id)
        if case .hello = request {
            reply = Message.reply(id: id, .welcome(Reply.Welcome(tier: .simulated, processID: 1))).encoded()
        }
        waiting.withLock { [reply] in $0.append(reply) }
    }

    func receive(until deadline: Int64) throws(Failure) -> SecretBytes? {
        waiting.withLock { $0.isEmpty ? nil : $0.removeFirst() }
    }
}

/// A channel that fails each addition of a certificate with `diskFull` and forwards all other requests.
final class CertificateRefusingChannel: ClientChannel {
    private let inner: any ClientChannel
    private let refusals = Mutex<[SecretBytes]>([])

    init(_ inner: any ClientChannel) { self.inner = inner }

    func send(_ payload: SecretBytes) throws(Failure) {
        guard case .request(let id, .addItem(let add))? = try? Message(decoding: payload), add.itemClass == .certificate
        else { return try inner.send(payload) }
        refusals.withLock { $0.append(Message.reply(id: id, .failure(Failure(.diskFull))).encoded()) }
    }

    func receive(until deadline: Int64) throws(Failure) -> SecretBytes? {
        let refusal = refusals.withLock { $0.isEmpty ? nil : $0.removeFirst() }
        if let refusal { return refusal }
        return try inner.receive(until: deadline)
    }
}
