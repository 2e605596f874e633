// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyCrypto
import LatchkeyModel
import LatchkeySystem

/// One connection: reads a message, answers it, and reads the next. It runs on a thread of its own, so that a program
/// that is slow or waits for the person delays no other.
struct SSHConnection {
    let socket: Descriptor
    let peer: PeerProcess
    let agent: SSHAgent
    private var bindings = SessionBindings()

    init(_ socket: Descriptor, _ peer: PeerProcess, _ agent: SSHAgent) {
        (self.socket, self.peer, self.agent) = (socket, peer, agent)
    }

    /// Serves the connection until it ends, is silent for too long, or sends what is no message.
    mutating func serve() {
        do throws(SystemError) {
            while let body = try readMessage() {
                let reply: SSHAgentReply
                do throws(SSHFormatError) {
                    reply = answer(try SSHAgentRequest(decoding: body))
                } catch {
                    reply = .failure
                }
                try write(reply.encoded())
            }
        } catch {
            // The peer is gone or too slow: the connection ends, and the peer sees that.
        }
    }

    // MARK: - Messages

    /// Reads the next message without its length; nil at the end, or if the length is not one of a message.
    private func readMessage() throws(SystemError) -> SecretBytes? {
        guard try socket.wait(for: POLLIN, until: agent.deadline(agent.idleSeconds)) else { return nil }
        let deadline = agent.deadline(SSHAgentLimits.messageSeconds)
        var head = [UInt8](repeating: 0, count: 4)
        let hasLength = try head.withUnsafeMutableBufferPointer { (memory) throws(SystemError) in
            try fill(UnsafeMutableRawBufferPointer(memory), until: deadline)
        }
        guard hasLength else { return nil }
        let count = head.reduce(0) { $0 << 8 | Int($1) }
        guard (1...SSHAgentLimits.messageBytes).contains(count) else { return nil }
        var isWhole = false
        let body = try SecretBytes(count: count) { (memory) throws(SystemError) in
            isWhole = try fill(memory, until: deadline)
        }
        return isWhole ? body : nil
    }

    /// Fills the memory; false if the stream ends or the deadline passes first.
    private func fill(_ memory: UnsafeMutableRawBufferPointer, until deadline: Int64) throws(SystemError) -> Bool {
        var rest = memory
        while !rest.isEmpty {
            guard try socket.wait(for: POLLIN, until: deadline) else { return false }
            let count = try socket.read(into: rest)
            guard count > 0 else { return false }
            rest = UnsafeMutableRawBufferPointer(rebasing: rest[count...])
        }
        return true
    }

    private func write(_ bytes: [UInt8]) throws(SystemError) {
        let deadline = agent.deadline(SSHAgentLimits.messageSeconds)
        var done = 0
        while done < bytes.count {
            let sent = try bytes.withUnsafeBufferPointer { (memory) throws(SystemError) in
                try Sockets.send(socket, UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: memory[done...])))
            }
            if let count = sent {
                done += count
            } else {
                guard try socket.wait(for: POLLOUT, until: deadline) else { throw SystemError("send", code: ETIMEDOUT) }
            }
        }
    }

    // MARK: - Answers

    private mutating func answer(_ request: SSHAgentRequest) -> SSHAgentReply {
        switch request {
        case .identities: return agent.identities()
        case .bind(let bind):
            // Also while the agent is locked: the session stays bound after it is unlocked.
            guard bindings.add(bind) else {
                agent.log(agent.words("a session could not be bound, process \(peer.processID)"))
                return .extensionFailure
            }
            return .success
        case .malformedBind:
            bindings.fail()
            agent.log(agent.words("a malformed session could not be bound, process \(peer.processID)"))
            return .extensionFailure
        case .query: return .extensions([Array(SessionBind.name.utf8)])
        case .malformedQuery: return .extensionFailure
        case .unsupported: return .failure
        case .lock(let passphrase): return agent.lock(passphrase) ? .success : .failure
        case .unlock(let passphrase):
            let isOpen = agent.lock.unlock(passphrase) { time in
                // Waiting ends early if the peer goes, and then there is no one to answer.
                ((try? socket.wait(for: 0, until: time)) ?? true) == false
            }
            if !isOpen { agent.log(agent.words("the agent was not unlocked, process \(peer.processID)")) }
            return isOpen ? .success : .failure
        case .sign(let key, let data):
            do throws(Failure) {
                return .signature(try sign(data, key))
            } catch {
                agent.log(agent.words("nothing was signed: \(agent.text(of: error)) (process \(peer.processID))"))
                return .failure
            }
        }
    }

    private func sign(_ data: [UInt8], _ blob: [UInt8]) throws(Failure) -> [UInt8] {
        guard !agent.lock.isLocked else { throw Failure(.notPermitted, "The agent is locked.") }
        let purpose: SigningPurpose
        do throws(SSHFormatError) {
            purpose = try SigningPurpose(
                try SignedContent(data, key: blob), bindings, allowsUnbound: agent.options.allowsUnbound)
        } catch {
            throw Failure(
                .notPermitted, "The data is neither a login to the bound session nor a signed message.",
                hint: "An ssh older than 8.9 does not bind its session; see --allow-unbound.")
        }
        guard let key = try agent.store.keys().first(where: { $0.blob == blob }) else {
            throw Failure(.itemNotFound, "There is no such key for SSH.")
        }
        let known = try agent.hosts.read()
        guard !hosts(of: purpose).contains(where: known.revokes) else {
            throw Failure(.notPermitted, "The key of the host is revoked in the known hosts.")
        }
        let candidates = HostCandidates.names(of: peer.processID)
        let reason = SigningReason(
            program: peer.isUnchanged ? peer.path ?? "" : "", processID: peer.processID, key: key.name,
            words: agent.words
        ) { known.name(of: $0, candidates: candidates) }
        let digest = try DigestAlgorithm.sha256.hash(data)
        let raw = try agent.signer.sign(
            digest, key, reason: reason.text(purpose), for: AskingTerminal.process(of: peer, for: purpose),
            reuse: reuse(purpose, blob)
        ) {
            PeerWait.wait(for: $0, whileConnected: socket)
        }
        // Locked while the prompt was shown: neither this signature nor its proof is used.
        guard !agent.lock.isLocked else {
            agent.signer.forgetProofs()
            throw Failure(.notPermitted, "The agent is locked.")
        }
        guard let signature = SSHKeyBlob.signature(raw: raw) else {
            throw Failure(.internalFailure, "The signature has the wrong length.")
        }
        return signature
    }

    private func hosts(of purpose: SigningPurpose) -> [HostKey] {
        switch purpose {
        case .login(_, let host, let through): (host.map { [$0] } ?? []) + through
        case .message(_, let through): through
        }
    }

    /// What a proof may be reused for: a login to a known session from this machine. A forwarded one comes from a
    /// process of another machine, and a message has no host.
    private func reuse(_ purpose: SigningPurpose, _ blob: [UInt8]) -> SSHReuse? {
        guard case .login(let user, let host?, let through) = purpose, through.isEmpty, peer.isUnchanged,
            let executable = peer.executable, let startTime = peer.knownStartTime
        else { return nil }
        return SSHReuse(
            key: blob, host: host.plainBlob, user: user, processID: peer.processID, startTime: startTime,
            executable: executable)
    }
}

/// Waits for one of two descriptors.
enum PeerWait {
    /// `POLLRDHUP`, which is not imported: its header defines it only for GNU sources.
    private static let peerEnds: Int16 = 0x2000

    /// Waits until `done` becomes readable or ends; returns false if the peer of `socket` ends the connection first.
    static func wait(for done: Descriptor, whileConnected socket: Descriptor) -> Bool {
        var entries = [
            pollfd(fd: done.number, events: Int16(POLLIN), revents: 0),
            pollfd(fd: socket.number, events: peerEnds, revents: 0),
        ]
        while true {
            // No deadline: the call that ends `done` has one.
            let count = poll(&entries, 2, -1)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            if entries[0].revents != 0 { return true }
            if entries[1].revents != 0 { return false }
        }
    }
}
