// SPDX-License-Identifier: Apache-2.0

import LatchkeyKeychain
import LatchkeyModel
import LatchkeyPolicy
import LatchkeySeams

// Requests that read items. The first page of a reply is read on the thread that received the request; most replies
// have only one. Further pages are read on the background queue, each when the client has received most of what was
// sent.

extension Session {
    /// The state of a search.
    private struct Reading: Sendable {
        let request: Request.CopyItems
        var cursor = SearchCursor()
        var proof: RequestProof
        var password: AppPassword
        /// What the person answered about a program that reads items of others.
        let answer: UseGrounds
    }

    /// A part of the result of a search.
    private struct Page: Sendable {
        var items: [FoundItem] = []
        /// The protected items among them.
        var used: [UsedItem] = []
        var result = SearchResult.finished
    }

    /// - Parameter answer: what the person answered about a program that reads items of others, for the audit log.
    func copy(_ request: Request.CopyItems, _ call: Call, answer: UseGrounds = []) throws(Failure) -> Handling {
        var reading = Reading(
            request: request, proof: requestProof(request.authentication.context),
            password: try appPassword(request.authentication, keychain()), answer: answer)
        let page: Page
        do throws(Failure) {
            page = try search(&reading)
        } catch {
            let (failure, item) = (error, reading.cursor.item)
            guard failure.reason == .locked else { throw failure }
            return .waits { [self] () async throws(Failure) in
                throw await recorded(failure, of: item, request.authentication.prompting)
            }
        }
        if page.result == .finished, page.used.isEmpty { return .reply(lastPart(page.items, call)) }
        let start = reading
        return .waits { [self] () async throws(Failure) in try await copy(page, start, call) }
    }

    /// Sends a page and the pages after it, with the prompts and the key stretching that they need.
    private func copy(_ first: Page, _ start: Reading, _ call: Call) async throws(Failure) -> Reply {
        var (page, reading) = (first, start)
        let authentication = start.request.authentication
        // How often the password was stretched for the next item.
        var stretchRound = 0
        while true {
            try await recordUse(page.used, start.answer)
            if page.result == .finished { return lastPart(page.items, call) }
            sendPart(page.items, call)
            if !page.items.isEmpty { stretchRound = 0 }
            if case .needs(let plan) = page.result {
                pages.endTurn(of: call.id)
                try await prove(plan, call, authentication, &reading.proof, for: reading.cursor.item)
                do throws(Failure) {
                    page = try search(&reading)
                } catch {
                    throw await recorded(error, of: reading.cursor.item, authentication.prompting)
                }
                continue
            }
            if case .stretch(let parameters) = page.result {
                pages.endTurn(of: call.id)
                stretchRound += 1
                try checkStretchRounds(stretchRound)
                // The stretched keys of items already read are dropped.
                reading.password = try await stretched(reading.password.withoutKeys, parameters, authentication)
            }
            let before = reading
            let result: Result<Page, Failure>
            (result, reading) = try await inTurn(call) { [self] () throws(Failure) in
                var reading = before
                do throws(Failure) {
                    return (.success(try search(&reading)), reading)
                } catch {
                    return (.failure(error), reading)
                }
            }
            do throws(Failure) {
                page = try result.get()
            } catch {
                throw await recorded(error, of: reading.cursor.item, authentication.prompting)
            }
        }
    }

    private func search(_ reading: inout Reading) throws(Failure) -> Page {
        let keychain = try keychain()
        var page = Page()
        page.result = try keychain.search(
            reading.request, caller: caller, proof: try proof(of: reading.proof), password: reading.password,
            answer: reading.answer, from: &reading.cursor
        ) {
            page.used.append($0)
        } emit: {
            page.items.append($0)
        }
        // A page of protected items is followed by a write of its own.
        if page.used.isEmpty, keychain.isRecordingReadsDue {
            service.parts.work.submit(.any) { [log = service.parts.log] in
                log.recording(.readsNotRecorded) { () throws(Failure) in try keychain.recordReads() }
            }
        }
        return page
    }

    /// Records the use of protected items in the audit log; their secrets are sent only afterwards.
    private func recordUse(_ used: [UsedItem], _ answer: UseGrounds) async throws(Failure) {
        guard !used.isEmpty else { return }
        let (keychain, caller, biometry) = (try keychain(), caller, service.authority.state.sensor.kind)
        try await service.parts.work.run(used.count == 1 ? .oneItem : .any) { () throws(Failure) in
            try keychain.recordUse(used, caller: caller, biometry: biometry, answer: answer)
        }
    }

    func list(_ query: ItemQuery, _ call: Call) throws(Failure) -> Handling {
        try list(call) { [self] (cursor, emit) throws(Failure) in
            try keychain().list(query, caller: caller, from: &cursor, emit: emit)
        }
    }

    /// Sends all pages of a list; the first one is read on this thread.
    func list(
        _ call: Call,
        _ read: @escaping @Sendable (inout SearchCursor, (FoundItem) -> Void) throws(Failure) -> SearchResult
    ) throws(Failure) -> Handling {
        let list: @Sendable (SearchCursor) throws(Failure) -> (Page, SearchCursor) = { (start) throws(Failure) in
            var (page, cursor) = (Page(), start)
            page.result = try read(&cursor) { page.items.append($0) }
            return (page, cursor)
        }
        let (first, next) = try list(SearchCursor())
        guard first.result == .more else { return .reply(lastPart(first.items, call)) }
        return .waits { [self] () async throws(Failure) in
            var (page, cursor) = (first, next)
            while page.result == .more {
                sendPart(page.items, call)
                let start = cursor
                (page, cursor) = try await inTurn(call) { () throws(Failure) in try list(start) }
            }
            return lastPart(page.items, call)
        }
    }

    /// Runs `read` on the background queue, in the turn of this request and when the send queue has room.
    func inTurn<Value: Sendable>(
        _ call: Call, _ read: @escaping @Sendable () throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        guard await pages.turn(of: call.id) else { throw Refusal.connectionEnded }
        return try await service.parts.background.run { [self] () throws(Failure) in
            guard !isClosed else { throw Refusal.connectionEnded }
            return try read()
        }
    }

    /// Sends items in frames of limited size; more follow.
    func sendPart(_ items: [FoundItem], _ call: Call) {
        for part in frames(of: items) { call.send(.items(part, more: true)) }
    }

    /// Sends items in frames of limited size, except for the last one.
    ///
    /// - Returns: the last one, which may be empty.
    func lastPart(_ items: [FoundItem], _ call: Call) -> Reply {
        let frames = frames(of: items)
        for part in frames.dropLast() { call.send(.items(part, more: true)) }
        return .items(frames.last ?? [], more: false)
    }

    private func frames(of items: [FoundItem]) -> [[FoundItem]] {
        var (frames, rest): ([[FoundItem]], _) = ([], items[...])
        while !rest.isEmpty {
            var size = 0
            // A frame ends before the first item that does not fit; an item larger than the limit has its own frame.
            let part = rest.prefix { item in
                size += item.weight
                return size == item.weight || size <= Limits.streamedFrameBytes
            }
            rest = rest.dropFirst(part.count)
            frames.append(Array(part))
        }
        return frames
    }
}
