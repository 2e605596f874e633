// SPDX-License-Identifier: Apache-2.0

import LatchkeyKeychain
import LatchkeyModel
import LatchkeySeams

// The first page of an answer is read on the thread that brought the request, which is all there is for most. Further
// pages are read on a thread of their own, each when the client has taken most of what was sent.

extension Session {
    /// A search under way.
    private struct Reading: Sendable {
        let id: UInt64
        let request: Request.CopyItems
        let answer: Answer
        var cursor = SearchCursor()
        var proof: RequestProof
        var password: AppPassword
        var round = 1
        /// How often a password was stretched for the item that comes next.
        var stretchRound = 1
    }

    func copy(_ id: UInt64, _ request: Request.CopyItems, _ answer: @escaping Answer) throws(Failure) {
        let reading = Reading(
            id: id, request: request, answer: answer, proof: requestProof(request.authentication.context),
            password: try appPassword(request.authentication, keychain()))
        try read(reading) {}
    }

    /// Reads a page and sends it; `done` is called when it is sent, or will not be. The next one follows by itself.
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
        // What protected items hold does not leave before their use is written down.
        if uses.isEmpty {
            deliver(page, result, next)
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

    /// Sends what was found, and goes on.
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

    /// Stretches the password for the item that comes next, then goes on. The keys of items that were read are dropped.
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

    /// The items of every group, as listing shows them: whose items there are is the user's to know, and each program of
    /// the user may name itself as any other.
    func listEverything(_ answer: @escaping Answer) throws(Failure) {
        try checkOneUserOwnsAll()
        try listEverything(SearchCursor(), answer)
    }

    private func listEverything(_ start: SearchCursor, _ answer: @escaping Answer) throws(Failure) {
        var cursor = start
        var items: [FoundItem] = []
        let result = try keychain().listEverything(from: &cursor) { items.append($0) }
        send(items, more: result == .more, answer)
        guard result == .more else { return }
        let next = cursor
        goOn(answer) { [self] (done) throws(Failure) in
            try listEverything(next, answer)
            done()
        }
    }

    /// Has the next part of an answer made when there is room for it, unless nobody waits any more. `part` calls what it
    /// is given when it has sent everything; a part that throws ends the answer.
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

    /// Sends items in frames of bounded size. Of a page without items nothing is sent, unless it is the last one.
    private func send(_ items: [FoundItem], more: Bool, _ answer: Answer) {
        var rest = items[...]
        while !rest.isEmpty {
            var size = 0
            // A frame ends before the item that does not fit; one that fits none has a frame of its own.
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
