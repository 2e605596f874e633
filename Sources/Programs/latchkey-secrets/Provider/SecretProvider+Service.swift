// SPDX-License-Identifier: Apache-2.0

import BusDrivers
import LatchkeyClient
import LatchkeyCrypto
import LatchkeyModel

/// The methods of the service, its sessions and its prompts.
extension SecretProvider {
    func service(_ call: SecretCall, _ method: String) throws(SecretError) {
        switch method {
        case "OpenSession": try openSession(call)
        case "CreateCollection": try createCollection(call)
        case "SearchItems": try searchEverywhere(call)
        case "Unlock": try unlock(call)
        case "Lock": try lock(call)
        case "GetSecrets": try getSecrets(call)
        case "ReadAlias":
            let name = call.arguments.first?.text.flatMap { SecretObject.aliases[$0] }
            answer(call.number, [.path(name.map { SecretObject.collection($0).path } ?? SecretObject.none)])
        case "SetAlias":
            guard call.arguments.count == 2, let alias = call.arguments[0].text, let path = call.arguments[1].text
            else {
                throw .wrongArguments
            }
            guard let name = SecretObject.aliases[alias], SecretObject(path: path) == .collection(name) else {
                throw Self.fixedAliases
            }
            answer(call.number, [])
        default: throw SecretError(.unknownMethod, "There is no method \(method).")
        }
    }

    private static let fixedAliases = SecretError(
        .notSupported, "The aliases are default, login and session, and cannot be changed.")

    // MARK: - Sessions

    private func openSession(_ call: SecretCall) throws(SecretError) {
        guard let algorithm = call.arguments.first?.text, case .variant(let type, let input)? = call.arguments.last
        else {
            throw .wrongArguments
        }
        guard call.program.sessions.count < Bound.sessionsOfProgram else { throw .tooMany }
        switch (algorithm, type, input) {
        case (TransferSession.plainName, "s", _):
            answer(call.number, open(.plain, .variant("s", .string("")), call))
        case (TransferSession.encryptedName, "ay", .bytes(let publicKey)):
            work(call) { (_, _, _) throws(Failure) in
                let agreement = try SecretTransferKey.Agreement()
                guard let key = try agreement.key(with: publicKey) else {
                    throw Failure(.invalidParameter, "This public key is not accepted.")
                }
                return (agreement.publicKey, key)
            } then: { [weak self] (publicKey, key) throws(SecretError) in
                guard call.program.sessions.count < Bound.sessionsOfProgram else { throw .tooMany }
                return self?.open(.encrypted(key), .variant("ay", .bytes(SecretBytes(publicKey))), call) ?? []
            }
        case (TransferSession.plainName, _, _), (TransferSession.encryptedName, _, _): throw .wrongArguments
        default: throw SecretError(.notSupported, "The algorithm is not known.")
        }
    }

    private func open(_ session: TransferSession, _ output: BusValue, _ call: SecretCall) -> [BusValue] {
        let number = nextNumber()
        call.program.sessions[number] = session
        return [output, .path(SecretObject.session(number).path)]
    }

    /// The session of a path, of this program.
    func session(_ path: String?, _ call: SecretCall) throws(SecretError) -> (SecretObject, TransferSession) {
        guard let path, case .session(let number)? = SecretObject(path: path),
            let session = call.program.sessions[number]
        else { throw .noSession }
        return (.session(number), session)
    }

    // MARK: - Collections and searches

    private func createCollection(_ call: SecretCall) throws(SecretError) {
        guard let properties = call.arguments.first, let alias = call.arguments.last?.text else {
            throw .wrongArguments
        }
        if !alias.isEmpty {
            // It exists already, as the specification says about an alias in use.
            guard let name = SecretObject.aliases[alias] else { throw Self.fixedAliases }
            return answer(call.number, [.path(SecretObject.collection(name).path), .path(SecretObject.none)])
        }
        let label = try ItemProperties(properties, BusInterface.collection).label ?? ""
        work(call, waits: true) { (keeper, process, cancellation) throws(Failure) in
            try keeper.use(.createCollection(label: label), for: process, cancellation).map(KeptItem.init)
        } then: { [weak self] (made: [KeptItem]) throws(SecretError) in
            guard let made = made.first else { throw .noSuchObject }
            let path = SecretObject.collection(made.identifier).path
            self?.signal(.service, "CollectionCreated", path)
            self?.invalidated(.service, "Collections")
            return [.path(path), .path(SecretObject.none)]
        }
    }

    private func searchEverywhere(_ call: SecretCall) throws(SecretError) {
        let pairs = try SecretPairs(bus: call.arguments.first)
        search(nil, pairs, call) { items in
            let (locked, unlocked) = items.reduce(into: ([BusValue](), [BusValue]())) { lists, item in
                let path = BusValue.path(item.object.path)
                if item.awaitsUnlock || call.program.isLocked(item) {
                    lists.0.append(path)
                } else {
                    lists.1.append(path)
                }
            }
            return [.list(unlocked), .list(locked)]
        }
    }

    /// Finds items, and remembers them for reads of their properties.
    ///
    /// - Parameter collection: nil for all.
    func search(
        _ collection: String?, _ pairs: SecretPairs, _ call: SecretCall,
        then: @escaping ([KeptItem]) throws(SecretError) -> [BusValue]
    ) {
        work(call, atOnce: true) { (keeper, process, cancellation) throws(Failure) in
            guard collection != SecretObject.sessionCollection else { return (process, [KeptItem]()) }
            let found = try keeper.use(.search(collection: collection, pairs), for: process, cancellation)
            return (process, try found.map(KeptItem.init))
        } then: { [weak self] (process, found) throws(SecretError) in
            var items = found
            if let self, collection == nil || collection == SecretObject.sessionCollection {
                items += sessionCollection.items(of: process, with: pairs)
            }
            call.program.remember(found)
            return try then(items)
        }
    }

    // MARK: - Locks

    private static func objects(_ value: BusValue?) throws(SecretError) -> [SecretObject] {
        guard let paths = value?.values else { throw .wrongArguments }
        // What cannot be unlocked is left out of the answer, as the specification says.
        return paths.compactMap { path in
            guard let object = path.text.flatMap({ SecretObject(path: $0) }) else { return nil }
            switch object {
            case .collection, .item: return object
            case .service, .session, .prompt: return nil
            }
        }
    }

    private func unlock(_ call: SecretCall) throws(SecretError) {
        let objects = try Self.objects(call.arguments.first)
        work(call) { (keeper, _, _) throws(Failure) in
            try keeper.isLocked()
        } then: { [weak self] (isLocked) throws(SecretError) in
            guard let self else { return [] }
            guard isLocked else {
                try opened(objects, for: call.program)
                return [.list(objects.map { .path($0.path) }), .path(SecretObject.none)]
            }
            guard call.program.prompts.count < Bound.promptsOfProgram else { throw .tooMany }
            let number = nextNumber()
            call.program.prompts[number] = SecretPrompt(objects: objects)
            return [.list([]), .path(SecretObject.prompt(number).path)]
        }
    }

    /// Items of other programs count as unlocked from now on: the person is asked when one is read.
    private func opened(_ objects: [SecretObject], for program: CallingProgram) throws(SecretError) {
        for case .item(_, let identifier) in objects {
            let seen = program.seen[identifier]
            // An item of its own is not locked.
            if let seen, !seen.isForeign { continue }
            let wasLocked = seen.map(program.isLocked) ?? false
            try program.unlock(identifier)
            guard wasLocked, let item = seen else { continue }
            changed(item.object, ["Locked": .variant("b", .boolean(false))], for: program)
        }
    }

    private func lock(_ call: SecretCall) throws(SecretError) {
        let objects = try Self.objects(call.arguments.first)
        let locksAll = objects.contains { if case .collection = $0 { true } else { false } }
        work(call) { (keeper, _, _) throws(Failure) in
            guard locksAll else { return try keeper.isLocked() }
            try keeper.lock()
            return true
        } then: { [weak self] (_) throws(SecretError) in
            for case .item(_, let identifier) in objects { call.program.lock(identifier) }
            if locksAll {
                self?.forgetSeen()
                for case .collection(let name) in objects {
                    self?.changed(.collection(name), ["Locked": .variant("b", .boolean(true))])
                }
            }
            return [.list(objects.map { .path($0.path) }), .path(SecretObject.none)]
        }
    }

    // MARK: - Prompts

    func show(_ number: UInt64, _ call: SecretCall) throws(SecretError) {
        let program = call.program
        guard let process = program.process, let prompt = program.prompts[number] else { throw .noSuchObject }
        guard prompt.cancellation == nil else { throw SecretError(.failed, "The prompt is shown already.") }
        let job = nextNumber()
        start(job, program, process, waits: true) { (keeper, process, cancellation) throws(Failure) in
            _ = try keeper.use(.unlock, for: process, cancellation)
        } _: { [weak self] result in
            program.running[job] = nil
            guard let self, program.prompts[number] != nil else { return }
            var isDone = if case .success = result { true } else { false }
            do throws(SecretError) { if isDone { try opened(prompt.objects, for: program) } } catch { isDone = false }
            completed(number, of: program, isDone ? prompt.objects : nil)
            if isDone {
                for case .collection(let name) in prompt.objects {
                    changed(.collection(name), ["Locked": .variant("b", .boolean(false))])
                }
            }
        }
        program.prompts[number]?.cancellation = program.running[job]
        answer(call.number, [])
    }

    func dismiss(_ number: UInt64, of program: CallingProgram) {
        program.prompts[number]?.cancellation.map(Self.cancel)
        completed(number, of: program, nil)
    }

    /// - Parameter objects: what was unlocked; nil if the prompt was dismissed.
    private func completed(_ number: UInt64, of program: CallingProgram, _ objects: [SecretObject]?) {
        guard program.prompts.removeValue(forKey: number) != nil else { return }
        let paths = (objects ?? []).map { BusValue.path($0.path) }
        bus.send(
            BusEvent(
                SecretObject.prompt(number).path, BusInterface.prompt.name, "Completed", "bv",
                [.boolean(objects == nil), .variant("ao", .list(paths))], to: program.name))
    }

    // MARK: - Secrets

    private func getSecrets(_ call: SecretCall) throws(SecretError) {
        guard call.arguments.count == 2, let paths = call.arguments[0].values else { throw .wrongArguments }
        let (object, session) = try session(call.arguments[1].text, call)
        let wanted = paths.compactMap { $0.text.flatMap { SecretObject(path: $0) } }
        // Those that do not exist, and those that are locked, are left out.
        let items = wanted.filter { item in
            guard case .item(_, let identifier) = item else { return false }
            return call.program.seen[identifier].map { !call.program.isLocked($0) } ?? true
        }
        read(items, object, session, call) { secrets in
            [.list(secrets.map { .list([.path($0.0.path), $0.1]) })]
        }
    }

    /// Reads the secrets of items, which may wait for the person, and encodes them for the session.
    func read(
        _ objects: [SecretObject], _ session: SecretObject, _ transfer: TransferSession, _ call: SecretCall,
        then: @escaping ([(SecretObject, BusValue)]) throws(SecretError) -> [BusValue]
    ) {
        var stored: [String] = []
        var temporary: [String] = []
        for case .item(let collection, let identifier) in objects {
            if collection == SecretObject.sessionCollection {
                temporary.append(identifier)
            } else if !stored.containsBytes(of: identifier) {
                stored.append(identifier)
            }
        }
        let held = sessionCollection
        work(call, waits: true, atOnce: stored.count == 1) {
            [stored, temporary] (keeper, process, cancellation) throws(Failure) in
            var items = temporary.compactMap { held.item($0, of: process) }
            var rest = stored[...]
            var bytes = 0
            while !rest.isEmpty {
                let part = Array(rest.prefix(Limits.secretsRead))
                rest = rest.dropFirst(part.count)
                let found = try keeper.use(.read(part), for: process, cancellation).map(KeptItem.init)
                bytes += found.reduce(0) { $0 + ($1.secret?.count ?? 0) }
                guard bytes <= Bound.answerBytes else {
                    throw Failure(.dataTooLarge, "These secrets are too long for one answer.")
                }
                items += found
            }
            var values: [(SecretObject, BusValue)] = []
            for item in items {
                guard let secret = item.secret else { throw .unexpectedReply }
                let value = try transfer.encode(secret, contentType: item.contentType, session: session.path)
                values.append((item.object, value))
            }
            return values
        } then: { (values) throws(SecretError) in
            try then(values)
        }
    }
}
