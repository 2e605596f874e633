// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel

/// The result of comparing the file `anchor` with the database when a store is opened.
///
/// D is the store generation of the database, P the prepared one of the anchor, and V the number of the vault's monotonic
/// counter. In a vault without a counter, V is the committed store generation of the anchor.
package enum AnchorCondition: Equatable, Sendable {
    /// D = V and nothing prepared, or an interrupted event that was finished or dropped.
    case clean
    /// The event is in the database, but finishing the anchor failed. Protected items stay closed.
    case unfinished
    /// D < V: the database is older than the anchor; or both are older than the counters.
    case rolledBack
    /// D > V without a matching preparation: the anchor is older than the database.
    case anchorOld
    /// The anchor file does not exist, or fails authentication.
    case anchorMissing
    /// The vault's counter is behind the anchor or the database, which it never was: it is another one.
    case tpmReplaced
    /// The vault's counter does not exist.
    case anchorGone
    /// The counter of the enrolment sets does not exist, or has another number than the key of the set is sealed to.
    case enrolmentKeyGone

    /// The failure of every request in this condition; nil when requests are served.
    package var refusal: Failure? {
        switch self {
        case .clean, .unfinished: nil
        case .rolledBack:
            Failure(
                .storeRolledBack,
                "The database is older than the file anchor, or both are older than the file counters: they look restored "
                    + "from a backup.",
                hint: "Use it as it is with: latchkey check --accept (asks for the passcode, if one is set)")
        case .anchorOld:
            Failure(
                .anchorOld, "The file anchor is older than the database: it looks restored from a backup.",
                hint: "Restore the newest anchor, or use this one with: latchkey check --accept")
        case .anchorMissing:
            Failure(
                .anchorMissing, "The file anchor is missing, or was changed without the keys of this store.",
                hint: "Restore the file anchor from a backup. Without one, discard what needs it with: "
                    + "latchkey reset --protected")
        case .tpmReplaced:
            Failure(
                .tpmReplaced, "The counter of the security chip is not the one that this store was used with.",
                hint: "Use the store with the device that it belongs to, or accept it with: latchkey check --accept")
        case .anchorGone: Self.counterGone
        case .enrolmentKeyGone: Self.keyGone
        }
    }

    static var counterGone: Failure {
        Failure(
            .anchorGone, "The counter of this store was removed from the security chip.",
            hint: "Accept the store as it is with: latchkey check --accept")
    }

    static var keyGone: Failure {
        Failure(
            .anchorGone,
            "The security chip does not open the key of the enrolled fingers and faces any more: its counter was "
                + "removed, or another program incremented it.",
            hint: "Accept the store without the items that are bound to them: latchkey check --accept")
    }

    /// The failure of requests for protected items in this condition; nil when they can be opened.
    var refusalOfProtected: Failure? {
        guard self == .unfinished else { return refusal }
        return Failure(
            .eventUnfinished, "A change of passcode or enrolment could not be written completely.",
            hint: "Free some space, or make the store's folder writable, and try again.")
    }

    /// Compares the store generations (table in `docs/reference/store-format.md`, section "The order of an event").
    ///
    /// - Parameters:
    ///   - witness: the store generation that the counters of failed tries name. A database and an anchor that are both
    ///     older were restored from an earlier time.
    ///   - number: the number of the vault's monotonic counter.
    static func found(
        database: UInt64?, _ record: AnchorRecord?, witness: UInt64, number: StoreNumber
    ) -> (condition: AnchorCondition, step: Step) {
        let found = compare(database: database, record, number)
        guard let record, found.condition == .clean else { return found }
        let reached = found.step == .finish ? record.preparation?.generation ?? 0 : record.committed
        return reached < witness ? (.rolledBack, .none) : found
    }

    private static func compare(
        database: UInt64?, _ record: AnchorRecord?, _ number: StoreNumber
    ) -> (condition: AnchorCondition, step: Step) {
        guard let record else { return (.anchorMissing, .none) }
        // Without a readable state record the database cannot show that it is the newest one.
        guard let database else { return (.rolledBack, .none) }
        switch number {
        case .ofTheAnchor: break
        case .missing: return (.anchorGone, .none)
        case .counter(let number): return compare(database: database, record, counter: number)
        }
        let committed = record.committed
        if database < committed { return (.rolledBack, .none) }
        if let preparation = record.preparation, preparation.generation == database {
            // D = P = V + 1: interrupted after the commit. D = P = V: interrupted while the anchor was finished. The
            // events `accepted` and `protectedDiscarded` may skip generations.
            let isNext = database == committed || database == committed &+ 1
            if isNext || [.accepted, .protectedDiscarded].contains(preparation.event) { return (.clean, .finish) }
        }
        guard database == committed else { return (.anchorOld, .none) }
        return (.clean, record.preparation == nil ? .none : .drop)
    }

    /// The comparison beside a counter, which is incremented between the commit in the database and the finished anchor.
    private static func compare(
        database: UInt64, _ record: AnchorRecord, counter: UInt64
    ) -> (condition: AnchorCondition, step: Step) {
        if let prepared = record.preparation, prepared.generation == database {
            // D = P = V + 1: interrupted before the counter was incremented. D = P = V: interrupted after it.
            let isNext = database == counter || database == counter &+ 1
            // These events may skip generations, and make the counter catch up.
            let skips = [.accepted, .protectedDiscarded].contains(prepared.event) && database > counter
            if isNext || skips { return (.clean, .finish) }
        }
        // The counter is incremented before the anchor is finished, and at most one behind the database.
        if record.committed > counter || database > counter &+ 1 { return (.tpmReplaced, .none) }
        if database < counter { return (.rolledBack, .none) }
        guard database == counter, record.committed == counter else { return (.anchorOld, .none) }
        return (.clean, record.preparation == nil ? .none : .drop)
    }

    /// The remaining step of an interrupted event.
    enum Step: Equatable, Sendable {
        case none
        /// The event is not in the database: drop its preparation.
        case drop
        /// The event is in the database: increment the counter if it is behind, and finish the anchor.
        case finish
    }
}

/// The number with which the store generation of the database is compared.
enum StoreNumber: Equatable, Sendable {
    /// The vault has no counter: the committed store generation of the anchor.
    case ofTheAnchor
    case counter(UInt64)
    /// The vault has counters, but none for this store.
    case missing
}
