// SPDX-License-Identifier: Apache-2.0

import LatchkeyKeychain
import LatchkeyModel

// What a program stores, changes and deletes, and the rules of new items.

extension SecretCall {
    func store(_ new: NewSecret, _ replaces: Bool) async throws(Failure) -> Reply {
        let control = try accessControl(ofNew: new.collection)
        let attributes: Attributes = [
            .label: .text(new.label), .contentType: .text(new.contentType), .pairs: .data(new.pairs.bytes),
        ]
        if replaces, new.pairs != .none {
            let same = try session.keychain().secretRows(
                query([.collection: .text(new.collection)], new.pairs), caller: session.caller
            ).filter { $0.secretPairs == new.pairs }
            var kept = same.first { $0.secretOwner.hasBytes(of: program.name) }
            if let kept {
                _ = try await update(kept, attributes, secret: new.secret)
            } else if let imported = same.first(where: { $0.secretOwner.hasBytes(of: importer) }),
                try await takeOver(imported, new, attributes, control)
            {
                kept = imported
            }
            if let kept { return .items(try rows([.identifier: .text(kept.secretIdentifier)]), more: false) }
        }
        let key: Attributes = [
            .collection: .text(new.collection), .identifier: .text(try newIdentifier()), .owner: .text(program.name),
        ]
        return try await add(attributes.merging(key), secret: new.secret, accessControl: control)
    }

    private var importer: String { session.service.parts.secretCallers?.importer ?? "" }

    /// Replaces an item that was copied from another keyring, which then belongs to the program, after the person agreed.
    ///
    /// Otherwise the program would have two items, of which it reads one without a question.
    ///
    /// - Parameter control: the access control of a new item, which the item gets if it demands nothing.
    /// - Returns: false if the person does not agree or cannot be asked. The program then stores an item of its own, for which it
    ///   needs no permission: many programs do not survive an error here.
    private func takeOver(
        _ imported: FoundItem, _ new: NewSecret, _ attributes: Attributes, _ control: AccessControl
    ) async throws(Failure) -> Bool {
        if case .never = try standing(imported) { return false }
        let demandsNothing = imported.accessControl.map { !$0.isProtected } ?? false
        do throws(Failure) {
            let context = try context()
            try await agree([imported], [imported], context, to: .replaceSecret)
            // Another program may have taken it over, or its attributes may be others, while the person was asked.
            let unchanged = query(
                [
                    .collection: .text(imported.secretCollection), .identifier: .text(imported.secretIdentifier),
                    .label: .text(imported.secretLabel), .owner: .text(importer),
                ], new.pairs)
            _ = try await session.update(
                Request.UpdateItems(
                    query: unchanged, changes: attributes.merging([.owner: .text(program.name)]),
                    accessControl: demandsNothing ? control : nil, secret: new.secret,
                    authentication: authentication(context, reason: "change the secret “\(imported.secretLabel)”")),
                call)
            return true
        } catch {
            // The caller has gone.
            guard !session.isClosed, error.status != .appCancel else { throw error }
            return false
        }
    }

    /// The access control of an item that is stored in a collection now.
    func accessControl(ofNew collection: String) throws(Failure) -> AccessControl {
        do throws(Failure) {
            return try self.collection(collection).accessControl ?? AccessControl()
        } catch {
            // The collection that exists always has a row only if it has an access control.
            guard collection.hasBytes(of: SecretService.login), error.status == .itemNotFound else { throw error }
            return AccessControl()
        }
    }

    func protectNew(_ collection: String, _ control: AccessControl) async throws(Failure) -> Reply {
        try await confirm("change what new secrets of programs demand")
        let key: Attributes = [.collection: .text(SecretRows.collections), .identifier: .text(collection)]
        if collection.hasBytes(of: SecretService.login), try rows(key).isEmpty {
            let attributes = key.merging([.label: .text(SecretService.loginLabel)])
            _ = try await add(attributes, secret: nil, accessControl: control)
            return .done
        }
        return try await update(try self.collection(collection), [:], accessControl: control)
    }

    /// Changes what an item demands. The person is asked, also if the program stored the item: a prompt that asks for a
    /// proof as for any change would not say that it is the last one.
    func protectItem(_ identifier: String, _ control: AccessControl) async throws(Failure) -> Reply {
        guard control.constraints.isDisjoint(with: [.applicationPassword, .privateKeyUsage]) else {
            throw Failure(.invalidParameter, "A secret of a program cannot have this access control.")
        }
        try session.checkBiometry(control)
        guard let item = try item(identifier) else { throw Failure(.itemNotFound, "There is no such item.") }
        if case .never = try standing(item) { throw Self.neverAnswered }
        let context = try context()
        let needsPasscode = try session.keychain().addNeedsPasscode(control)
        let change = " \(control.accessibility.rawValue) \(control.constraints.rawValue)"
        try await agree(
            [item], [item], context, to: .protectSecret, change, and: needsPasscode ? [[.passcode]] : [])
        // Not the one that another program has taken over, or named otherwise, while the person was asked. What it demands now is
        // proven in any case.
        let unchanged = query(
            [
                .collection: .text(item.secretCollection), .identifier: .text(identifier),
                .label: .text(item.secretLabel), .owner: .text(item.secretOwner),
            ], item.secretPairs)
        let reply = try await session.update(
            Request.UpdateItems(
                query: unchanged, changes: [:], accessControl: control, secret: nil,
                authentication: authentication(
                    context, reason: "change what is proven before “\(item.secretLabel)” is read")), call)
        let service = session.service
        try await service.parts.work.run(.oneItem) { () throws(Failure) in
            _ = service.withdrawGrants { $0.item.hasBytes(of: identifier) }
        }
        return reply
    }

    /// An item that the program stored, or that it may change or delete now because the person agrees: an answer “always”
    /// is for reads.
    ///
    /// - Returns: the item, and the context with what the person has proven; nil if they were not asked.
    func agreed(
        _ identifier: String, to purpose: PromptPurpose
    ) async throws(Failure) -> (item: FoundItem, context: ContextHandle?) {
        guard let item = try item(identifier) else { throw Failure(.itemNotFound, "There is no such item.") }
        guard !item.secretOwner.hasBytes(of: program.name) else { return (item, nil) }
        if case .never = try standing(item) { throw Self.neverAnswered }
        let context = try context()
        // A removal needs no proof of what the item demands, as that of every other item.
        try await agree([item], purpose == .deleteSecret ? [] : [item], context, to: purpose)
        return (item, context)
    }

    func change(_ identifier: String, _ changes: SecretChanges) async throws(Failure) -> Reply {
        let (item, context) = try await agreed(identifier, to: .changeSecret)
        var attributes: Attributes = [:]
        if let label = changes.label { attributes[.label] = .text(label) }
        if let pairs = changes.pairs { attributes[.pairs] = .data(pairs.bytes) }
        if let type = changes.contentType { attributes[.contentType] = .text(type) }
        return try await update(item, attributes, secret: changes.secret, context)
    }

    func delete(_ identifier: String) async throws(Failure) -> Reply {
        let (item, _) = try await agreed(identifier, to: .deleteSecret)
        _ = try await session.delete(
            query([.collection: .text(item.secretCollection), .identifier: .text(identifier)]))
        session.service.withdrawGrants { $0.item.hasBytes(of: identifier) }
        return .done
    }

    func createCollection(_ label: String) async throws(Failure) -> Reply {
        try await add(
            [
                .collection: .text(SecretRows.collections), .identifier: .text(try newIdentifier()),
                .label: .text(label), .owner: .text(program.name),
            ], secret: nil)
    }

    func deleteCollection(_ identifier: String) async throws(Failure) -> Reply {
        _ = try ownCollection(identifier)
        let items = try rows([.collection: .text(identifier)])
        guard items.allSatisfy({ $0.secretOwner.hasBytes(of: program.name) }) else {
            throw Failure(.notPermitted, "Other programs have stored items in this collection.")
        }
        for item in items { _ = try await delete(item.secretIdentifier) }
        return try await session.delete(
            query([.collection: .text(SecretRows.collections), .identifier: .text(identifier)]))
    }
}
