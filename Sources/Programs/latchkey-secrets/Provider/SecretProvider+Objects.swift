// SPDX-License-Identifier: Apache-2.0

import BusDrivers
import LatchkeyClient
import LatchkeyModel

/// The methods of collections and items, and the signals about them.
extension SecretProvider {
    func collection(_ name: String, _ call: SecretCall, _ method: String) throws(SecretError) {
        switch method {
        case "SearchItems":
            let pairs = try SecretPairs(bus: call.arguments.first)
            search(name, pairs, call) { items in [.list(items.map { .path($0.object.path) })] }
        case "CreateItem": try createItem(name, call)
        case "Delete": try deleteCollection(name, call)
        default: throw SecretError(.unknownMethod, "There is no method \(method).")
        }
    }

    private func deleteCollection(_ name: String, _ call: SecretCall) throws(SecretError) {
        guard !SecretObject.aliases.values.contains(name) else {
            throw SecretError(.notSupported, "This collection is always there.")
        }
        work(call, waits: true) { (keeper, process, cancellation) throws(Failure) in
            _ = try keeper.use(.deleteCollection(name), for: process, cancellation)
        } then: { [weak self] (_) throws(SecretError) in
            self?.forgetSeen()
            self?.signal(.service, "CollectionDeleted", SecretObject.collection(name).path)
            self?.invalidated(.service, "Collections")
            return [.path(SecretObject.none)]
        }
    }

    private func createItem(_ name: String, _ call: SecretCall) throws(SecretError) {
        guard call.arguments.count == 3, let sent = SentSecret(call.arguments[1]), let replaces = call.arguments[2].flag
        else { throw .wrongArguments }
        let properties = try ItemProperties(call.arguments[0], BusInterface.item)
        let session = try session(sent.session, call).1
        guard sent.contentType.utf8.count <= Limits.secretNameBytes else { throw .tooLong }
        let isTemporary = name == SecretObject.sessionCollection
        // Of two calls in a row that replace an item, the second one has the last word.
        work(call, waits: true, inOrder: true, atOnce: !sent.isLong) {
            (keeper, process, cancellation) throws(Failure) in
            let item = NewSecret(
                collection: name, label: properties.label ?? "", contentType: sent.contentType,
                pairs: properties.pairs ?? .none, secret: try sent.decoded(by: session))
            guard !isTemporary else { return (process, item, nil) }
            let made = try keeper.use(.store(item, replaces: replaces), for: process, cancellation).first
            return (process, item, try made.map(KeptItem.init))
        } then: { [weak self] (process, item, made: KeptItem?) throws(SecretError) in
            guard let self else { return [] }
            let stored =
                isTemporary ? try sessionCollection.store(item, replaces: replaces, for: process) : made
            guard let stored else { throw SecretError(.failed, "The item was not stored.") }
            forgetSeen()
            let isNew = stored.created == stored.modified
            signal(.collection(name), isNew ? "ItemCreated" : "ItemChanged", stored.object.path)
            if isNew { invalidated(.collection(name), "Items") }
            return [.path(stored.object.path), .path(SecretObject.none)]
        }
    }

    func item(_ collection: String, _ identifier: String, _ call: SecretCall, _ method: String) throws(SecretError) {
        switch method {
        case "Delete": deleteItem(collection, identifier, call)
        case "GetSecret":
            let (object, session) = try session(call.arguments.first?.text, call)
            if let seen = call.program.seen[identifier], call.program.isLocked(seen) {
                throw SecretError(.isLocked, "The item belongs to another program. Unlock it first.")
            }
            read([call.object], object, session, call) { (secrets) throws(SecretError) in
                guard let secret = secrets.first?.1 else { throw .noSuchObject }
                return [secret]
            }
        case "SetSecret":
            guard let sent = call.arguments.first.flatMap(SentSecret.init) else { throw .wrongArguments }
            let session = try session(sent.session, call).1
            guard sent.contentType.utf8.count <= Limits.secretNameBytes else { throw .tooLong }
            change(collection, identifier, call) { () throws(Failure) in
                SecretChanges(contentType: sent.contentType, secret: try sent.decoded(by: session))
            }
        default: throw SecretError(.unknownMethod, "There is no method \(method).")
        }
    }

    private func deleteItem(_ collection: String, _ identifier: String, _ call: SecretCall) {
        let isTemporary = collection == SecretObject.sessionCollection
        work(call, waits: true) { (keeper, process, cancellation) throws(Failure) in
            if !isTemporary { _ = try keeper.use(.delete(identifier), for: process, cancellation) }
            return process
        } then: { [weak self] (process) throws(SecretError) in
            guard let self else { return [] }
            if isTemporary { try sessionCollection.delete(identifier, for: process) }
            forgetSeen()
            signal(.collection(collection), "ItemDeleted", call.object.path)
            invalidated(.collection(collection), "Items")
            return [.path(SecretObject.none)]
        }
    }

    /// Changes an item, and answers the call without a value.
    func change(
        _ collection: String, _ identifier: String, _ call: SecretCall,
        _ changes: @escaping @Sendable () throws(Failure) -> SecretChanges
    ) {
        let isTemporary = collection == SecretObject.sessionCollection
        work(call, waits: true) { (keeper, process, cancellation) throws(Failure) in
            let changes = try changes()
            if !isTemporary { _ = try keeper.use(.change(identifier, changes), for: process, cancellation) }
            return (process, changes)
        } then: { [weak self] (process, changes) throws(SecretError) in
            guard let self else { return [] }
            if isTemporary { try sessionCollection.change(identifier, changes, for: process) }
            forgetSeen()
            signal(.collection(collection), "ItemChanged", call.object.path)
            // Their values are for programs that may read the item.
            if changes.label != nil { invalidated(call.object, "Label") }
            if changes.pairs != nil { invalidated(call.object, "Attributes") }
            return []
        }
    }

    // MARK: - Signals

    /// Sends a signal about an object to all programs. It names the object and nothing of its contents.
    func signal(_ object: SecretObject, _ member: String, _ path: String) {
        bus.send(BusEvent(object.path, object.interface.name, member, "o", [.path(path)]))
    }

    /// Says that a property has another value, without the value.
    func invalidated(_ object: SecretObject, _ property: String) {
        bus.send(
            BusEvent(
                object.path, BusInterface.propertyAccess.name, "PropertiesChanged", "sa{sv}as",
                [.string(object.interface.name), .list([]), .list([.string(property)])]))
    }

    /// Says which values properties have; to one program, or to all if it is nil.
    func changed(_ object: SecretObject, _ values: [String: BusValue], for program: CallingProgram? = nil) {
        let entries = values.map { BusValue.list([.string($0.key), $0.value]) }
        bus.send(
            BusEvent(
                object.path, BusInterface.propertyAccess.name, "PropertiesChanged", "sa{sv}as",
                [.string(object.interface.name), .list(entries), .list([])], to: program?.name))
    }
}

/// The properties that a program gives a new item or collection: `a{sv}`.
struct ItemProperties: Sendable {
    var label: String?
    var pairs: SecretPairs?

    /// - Parameter interface: whose properties they are. Others are ignored, as the specification says nothing about them.
    init(_ value: BusValue, _ interface: BusInterface) throws(SecretError) {
        for entry in value.values ?? [] {
            guard let pair = entry.values, pair.count == 2, let name = pair[0].text,
                case .variant(let type, let content) = pair[1]
            else { throw .wrongArguments }
            switch (name, type) {
            case (interface.name + ".Label", "s"): label = try content.label
            case (interface.name + ".Attributes", "a{ss}"): pairs = try SecretPairs(bus: content)
            case (interface.name + ".Label", _), (interface.name + ".Attributes", _): throw .wrongArguments
            default: break
            }
        }
    }
}

extension BusValue {
    /// A label, which is not too long.
    var label: String {
        get throws(SecretError) {
            guard let text else { throw .wrongArguments }
            guard text.utf8.count <= Limits.titleBytes else { throw .tooLong }
            return text
        }
    }
}

extension SecretPairs {
    /// The attributes `a{ss}` of an item or a search.
    init(bus value: BusValue?) throws(SecretError) {
        var pairs: [Pair] = []
        var bytes = 0
        for entry in value?.values ?? [] {
            guard let fields = entry.values, fields.count == 2, let name = fields[0].text, let value = fields[1].text
            else {
                throw .wrongArguments
            }
            bytes += name.utf8.count + value.utf8.count
            pairs.append(Pair(name, value))
        }
        guard pairs.count <= Limits.secretPairs, bytes <= Limits.secretPairBytes else { throw .tooLong }
        guard let made = SecretPairs(pairs) else {
            throw SecretError(.invalidArguments, "An attribute is given twice.")
        }
        self = made
    }

    var bus: BusValue { .list(all.map { .list([.string($0.name), .string($0.value)]) }) }
}
