// SPDX-License-Identifier: Apache-2.0

/// A session of logind. A property that is missing or of another type gives less, never more.
struct LoginSession: Equatable {
    let id: String
    let user: UInt32
    /// `user` for logins, other values for login screens, lock screens and tasks of cron.
    var kind = ""
    var seat = ""
    var state = ""
    var isActive = false
    var isRemote = true
    /// The desktop reports that its screen is locked.
    var isLockedHint = false
    /// Somebody has requested the lock, or the hint was true before logind was restarted; and neither the desktop nor
    /// anyone else has ended it since.
    var isLockRequested = false

    init(id: String, user: UInt32) { (self.id, self.user) = (id, user) }

    /// Whether a user has logged in, rather than a program that logind also gives a session.
    var isLogin: Bool { kind.hasPrefix("user") }

    var isLocked: Bool { isLogin && (isLockedHint || isLockRequested) }

    /// Whether the person at the machine's own devices uses the session now.
    var isAtTheMachine: Bool { isLogin && isActive && !isRemote && !seat.isEmpty && state != "closing" && !isLocked }

    /// Takes the values of an `a{sv}`, as the answer to `GetAll` or as changes.
    mutating func take(_ properties: BusValue?) {
        for entry in properties?.values ?? [] {
            guard let pair = entry.values, pair.count == 2, let name = pair[0].text, let value = pair[1].content
            else { continue }
            switch name {
            case "Class": kind = value.text ?? ""
            case "State": state = value.text ?? "closing"
            case "Active": isActive = value.flag ?? false
            case "Remote": isRemote = value.flag ?? true
            // A structure of name and path.
            case "Seat": seat = value.values?.first?.text ?? ""
            case "LockedHint":
                let wasLocked = isLockedHint
                isLockedHint = value.flag ?? true
                // The desktop has shown its lock screen and removed it again, which also answers the request.
                if wasLocked, !isLockedHint { isLockRequested = false }
            default: break
            }
        }
    }

    /// The properties that decisions depend on, of which logind announces changes.
    static let announced: Set = ["State", "Active", "LockedHint"]
}
