// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeyWords

/// An entry of the audit log of which a person should learn at once, because somebody else may have caused it.
public struct ActivityNotice: Equatable, Sendable {
    /// What happened.
    public enum Kind: Equatable, Sendable {
        /// The passcode or the sensor was locked after wrong tries.
        case lockedOut
        /// The enrolled fingers or faces changed.
        case enrollmentChanged
        /// A program read an item that it had not read before, as far as the log goes back.
        case firstRead(app: String)
        /// A program did not get an item because the keychain was locked.
        case refusedWhileLocked(app: String)
    }

    /// What happened.
    public let kind: Kind
    /// How many equal events the notice stands for.
    public let count: Int

    init(_ kind: Kind, count: Int) { (self.kind, self.count) = (kind, count) }

    /// The notices of the entries after `number`, one of each kind and program.
    ///
    /// - Parameter entries: the newest entries, the newest first, with older ones to compare with.
    static func all(in entries: [ActivityEntry], after number: Int64) -> [ActivityNotice] {
        var known = Set(entries.filter { $0.id <= number }.compactMap(Read.init))
        var notices: [ActivityNotice] = []
        func add(_ kind: Kind) {
            if let place = notices.firstIndex(where: { $0.kind == kind }) {
                notices[place] = ActivityNotice(kind, count: notices[place].count + 1)
            } else {
                notices.append(ActivityNotice(kind, count: 1))
            }
        }
        for entry in entries.reversed() where entry.id > number {
            switch entry.event {
            case .lockedOut: add(.lockedOut)
            case .enrollmentChanged: add(.enrollmentChanged)
            case .refused where entry.ground == .refused(.locked): add(.refusedWhileLocked(app: entry.app))
            default: if let read = Read(entry), known.insert(read).inserted { add(.firstRead(app: read.app)) }
            }
        }
        return notices
    }

    /// That a program read an item.
    private struct Read: Hashable {
        let app: String
        let item: String

        init?(_ entry: ActivityEntry) {
            guard entry.event == .used, !entry.item.isEmpty else { return nil }
            (app, item) = (entry.app, entry.item)
        }
    }

    // MARK: - Texts

    /// The heading, in the language of the session. It can contain the name of a program, so it must not be read as markup.
    public var title: String {
        let words = Words.ofSession
        return switch kind {
        case .lockedOut: words("Too many wrong tries")
        case .enrollmentChanged: words("The enrolled fingers or faces changed")
        case .firstRead(let program):
            firstRead(by: CallerAppearance.ownName(program, words) ?? program.asShownLine, words)
        case .refusedWhileLocked(let program):
            words("“\(CallerAppearance.ownName(program, words) ?? program.asShownLine)” could not read an item")
        }
    }

    private func firstRead(by app: String, _ words: Words) -> String {
        words.count(
            count, "“\(app)” read an item for the first time", "“\(app)” read \(count) items for the first time")
    }

    /// What the person can do, in the language of the session.
    public var body: String {
        let words = Words.ofSession
        return switch kind {
        case .lockedOut:
            words("The passcode or the sensor is locked. If that was not you, see Activity in Latchkey Settings.")
        case .enrollmentChanged:
            words("One was added or deleted. If that was not you, see Fingerprints in Latchkey Settings.")
        case .firstRead: words("Activity in Latchkey Settings shows what it was.")
        case .refusedWhileLocked: words("The keychain is locked. Unlock it, then try again in the app.")
        }
    }

    /// The title of the button that does something about it, in the language of the session; nil if there is none. That of
    /// `refusedWhileLocked` unlocks the keychain (`KeychainUnlock`).
    public var action: String? {
        if case .refusedWhileLocked = kind { Words.ofSession("Unlock") } else { nil }
    }
}
