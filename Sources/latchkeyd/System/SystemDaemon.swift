// SPDX-License-Identifier: Apache-2.0

import AuthorityDriver
import LatchkeyHost
import LatchkeyModel
import LatchkeySeams
import LatchkeySystem
import LatchkeyTransport
import SystemDriver

/// The daemon of a system tier: serves the programs of all users, each with the keychain of its user, as the program
/// that `latchkey-authd` identifies.
final class SystemDaemon: FrameHandler {
    private let keychains: SystemKeychains
    private let link: AuthorityLink
    private let count: SessionCount
    /// Determines who a program is and opens its user's store, which would block the thread that serves connections.
    private let arrivals = SerialWorkQueue { false }

    init(_ keychains: SystemKeychains, _ link: AuthorityLink, _ count: SessionCount) {
        self.keychains = keychains
        self.link = link
        self.count = count
    }

    /// Every user is served; one without an identity of its own is refused with the reason when it is identified.
    func serves(_ peer: PeerCredentials) -> Bool { true }

    func payload(of refusal: Failure) -> SecretBytes { HostSession.payload(of: refusal) }

    func connected(_ connection: FrameConnection) -> (any FrameReceiver)? {
        let arriving = ArrivingProgram(connection, count)
        arrivals.submit(.any) { [self, weak connection] in
            guard let connection else { return }
            do throws(Failure) {
                arriving.begin(try session(connection))
            } catch {
                arriving.refuse(error)
            }
        }
        return arriving
    }

    private func session(_ connection: FrameConnection) throws(Failure) -> HostSession {
        let (peer, process) = (connection.peer, connection.process)
        guard let startTime = process.knownStartTime else {
            throw Failure(.peerNotTrusted, "The process that connected has ended, or cannot be determined.")
        }
        let name = ProcessName(processID: peer.processID, startTime: startTime, userID: peer.userID)
        let identity = try link.identify(name)
        let caller = identity.caller(name, process: RunningProcess(process: process))
        let service = try keychains.service(of: peer.userID)
        let terminal = identity.terminal
        return HostSession { [weak connection] in
            connection?.send($0)
        } end: { [weak connection] in
            connection?.endAfterSending()
        } begin: { [weak connection] hello in
            service.session(caller: caller, terminal: terminal, mayNameItself: false, hello: hello) {
                [weak connection] body in
                if let connection { connection.whenDrained(body) } else { body() }
            }
        }
    }

    func mayStop() -> Bool { !keychains.mustStay }

    func rested() { keychains.releaseMemory() }

    func stop() { keychains.stop() }
}

/// A process of another user. Whether it executes another program now is visible to root only, so prompts ask
/// `latchkey-authd` again; the audit log shows the program that connected.
private struct RunningProcess: CallerProcess {
    let process: PeerProcess
    var isUnchanged: Bool { process.isRunning }
}
