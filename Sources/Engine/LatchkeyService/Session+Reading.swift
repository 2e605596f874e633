// SPDX-License-Identifier: Apache-2.0

import LatchkeyKeychain
import LatchkeyModel
import LatchkeySeams

// Requests that read items. The first page of a reply is read on the thread that received the request; most replies
// have only one. Further pages are read on the background queue, each when the client has received most of what was
// sent.

extension Session {
    /// The state of a search.
    private struct Reading: Sendable {
        let id: UInt64
        let request: Request.CopyItems
        let answer: Answer
        var cursor = SearchCursor()
        var proof: RequestProof
        var password: AppPassword
        var round = 1
        /// How often a password was stretched for the next item.
        var stretchRound = 1
    }

    func copy(_ id: UInt64, _ request: Request.CopyItems, _ answer: @escaping Answer) throws(Failure) {
        let reading = Reading(
            id: id, request: request, answer: answer, proof: requestProof(request.authentication.context),
            password: try appPassword(request.authentication, keychain()))
        try read(reading) {}
    }

    /// Reads and sends a page, and schedules the next one.
    ///
    /// - Parameter done: called when the page was sent or will not be.
    private func read(_ start: Reading, done: @escaping @Sendable () -> Void) throws(Failure) {
        var reading = start
        let answer = reading.answer
        let keychain = try keychain()
        let caller = caller
        var items: [FoundItem] = []
        var used: [UsedItem] = []
        let result = try keychain.search(
            reading.request, caller: caller, proof: try proof(of: reading.proof), password: reading.password,
            from: &reading.cursor
        ) {
            used.append($0)
        } emit: {
            items.append($0)
        }
        if !items.isEmpty { reading.stretchRound = 1 }
        let (page, uses, next) = (items, used, reading)
        // Secrets of protected items are sent only after their use is recorded in the audit log.
        if uses.isEmpty {
            deliver(page, result, next)
            if keychain.isRecordingReadsDue { recordReads(keychain) {} }
            return done()
        }
        service.parts.work.submit(uses.count == 1 ? .oneItem : .any) { [self] in
            do throws(Failure) {
                try keychain.recordUse(uses, caller: caller)
                deliver(page, result, next)
            } catch {
                answer(.failure(error))
            }
            done()
        }
    }

    /// Writes the counted reads of items without a protection to the audit log, on the write queue.
    func recordReads(_ keychain: Keychain, then: @escaping @Sendable () -> Void) {
        let log = service.parts.log
        service.parts.work.submit(.any) {
            log.noting(.readsNotRecorded) { () throws(Failure) in try keychain.recordReads() }
            then()
        }
    }

    /// Sends the found items and continues according to `result`: with the next page, key stretching or a prompt.
    private func deliver(_ items: [FoundItem], _ result: SearchResult, _ reading: Reading) {
        let answer = reading.answer
        switch result {
        case .finished: send(items, more: false, answer)
        case .more:
            send(items, more: true, answer)
            goOn(answer) { [self] (done) throws(Failure) in try read(reading, done: done) }
        case .stretch(let parameters):
            send(items, more: true, answer)
            stretch(parameters, reading)
        case .needs(let plan):
            send(items, more: true, answer)
            do throws(Failure) {
                try askThen(reading.id, plan, reading.request.authentication, reading.round) {
                    [self] (more) throws(Failure) in
                    var next = reading
                    next.proof = adding(more, to: next.proof)
                    next.round += 1
                    try read(next) {}
                } answer: {
                    answer($0)
                }
            } catch {
                answer(.failure(error))
            }
        }
    }

    /// Stretches the password for the next item, then continues. The stretched keys of items already read are dropped.
    private func stretch(_ parameters: [StretchParameters], _ reading: Reading) {
        let answer = reading.answer
        do throws(Failure) {
            try checkStretchRounds(reading.stretchRound)
            try stretch(reading.request.authentication, parameters, reading.password.withoutKeys, answer) {
                [self] password in
                var next = reading
                next.password = password
                next.stretchRound += 1
                let start = next
                goOn(answer) { [self] done in
                    do throws(Failure) {
                        try read(start, done: done)
                    } catch {
                        end(error, answer)
                        done()
                    }
                }
            }
        } catch {
            end(error, answer)
        }
    }

    func list(_ query: ItemQuery, _ answer: @escaping Answer) throws(Failure) {
        try list(query, SearchCursor(), answer)
    }

    private func list(_ query: ItemQuery, _ start: SearchCursor, _ answer: @escaping Answer) throws(Failure) {
        var cursor = start
        var items: [FoundItem] = []
        let result = try keychain().list(query, caller: caller, from: &cursor) { items.append($0) }
        send(items, more: result == .more, answer)
        guard result == .more else { return }
        let next = cursor
        goOn(answer) { [self] (done) throws(Failure) in
            try list(query, next, answer)
            done()
        }
    }

    /// Schedules the next part of a reply for when the send queue has room; the part is skipped if the connection has
    /// ended.
    ///
    /// - Parameter part: sends frames and then calls `done`; if it throws, the failure ends the reply.
    func goOn(
        _ answer: @escaping Answer,
        _ part: @escaping @Sendable (_ done: @escaping @Sendable () -> Void) throws(Failure) -> Void
    ) {
        pages.add { [self] done in
            guard !isClosed else { return done() }
            do throws(Failure) {
                try part(done)
            } catch {
                answer(.failure(error))
                done()
            }
        }
    }

    /// Sends items in frames of limited size. A page without items is sent only if it is the last one.
    func send(_ items: [FoundItem], more: Bool, _ answer: Answer) {
        var rest = items[...]
        while !rest.isEmpty {
            var size = 0
            // A frame ends before the first item that does not fit; an item larger than the limit has its own frame.
            let part = rest.prefix { item in
                size += item.weight
                return size == item.weight || size <= Limits.streamedFrameBytes
            }
            rest = rest.dropFirst(part.count)
            answer(.items(Array(part), more: more || !rest.isEmpty))
        }
        if items.isEmpty, !more { answer(.items([], more: false)) }
    }
}
