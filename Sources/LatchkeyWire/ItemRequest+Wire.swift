// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel

extension CBORWriter {
    mutating func query(_ query: ItemQuery) {
        var count = 1
        if query.itemClass != nil { count += 1 }
        if query.accessibility != nil { count += 1 }
        if query.anySynchronizable { count += 1 }
        if query.persistentReference != nil { count += 1 }
        map(count)
        if let itemClass = query.itemClass {
            unsigned(0)
            unsigned(UInt64(itemClass.rawValue))
        }
        unsigned(1)
        attributes(query.attributes)
        if let accessibility = query.accessibility {
            unsigned(2)
            unsigned(UInt64(accessibility.rawValue))
        }
        if query.anySynchronizable {
            unsigned(3)
            boolean(true)
        }
        if let reference = query.persistentReference {
            unsigned(4)
            bytes(reference)
        }
    }

    mutating func prompting(_ prompting: Prompting) {
        map(2 + (prompting.fallbackTitle == nil ? 0 : 1) + (prompting.cancelTitle == nil ? 0 : 1))
        unsigned(0)
        text(prompting.reason)
        if let title = prompting.fallbackTitle {
            unsigned(1)
            text(title)
        }
        if let title = prompting.cancelTitle {
            unsigned(2)
            text(title)
        }
        unsigned(3)
        boolean(prompting.interactionAllowed)
    }

    mutating func authentication(_ authentication: Authentication) {
        map(2 + (authentication.context == nil ? 0 : 1) + (authentication.applicationPassword == nil ? 0 : 1))
        if let context = authentication.context {
            unsigned(0)
            bytes(context.bytes)
        }
        unsigned(1)
        boolean(authentication.skipsProtected)
        unsigned(2)
        prompting(authentication.prompting)
        if let password = authentication.applicationPassword {
            unsigned(3)
            bytes(password)
        }
    }
}

extension CBORReader {
    mutating func query() throws(WireError) -> ItemQuery {
        var query = ItemQuery(itemClass: nil)
        var attributes: Attributes?
        try map { (reader, key) throws(WireError) in
            switch key {
            case 0: query.itemClass = try reader.number() as ItemClass
            case 1: attributes = try reader.attributes()
            case 2: query.accessibility = try reader.number() as Accessibility
            case 3:
                query.anySynchronizable = try reader.boolean()
                // False is said by leaving the key out: no two byte strings stand for the same message.
                guard query.anySynchronizable else { throw .notCanonical }
            case 4: query.persistentReference = try reader.bytes(limit: 256)
            default: return false
            }
            return true
        }
        query.attributes = try required(attributes, 1)
        return query
    }

    mutating func prompting() throws(WireError) -> Prompting {
        var prompting = Prompting()
        var reason: String?
        var interactionAllowed: Bool?
        try map { (reader, key) throws(WireError) in
            switch key {
            case 0: reason = try reader.text(limit: Limits.titleBytes)
            case 1: prompting.fallbackTitle = try reader.text(limit: Limits.titleBytes)
            case 2: prompting.cancelTitle = try reader.text(limit: Limits.titleBytes)
            case 3: interactionAllowed = try reader.boolean()
            default: return false
            }
            return true
        }
        prompting.reason = try required(reason, 0)
        prompting.interactionAllowed = try required(interactionAllowed, 3)
        return prompting
    }

    mutating func authentication() throws(WireError) -> Authentication {
        var context: ContextHandle?
        var skipsProtected: Bool?
        var prompting: Prompting?
        var password: SecretBytes?
        try map { (reader, key) throws(WireError) in
            switch key {
            case 0: context = try reader.contextHandle()
            case 1: skipsProtected = try reader.boolean()
            case 2: prompting = try reader.prompting()
            case 3: password = try reader.secret(limit: Limits.passcodeBytes)
            default: return false
            }
            return true
        }
        return Authentication(
            context: context, skipsProtected: try required(skipsProtected, 1), prompting: try required(prompting, 2),
            applicationPassword: password)
    }

    fileprivate mutating func returns() throws(WireError) -> Returns {
        guard let raw = UInt8(exactly: try unsigned()) else { throw .invalidValue }
        let returns = Returns(rawValue: raw)
        guard returns.isSubset(of: .known) else { throw .invalidValue }
        return returns
    }
}

extension Request.AddItem {
    func write(to writer: inout CBORWriter) {
        writer.map(secret == nil ? 5 : 6)
        writer.unsigned(0)
        writer.unsigned(UInt64(itemClass.rawValue))
        writer.unsigned(1)
        writer.attributes(attributes)
        writer.unsigned(2)
        writer.accessControl(accessControl)
        if let secret {
            writer.unsigned(3)
            writer.bytes(secret)
        }
        writer.unsigned(4)
        writer.unsigned(UInt64(returns.rawValue))
        writer.unsigned(5)
        writer.authentication(authentication)
    }

    init(from reader: inout CBORReader) throws(WireError) {
        var itemClass: ItemClass?
        var attributes: Attributes?
        var accessControl: AccessControl?
        var secret: SecretBytes?
        var returns: Returns?
        var authentication: Authentication?
        try reader.map { (reader, key) throws(WireError) in
            switch key {
            case 0: itemClass = try reader.number() as ItemClass
            case 1: attributes = try reader.attributes()
            case 2: accessControl = try reader.accessControl()
            case 3: secret = try reader.secret()
            case 4: returns = try reader.returns()
            case 5: authentication = try reader.authentication()
            default: return false
            }
            return true
        }
        self.init(
            itemClass: try required(itemClass, 0), attributes: try required(attributes, 1),
            accessControl: try required(accessControl, 2), secret: secret, returns: try required(returns, 4),
            authentication: try required(authentication, 5))
    }
}

extension Request.CopyItems {
    func write(to writer: inout CBORWriter) {
        writer.map(4)
        writer.unsigned(0)
        writer.query(query)
        writer.unsigned(1)
        writer.unsigned(limit)
        writer.unsigned(2)
        writer.unsigned(UInt64(returns.rawValue))
        writer.unsigned(3)
        writer.authentication(authentication)
    }

    init(from reader: inout CBORReader) throws(WireError) {
        var query: ItemQuery?
        var limit: UInt64?
        var returns: Returns?
        var authentication: Authentication?
        try reader.map { (reader, key) throws(WireError) in
            switch key {
            case 0: query = try reader.query()
            case 1: limit = try reader.unsigned()
            case 2: returns = try reader.returns()
            case 3: authentication = try reader.authentication()
            default: return false
            }
            return true
        }
        self.init(
            query: try required(query, 0), limit: try required(limit, 1), returns: try required(returns, 2),
            authentication: try required(authentication, 3))
    }
}

extension Request.UpdateItems {
    func write(to writer: inout CBORWriter) {
        writer.map(3 + (accessControl == nil ? 0 : 1) + (secret == nil ? 0 : 1))
        writer.unsigned(0)
        writer.query(query)
        writer.unsigned(1)
        writer.attributes(changes)
        if let accessControl {
            writer.unsigned(2)
            writer.accessControl(accessControl)
        }
        if let secret {
            writer.unsigned(3)
            writer.bytes(secret)
        }
        writer.unsigned(4)
        writer.authentication(authentication)
    }

    init(from reader: inout CBORReader) throws(WireError) {
        var query: ItemQuery?
        var changes: Attributes?
        var accessControl: AccessControl?
        var secret: SecretBytes?
        var authentication: Authentication?
        try reader.map { (reader, key) throws(WireError) in
            switch key {
            case 0: query = try reader.query()
            case 1: changes = try reader.attributes()
            case 2: accessControl = try reader.accessControl()
            case 3: secret = try reader.secret()
            case 4: authentication = try reader.authentication()
            default: return false
            }
            return true
        }
        self.init(
            query: try required(query, 0), changes: try required(changes, 1), accessControl: accessControl,
            secret: secret, authentication: try required(authentication, 4))
    }
}
