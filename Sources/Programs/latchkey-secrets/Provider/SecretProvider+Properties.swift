// SPDX-License-Identifier: Apache-2.0

import BusDrivers
import LatchkeyClient
import LatchkeyModel

/// `org.freedesktop.DBus.Properties`.
extension SecretProvider {
    func property(_ call: SecretCall, _ method: String) throws(SecretError) {
        let interface = try interface(call)
        guard method != "GetAll" else {
            return try values(of: call, interface, interface.properties) { (values) throws(SecretError) in
                [.list(zip(interface.properties, values).map { .list([.string($0.name), .variant($0.type, $1)]) })]
            }
        }
        guard call.arguments.count > 1, let name = call.arguments[1].text,
            let property = interface.properties.first(where: { $0.name.hasBytes(of: name) })
        else { throw SecretError(.unknownProperty, "This object has no such property.") }
        guard method == "Set" else {
            return try values(of: call, interface, [property]) { (values) throws(SecretError) in
                guard let value = values.first else { throw .noSuchObject }
                return [.variant(property.type, value)]
            }
        }
        guard property.isWritable else { throw SecretError(.readOnly, "This property cannot be changed.") }
        guard case .variant(let type, let value)? = call.arguments.last, type.hasBytes(of: property.type) else {
            throw .wrongArguments
        }
        try set(property.name, value, call)
    }

    private func interface(_ call: SecretCall) throws(SecretError) -> BusInterface {
        guard let name = call.arguments.first?.text else { throw .wrongArguments }
        // An empty name is that of every interface; only one of them has properties.
        let interfaces = [call.object.interface] + (name.isEmpty ? [] : BusInterface.common)
        guard let interface = interfaces.first(where: { name.isEmpty || $0.name.hasBytes(of: name) }) else {
            throw SecretError(.unknownInterface, "This object has no interface \(name).")
        }
        return interface
    }

    // MARK: - Reading

    /// Passes the values of properties to `then`, in their order.
    private func values(
        of call: SecretCall, _ interface: BusInterface, _ properties: [BusInterface.Property],
        then: @escaping ([BusValue]) throws(SecretError) -> [BusValue]
    ) throws(SecretError) {
        guard !properties.isEmpty else { return answer(call.number, try then([])) }
        switch call.object {
        case .service:
            collections(call) { (collections, _) throws(SecretError) in
                try then([.list(collections.map { .path(SecretObject.collection($0.identifier).path) })])
            }
        case .collection(let name): collectionValues(name, call, properties, then: then)
        case .item(let collection, let identifier):
            item(collection, identifier, call) { (item, isLocked) throws(SecretError) in
                try then(properties.map { property in Self.value(property.name, item, isLocked) })
            }
        // They have no properties.
        case .session, .prompt: throw .noSuchObject
        }
    }

    private static func value(_ property: String, _ item: KeptItem, _ isLocked: Bool) -> BusValue {
        switch property {
        case "Locked": .boolean(isLocked)
        case "Attributes": item.pairs.bus
        case "Label": .string(item.label ?? "")
        case "Type":
            .string(item.pairs.all.first { $0.name == SecretPairs.schema }?.value ?? "org.freedesktop.Secret.Generic")
        case "Created": .integer(item.created)
        default: .integer(item.modified)
        }
    }

    /// All collections, with `login` and `session`.
    private func collections(
        _ call: SecretCall,
        then: @escaping ([SecretCollection], _ isLocked: Bool) throws(SecretError) -> [BusValue]
    ) {
        work(call) { (keeper, process, cancellation) throws(Failure) in
            let found = try keeper.use(.collections, for: process, cancellation).map(KeptItem.init)
            return (found, try keeper.isLocked())
        } then: { [weak self] (found, isLocked) throws(SecretError) in
            guard let self else { return [] }
            var all = found.map(SecretCollection.init)
            if !all.contains(where: { $0.identifier == SecretService.login }) {
                all.insert(SecretCollection(SecretService.login, SecretService.loginLabel), at: 0)
            }
            var temporary = SecretCollection(SecretObject.sessionCollection, "Session")
            (temporary.created, temporary.modified) = (sessionCollection.created, sessionCollection.modified)
            return try then(all + [temporary], isLocked)
        }
    }

    private func collectionValues(
        _ name: String, _ call: SecretCall, _ properties: [BusInterface.Property],
        then: @escaping ([BusValue]) throws(SecretError) -> [BusValue]
    ) {
        let wantsItems = properties.contains { $0.name == "Items" }
        let isTemporary = name == SecretObject.sessionCollection
        work(call) { (keeper, process, cancellation) throws(Failure) in
            let collections = try keeper.use(.collections, for: process, cancellation).map(KeptItem.init)
            guard
                name == SecretService.login || isTemporary
                    || collections.contains(where: { $0.identifier.hasBytes(of: name) })
            else { throw Failure(.itemNotFound, "There is no such collection.") }
            let items =
                wantsItems && !isTemporary
                ? try keeper.use(.search(collection: name, .none), for: process, cancellation).map(KeptItem.init) : []
            return (process, collections, items, try keeper.isLocked())
        } then: { [weak self] (process, collections, found, isLocked) throws(SecretError) in
            guard let self else { return [] }
            var collection =
                collections.first { $0.identifier.hasBytes(of: name) }.map(SecretCollection.init)
                ?? SecretCollection(name, isTemporary ? "Session" : SecretService.loginLabel)
            if isTemporary {
                (collection.created, collection.modified) = (sessionCollection.created, sessionCollection.modified)
            }
            let items = isTemporary ? sessionCollection.items(of: process) : found
            call.program.remember(found)
            return try then(
                properties.map { property in
                    switch property.name {
                    case "Items": .list(items.map { .path($0.object.path) })
                    case "Label": .string(collection.label)
                    case "Locked": .boolean(isLocked && !isTemporary)
                    case "Created": .integer(collection.created)
                    default: .integer(collection.modified)
                    }
                })
        }
    }

    /// Passes an item to `then`: one that the program has seen, or else one that it may see.
    private func item(
        _ collection: String, _ identifier: String, _ call: SecretCall,
        then: @escaping (KeptItem, _ isLocked: Bool) throws(SecretError) -> [BusValue]
    ) {
        let seen = call.program.seen[identifier]
        let isTemporary = collection == SecretObject.sessionCollection
        work(call) { (keeper, process, cancellation) throws(Failure) in
            guard !isTemporary else { return (process, [KeptItem](), false) }
            let isLocked = try keeper.isLocked()
            if let seen { return (process, [seen], isLocked) }
            let found = try keeper.use(.search(collection: collection, .none), for: process, cancellation)
            return (process, try found.map(KeptItem.init), isLocked)
        } then: { [weak self] (process, items, isLocked) throws(SecretError) in
            if isTemporary {
                guard let item = self?.sessionCollection.item(identifier, of: process) else { throw .noSuchObject }
                return try then(item, false)
            }
            call.program.remember(items)
            guard
                let item = items.first(where: {
                    $0.identifier.hasBytes(of: identifier) && $0.collection.hasBytes(of: collection)
                })
            else { throw .noSuchObject }
            return try then(item, isLocked || call.program.isLocked(item))
        }
    }

    // MARK: - Writing

    private func set(_ property: String, _ value: BusValue, _ call: SecretCall) throws(SecretError) {
        switch (call.object, property) {
        case (.collection(let name), "Label"):
            let label = try value.label
            guard name != SecretObject.sessionCollection else {
                throw SecretError(.notSupported, "This collection has no other label.")
            }
            work(call) { (keeper, process, cancellation) throws(Failure) in
                _ = try keeper.use(.renameCollection(name, label: label), for: process, cancellation)
            } then: { [weak self] (_) throws(SecretError) in
                self?.signal(.service, "CollectionChanged", call.object.path)
                self?.invalidated(call.object, "Label")
                return []
            }
        case (.item(let collection, let identifier), "Label"):
            let label = try value.label
            change(collection, identifier, call) { SecretChanges(label: label) }
        case (.item(let collection, let identifier), "Attributes"):
            let pairs = try SecretPairs(bus: value)
            change(collection, identifier, call) { SecretChanges(pairs: pairs) }
        default: throw SecretError(.readOnly, "This property cannot be changed.")
        }
    }
}

/// A collection as the bus shows it.
struct SecretCollection: Sendable {
    let identifier: String
    let label: String
    /// Seconds since 1970; 0 if no item was stored yet.
    var created: Int64 = 0
    var modified: Int64 = 0

    init(_ identifier: String, _ label: String) { (self.identifier, self.label) = (identifier, label) }

    init(_ item: KeptItem) {
        self.init(item.identifier, item.label ?? "")
        (created, modified) = (item.created, item.modified)
    }
}
