// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
import LatchkeySeams

/// How far a search has come that goes through the store page by page.
///
/// A page is one view of the store. Between pages others write: each item is as it was when its page was read. Positions
/// decide the order and never change, and what was added after the first page is left out, so that no item comes twice,
/// none that was there all the time is missed, and a search ends however much is added meanwhile.
package struct SearchCursor: Sendable {
    /// What the rows are looked at for.
    enum Pass: Sendable {
        /// Several items are all looked at before the first is handed out, so that their proofs are asked for together.
        case proofs
        case items
    }

    var pass = Pass.proofs
    /// Items handed out, or counted in the first pass.
    var count: UInt64 = 0
    /// What has to be proven, as far as the first pass has come.
    var needed: [Set<AuthenticationMethod>] = []
    /// Every row up to here was looked at.
    private var position = Int64.min
    /// No row behind it belongs to the answer; nil during the first page, which sees one view.
    private var end: Int64?

    /// At the beginning.
    package init() {}

    /// Starts over with the rows for the items themselves.
    mutating func beginItems() {
        pass = .items
        count = 0
        position = .min
    }

    /// Behind which row the next page begins.
    fileprivate var start: Int64 { position }

    fileprivate mutating func pass(_ row: StoredRow) { position = row.position }

    fileprivate func isBehindEnd(_ row: StoredRow) -> Bool { end.map { row.position > $0 } ?? false }

    /// Leaves out what comes after the first page.
    fileprivate mutating func close(in store: any ItemReading) throws(Failure) {
        if end == nil { end = try store.lastPosition() }
    }
}

/// What a search does after a row.
enum AfterRow: Sendable {
    case goOn
    /// The answer is complete.
    case stop
    /// The row is left for another try.
    case stopBefore
}

/// How far a page of rows came.
enum PageEnd: Sendable {
    /// There are no more rows, or no more are wanted.
    case complete
    /// There may be more.
    case full
}

/// What one page may cost: a few milliseconds of one thread, and memory for what it reads.
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
    /// Calls `body` with the next page of live items that a query matches, in insertion order.
    func forEachMatch(
        _ query: ItemQuery, _ caller: Caller, columns: RowColumns, from cursor: inout SearchCursor,
        in store: any ItemReading, _ body: (inout SearchCursor, StoredRow, Item) throws(Failure) -> AfterRow
    ) throws(Failure) -> PageEnd {
        let (itemClass, filters) = try filters(query, caller)
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
            return after == .goOn
        }
        if end == .full { try next.close(in: store) }
        cursor = next
        return end
    }

    /// What listing shows of the items of every group, of the next page: attributes and rules, never a secret.
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
                guard let item, !isDead(item) || item.isInToken else { return true }
                emit(try found(row, item, [.attributes, .persistentReference]))
                return true
            }
            if isFull { try next.close(in: store) }
            cursor = next
            return isFull ? .more : .finished
        }
    }

    /// Rows of several filters as if they were of one: an item that changes its group meanwhile is met once.
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
                // One more than a page, which tells that there is more.
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
