// SPDX-License-Identifier: Apache-2.0

import Glibc
package import LatchkeyModel
package import LatchkeySeams
import LatchkeySystem
import LatchkeyWire
import Synchronization

/// Verifies account passwords through PAM, each in a process of its own (`latchkey-pam`).
package final class PAMPasswords: AccountPasswords {
    /// Where the driver finds what it needs; other places only in tests.
    package struct Places: Sendable {
        /// The program that runs libpam.
        package var program: String
        package var service = PAMService.password.path
        package var shadow = "/etc/shadow"
        /// The user to whom the service file must belong.
        package var owner: UInt32 = 0

        /// Creates the places of an installed system.
        package init(program: String) { self.program = program }
    }

    /// Seconds that a verification may take.
    package static let seconds: Int64 = 10
    /// Verifications that run at the same time, of different accounts.
    private static let limit = 32

    private let places: Places
    private let seconds: Int64
    private let running = Mutex<Set<String>>([])

    /// Creates a driver.
    ///
    /// - Parameter seconds: after which a verification has failed and its process is killed.
    package init(_ places: Places, seconds: Int64 = PAMPasswords.seconds) {
        (self.places, self.seconds) = (places, seconds)
    }

    package func hasPassword(_ account: AccountName) throws(Failure) -> Bool {
        try ShadowFile.hasPassword(account, in: places.shadow)
    }

    package func verify(
        _ password: SecretBytes, of account: AccountName, show: @escaping @Sendable (String) -> Void,
        completion: @escaping @Sendable (AccountVerdict) -> Void
    ) {
        // PAM would read no byte of an empty string, and only those before a zero byte: less than what opens the slot.
        let isComplete = password.withBytes { !$0.isEmpty && $0.count <= PAMMessage.answerBytes && !$0.contains(0) }
        guard isComplete else { return completion(.wrong) }
        let begins = running.withLock { running in
            running.count < Self.limit && running.insert(account.text).inserted
        }
        guard begins else {
            return completion(
                .notAvailable(
                    Failure(
                        .limitExceeded, "Another password of the account is being verified.", hint: "Try again.")))
        }
        Processes.detachThread { [self] in
            let verdict = verdict(password, account, show)
            _ = running.withLock { $0.remove(account.text) }
            completion(verdict)
        }
    }

    private func verdict(
        _ password: SecretBytes, _ account: AccountName, _ show: @Sendable (String) -> Void
    ) -> AccountVerdict {
        let child: PAMProcess
        do throws(Failure) {
            try PAMServiceFile.check(places.service, owner: places.owner)
            child = try PAMProcess(places.program, until: Uptime.deadline(seconds: seconds))
        } catch {
            // Nothing was asked, so nothing was tried.
            return .notAvailable(error)
        }
        defer { child.end() }
        do throws(Failure) {
            try child.send(.begin(account, .password))
            var conversation = PAMConversation()
            while true {
                switch conversation.received(try child.receive()) {
                case .answer: try child.send(.answer(password))
                case .show(let text): show(text)
                case .end(let verdict): return verdict
                }
            }
        } catch {
            return .failed(error)
        }
    }
}
