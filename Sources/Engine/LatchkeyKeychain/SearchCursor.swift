// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
import LatchkeySeams

/// The position of a search that reads the store page by page.
///
/// Each page is one snapshot of the store, and other requests may write between pages. Positions define the order and
/// never change, and items added after the first page are left out. So no item is returned twice, no item that existed
/// throughout is missed, and a search ends although items are added concurrently.
package struct SearchCursor: Sendable {
    /// The purpose of reading the rows.
    enum Pass: Sendable {
        /// Collects the missing proofs of all items before the first is returned, so that one prompt asks for them.
        case proofs
        case items
    }

    var pass = Pass.proofs
    /// Items returned so far; in the first pass, items counted.
    var count: UInt64 = 0
    /// Missing proofs collected by the first pass so far.
    var needed: [Set<AuthenticationMethod>] = []
    /// The first two items that lack a proof, as far as the first pass came.
    var lacking: [[UInt8]] = []
    /// The item at which the search stopped or failed; empty if there is no single one.
    package internal(set) var item: [UInt8] = []
    /// Position of the last row read.
    private var position = Int64.min
    /// Last position that belongs to the result; nil during the first page, which is one snapshot.
    private var end: Int64?

    package init() {}

    /// Starts the second pass at the first row.
    mutating func beginItems() {
        pass = .items
        count = 0
        position = .min
    }

    /// Position after which the next page begins.
    fileprivate var start: Int64 { position }

    fileprivate mutating func pass(_ row: StoredRow) { position = row.position }

    fileprivate func isBehindEnd(_ row: StoredRow) -> Bool { end.map { row.position > $0 } ?? false }

    /// Sets `end` after the first page, so that rows added later are left out.
    fileprivate mutating func close(in store: any ItemReading) throws(Failure) {
        if end == nil { end = try store.lastPosition() }
    }
}

/// What a search does after a row.
enum AfterRow: Sendable {
    case proceed
    /// Ends the search: the result is complete.
    case stop
    /// Ends the search before this row, which the next page reads again.
    case stopBefore
}

/// Why a page ended.
enum PageEnd: Sendable {
    /// No more rows exist, or no more are wanted.
    case complete
    /// The page is full; more rows may exist.
    case full
}

/// Limits the rows and bytes of one page, so that a page occupies its thread for a few milliseconds only.
private struct PageBudget {
    private static let rows = 256
    private static let bytes = Limits.streamedFrameBytes
    private var rows = PageBudget.rows
    private var bytes = PageBudget.bytes

    var isSpent: Bool { rows <= 0 || bytes <= 0 }

    mutating func take(_ row: StoredRow) {
        rows -= 1
        bytes -= row.attributes.count + (row.secret?.count ?? 0)
    }
}

extension Keychain {
    /// Calls `body` with the next page of matching items that are not invalidated, in insertion order.
    func forEachMatch(
        _ query: ItemQuery, _ caller: Caller, columns: RowColumns, from cursor: inout SearchCursor,
        in store: any ItemReading, _ body: (inout SearchCursor, StoredRow, Item) throws(Failure) -> AfterRow
    ) throws(Failure) -> PageEnd {
        let (itemClass, filters) = try filters(query, caller, in: store)
        var budget = PageBudget()
        var end = PageEnd.complete
        var next = cursor
        try forEachRow(filters, behind: cursor.start, columns, in: store) { (row) throws(Failure) in
            if next.isBehindEnd(row) { return false }
            guard !budget.isSpent else {
                end = .full
                return false
            }
            budget.take(row)
            guard let item = try match(row, itemClass, query, caller) else {
                next.pass(row)
                return true
            }
            let after = try body(&next, row, item)
            if after != .stopBefore { next.pass(row) }
            return after == .proceed
        }
        if end == .full { try next.close(in: store) }
        cursor = next
        return end
    }

    /// Lists the next page of the items of every group: attributes and access control, never the secret.
    package func listEverything(
        from cursor: inout SearchCursor, emit: (FoundItem) -> Void
    ) throws(Failure) -> SearchResult {
        try checkReadable()
        defer { reportDamage() }
        return try store.read { (store) throws(Failure) in
            var budget = PageBudget()
            var isFull = false
            var next = cursor
            try store.forEachRow(.all, behind: cursor.start, columns: .withoutSecret) { (row) throws(Failure) in
                if next.isBehindEnd(row) { return false }
                guard !budget.isSpent else {
                    isFull = true
                    return false
                }
                budget.take(row)
                next.pass(row)
                let item = try undamaged(row) { () throws(Failure) in try envelopes.openAttributes(row) }
                // Collections and stored answers of the Secret Service are no items.
                guard let item, !isDead(item) || item.isInToken, !item.isOfSecretService else { return true }
                var found = try found(row, item, [.attributes, .persistentReference])
                found.isLostWithPasscode = isLostWithPasscode(item)
                emit(found)
                return true
            }
            if isFull { try next.close(in: store) }
            cursor = next
            return isFull ? .more : .finished
        }
    }

    /// Merges the rows of several filters by position: an item that changes its group between pages is read once.
    private func forEachRow(
        _ filters: [RowFilter], behind position: Int64, _ columns: RowColumns, in store: any ItemReading,
        _ body: (StoredRow) throws(Failure) -> Bool
    ) throws(Failure) {
        if filters.count == 1 { return try store.forEachRow(filters[0], behind: position, columns: columns, body) }
        var rows: [StoredRow] = []
        var horizon = Int64.max
        for filter in filters {
            var budget = PageBudget()
            try store.forEachRow(filter, behind: position, columns: columns) { (row) throws(Failure) in
                rows.append(row)
                // One row more than a page, which shows that another page follows.
                guard budget.isSpent else {
                    budget.take(row)
                    return true
                }
                horizon = min(horizon, row.position)
                return false
            }
        }
        rows.sort { $0.position < $1.position }
        for row in rows where row.position <= horizon {
            guard try body(row) else { return }
        }
    }
}
