// SPDX-License-Identifier: Apache-2.0

import BusDrivers
import LatchkeyCrypto
import LatchkeyModel

/// Another provider of `org.freedesktop.secrets`.
struct OtherKeyring: Sendable {
    struct Item: Sendable {
        let path: String
        let label: String
        let pairs: SecretPairs
    }

    /// How long a person may take to unlock a collection.
    private static let promptMilliseconds: Int64 = 600_000

    private let conversation: BusConversation
    private let texts: SecretsTexts

    init(_ conversation: BusConversation, _ texts: SecretsTexts) {
        (self.conversation, self.texts) = (conversation, texts)
    }

    /// Calls a method of the provider.
    private func call(
        _ path: String, _ interface: String, _ member: String, _ signature: String, _ arguments: [BusValue]
    ) throws(Failure) -> [BusValue] {
        let call = BusCall(SecretProvider.name, path, interface, member, arguments, signature: signature)
        do throws(BusError) { return try conversation.call(call) } catch { throw texts.bus(error) }
    }

    private func property(_ path: String, _ interface: BusInterface, _ name: String) throws(Failure) -> BusValue {
        let answer = try call(
            path, BusInterface.propertyAccess.name, "Get", "ss", [.string(interface.name), .string(name)])
        guard let value = answer.first?.content else { throw texts.bus(.malformed) }
        return value
    }

    // MARK: - Collections

    /// The paths and labels of the collections, but that of the session.
    func collections() throws(Failure) -> [(path: String, label: String)] {
        let paths = try property(SecretObject.root, .service, "Collections").values ?? []
        var collections: [(String, String)] = []
        for path in paths.compactMap(\.text) where path != SecretObject.collection(SecretObject.sessionCollection).path
        {
            collections.append((path, try property(path, .collection, "Label").text ?? ""))
        }
        return collections
    }

    /// Whether a collection is the one of the alias `default` or of `login`.
    func isLogin(_ path: String) throws(Failure) -> Bool {
        for alias in ["login", "default"] {
            let answer = try call(SecretObject.root, BusInterface.service.name, "ReadAlias", "s", [.string(alias)])
            if answer.first?.text == path { return true }
        }
        return false
    }

    /// The collection of the alias `default`, or of `login`; nil if there is none.
    func login() throws(Failure) -> String? {
        for alias in ["default", "login"] {
            let answer = try call(SecretObject.root, BusInterface.service.name, "ReadAlias", "s", [.string(alias)])
            if let path = answer.first?.text, path != SecretObject.none { return path }
        }
        return nil
    }

    /// Makes a collection; the provider asks in its own prompt for what protects it.
    func createCollection(_ label: String, alias: String) throws(Failure) -> String {
        let name = BusValue.string(BusInterface.collection.name + ".Label")
        let properties = BusValue.list([.list([name, .variant("s", .string(label))])])
        let answer = try call(
            SecretObject.root, BusInterface.service.name, "CreateCollection", "a{sv}s", [properties, .string(alias)])
        guard answer.count == 2, let path = answer[0].text, let prompt = answer[1].text else {
            throw texts.bus(.malformed)
        }
        guard prompt != SecretObject.none else { return path }
        guard let made = try complete(prompt)?.content?.text, made != SecretObject.none else { throw texts.notMade }
        return made
    }

    /// Has the provider unlock a collection; it shows its own prompt.
    func unlock(_ path: String) throws(Failure) {
        guard try property(path, .collection, "Locked").flag == true else { return }
        let answer = try call(SecretObject.root, BusInterface.service.name, "Unlock", "ao", [.list([.path(path)])])
        guard answer.count == 2, let prompt = answer[1].text, prompt != SecretObject.none else { return }
        _ = try complete(prompt)
        guard try property(path, .collection, "Locked").flag == false else { throw texts.stillLocked }
    }

    /// Has the provider show a prompt, and waits for its end.
    ///
    /// - Returns: its result; nil if it was dismissed.
    private func complete(_ prompt: String) throws(Failure) -> BusValue? {
        let completed = Answer<BusSignal>()
        let rule =
            "type='signal',sender='\(SecretProvider.name)',path='\(prompt)',"
            + "interface='\(BusInterface.prompt.name)',member='Completed'"
        conversation.bus.run { [bus = conversation.bus] in bus.observe(rule) { completed.set($0) } }
        _ = try call(prompt, BusInterface.prompt.name, "Prompt", "s", [.string("")])
        guard let signal = completed.wait(milliseconds: Self.promptMilliseconds) else { throw texts.stillLocked }
        return signal.arguments.first?.flag == false ? signal.arguments.last : nil
    }

    // MARK: - Items

    func items(of collection: String) throws(Failure) -> [String] {
        (try property(collection, .collection, "Items").values ?? []).compactMap(\.text)
    }

    func item(_ path: String) throws(Failure) -> Item {
        let label = try property(path, .item, "Label").text ?? ""
        let value = try property(path, .item, "Attributes")
        do throws(SecretError) {
            return Item(path: path, label: label, pairs: try SecretPairs(bus: value))
        } catch {
            throw Failure(.dataTooLarge, "The attributes are too long.")
        }
    }

    /// Whether a collection has an item with that label and these pairs.
    ///
    /// A provider may add the pair of the schema to an item that was stored without one.
    func contains(_ item: KeptItem, in collection: String) throws(Failure) -> Bool {
        let found = try call(
            collection, BusInterface.collection.name, "SearchItems", "a{ss}", [item.pairs.bus])
        for path in (found.first?.values ?? []).compactMap(\.text) {
            let present = try self.item(path)
            let pairs = item.pairs.all.contains(where: \.isSchema) ? present.pairs : present.pairs.withoutSchema
            if pairs == item.pairs, present.label.hasBytes(of: item.label ?? "") { return true }
        }
        return false
    }

    /// Stores an item.
    func store(_ item: KeptItem, _ secret: SecretBytes, in collection: String, _ session: Session) throws(Failure) {
        let names = BusInterface.item.name
        let properties = BusValue.list([
            .list([.string(names + ".Label"), .variant("s", .string(item.label ?? ""))]),
            .list([.string(names + ".Attributes"), .variant("a{ss}", item.pairs.bus)]),
        ])
        let value = try session.transfer.encode(secret, contentType: item.contentType, session: session.path)
        let answer = try call(
            collection, BusInterface.collection.name, "CreateItem", "a{sv}(oayays)b",
            [properties, value, .boolean(false)])
        guard let prompt = answer.last?.text else { throw texts.bus(.malformed) }
        if prompt != SecretObject.none, try complete(prompt) == nil { throw texts.stillLocked }
    }

    /// Opens an encrypted session.
    func openSession() throws(Failure) -> Session {
        let agreement = try SecretTransferKey.Agreement()
        let answer = try call(
            SecretObject.root, BusInterface.service.name, "OpenSession", "sv",
            [
                .string(TransferSession.encryptedName),
                .variant("ay", .bytes(SecretBytes(agreement.publicKey))),
            ])
        guard answer.count == 2, let publicKey = answer[0].content?.octets, let path = answer[1].text,
            let key = try agreement.key(with: publicKey)
        else { throw texts.bus(.malformed) }
        return Session(path: path, transfer: .encrypted(key))
    }

    struct Session: Sendable {
        let path: String
        fileprivate let transfer: TransferSession
    }

    func secret(_ path: String, _ session: Session) throws(Failure) -> (contentType: String, secret: SecretBytes) {
        let answer = try call(path, BusInterface.item.name, "GetSecret", "o", [.path(session.path)])
        guard let sent = answer.first.flatMap(SentSecret.init) else { throw texts.bus(.malformed) }
        return (sent.contentType, try sent.decoded(by: session.transfer))
    }
}
