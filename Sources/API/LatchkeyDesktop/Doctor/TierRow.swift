// SPDX-License-Identifier: Apache-2.0

import LatchkeyClient
package import LatchkeyModel
import LatchkeySystem

/// What decides which keychain the programs of this user have.
package struct TierFacts: Equatable, Sendable {
    /// The value of `LATCHKEY_HOME`, if it is set.
    package var chosenFolder: String?
    /// The folder of the user's own store, if it has one.
    package var ownStore: String?
    /// The socket of the system's keychain, if it exists.
    package var systemSocket: String?
    /// The user who serves the system's keychain, if programs of this user have it.
    package var systemUser: Result<UInt32?, Failure> = .success(nil)

    /// Whether programs of this user have the system's keychain, or would have it if its sockets were in order.
    package var isSystem: Bool {
        switch systemUser {
        case .success(let user): user != nil
        case .failure: true
        }
    }
}

extension TierFacts {
    /// Reads the environment, the user's own store and the sockets of the system.
    package init(_ places: MachinePlaces) {
        chosenFolder = Environment.value("LATCHKEY_HOME")
        if let folder = try? StoreLocation.folder(), Files.exists(folder + "/root.key") { ownStore = folder }
        if Files.exists(places.sockets.keychain) { systemSocket = places.sockets.keychain }
        systemUser = Result { () throws(Failure) in try DaemonFinder.systemUser(places.sockets) }
    }
}

extension DoctorRow {
    /// The tier in use, as the daemon reports it, and why programs of this user have it.
    ///
    /// - Parameter sockets: the row of the system's sockets, whose command mends what keeps the keychain from being used.
    package static func tier(_ facts: TierFacts, _ tier: Tier?, sockets: DoctorRow) -> DoctorRow {
        switch facts.systemUser {
        case .failure(let failure):
            return DoctorRow("tier", .attention, "the system's keychain is not used: \(failure.message)", sockets.hint)
        case .success(let user?):
            return DoctorRow("tier", .ok, "\(tier?.name ?? "system"): the system's keychain, served by user \(user)")
        case .success(nil):
            let meaning = tier == .simulated ? " (for tests: protects nothing)" : ""
            let used = (tier?.name ?? "user or simulated") + meaning
            if facts.chosenFolder != nil {
                return DoctorRow("tier", .ok, "\(used): the user's own store, because LATCHKEY_HOME names it")
            }
            if facts.systemSocket != nil {
                return DoctorRow("tier", .ok, "\(used): the user's own store, because it exists")
            }
            return DoctorRow("tier", .ok, "\(used): the user's own store, because this machine has no system keychain")
        }
    }

    /// A store of the user beside the system's keychain, whose items the system's programs do not see.
    package static func otherStore(_ facts: TierFacts) -> DoctorRow {
        guard let store = facts.ownStore, let socket = facts.systemSocket, facts.chosenFolder == nil else {
            return DoctorRow("other store", .ok, "none")
        }
        return DoctorRow(
            "other store", .attention,
            "programs use \(store) and not the system's keychain at \(socket)",
            DoctorRow.Hint("latchkey migrate"))
    }
}
