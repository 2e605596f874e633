// SPDX-License-Identifier: Apache-2.0

import AuthorityDriver
import LatchkeyModel
import LatchkeySeams
import LatchkeyService
import LatchkeySystem
import SystemDriver

/// The daemon of one user in a system tier: serves the user's programs, each as the program that `latchkey-authd`
/// identifies.
final class UserDaemon: FrameHandler {
    private let keychain: UserKeychain
    private let channel: WorkerChannel
    private let link: AuthorityLink
    private let count: SessionCount
    private let random: any RandomSource
    /// Determines who a program is and opens its user's store, which would block the thread that serves connections.
    private let arrivals = SerialWorkQueue { false }

    init(
        _ keychain: UserKeychain, _ channel: WorkerChannel, _ link: AuthorityLink, _ count: SessionCount,
        _ random: any RandomSource
    ) {
        self.keychain = keychain
        self.channel = channel
        self.link = link
        self.count = count
        self.random = random
    }

    /// The accepting process has chosen by the same credentials.
    func serves(_ peer: PeerCredentials) -> Bool { peer.userID == channel.user }

    func payload(of refusal: Failure) -> SecretBytes { HostSession.payload(of: refusal) }

    func connected(_ connection: FrameConnection) -> (any FrameReceiver)? {
        let arriving = ArrivingProgram(connection, count)
        arrivals.submit(.any) { [self, weak connection] in
            guard let connection else { return }
            do throws(Failure) { arriving.begin(try session(connection)) } catch { arriving.refuse(error) }
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
        let service = try keychain.service()
        let terminal = identity.terminal
        let challenge = HostSession.Challenge(try random.bytes(Request.Hello.challengeBytes).copyBytes()) {
            [link, arrivals] answer in
            // The program may have executed another one since it was identified.
            arrivals.submit(.any) {
                do throws(Failure) {
                    guard try link.identify(name) == identity else {
                        throw Failure(
                            .peerNotTrusted, "The process that connected has executed another program.",
                            hint: "Connect again.")
                    }
                    answer(nil)
                } catch {
                    answer(error)
                }
            }
        }
        return HostSession(
            send: { [weak connection] in connection?.send($0) },
            end: { [weak connection] in connection?.endAfterSending() }, challenge: challenge,
            begin: { [weak connection] hello in
                service.session(caller: caller, terminal: terminal, mayNameItself: false, hello: hello) {
                    [weak connection] body in
                    if let connection { connection.whenDrained(body) } else { body() }
                }
            })
    }

    /// The accepting process decides: a connection may be on its way.
    func mayStop() -> Bool {
        guard !keychain.mustStay else { return false }
        do throws(Failure) { try channel.offerToLeave() } catch { return true }
        return false
    }

    func rested() { keychain.releaseMemory() }

    func stop() { keychain.stop() }
}

/// A process of another user. Whether it executes another program now is visible to root only, so prompts ask
/// `latchkey-authd` again; the audit log shows the program that connected.
private struct RunningProcess: CallerProcess {
    let process: PeerProcess
    var isUnchanged: Bool { process.isRunning }
}
