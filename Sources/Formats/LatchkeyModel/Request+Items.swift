// SPDX-License-Identifier: Apache-2.0

// The functions of `Security` on items, and the lists of items.

extension Request {
    /// `SecItemAdd`.
    package struct AddItem: ClientRequest {
        package typealias Response = [FoundItem]
        package static var operation: Operation { .addItem }
        package var traits: RequestTraits { .asks }
        /// The new item, if the request says what to return of it.
        package static func response(_ reply: Reply) -> [FoundItem]? {
            switch reply {
            case .items(let items, _): items
            case .done: []
            default: nil
            }
        }

        package var itemClass: ItemClass
        package var attributes: Attributes
        package var accessControl: AccessControl
        package var secret: SecretBytes?
        package var returns: Returns
        package var authentication: Authentication
        package init(
            itemClass: ItemClass, attributes: Attributes, accessControl: AccessControl, secret: SecretBytes?,
            returns: Returns, authentication: Authentication
        ) {
            self.itemClass = itemClass
            self.attributes = attributes
            self.accessControl = accessControl
            self.secret = secret
            self.returns = returns
            self.authentication = authentication
        }
    }

    /// `SecItemCopyMatching`.
    package struct CopyItems: ClientRequest {
        package typealias Response = [FoundItem]
        package static var operation: Operation { .copyItems }
        /// A context's handle belongs to the connection that broke.
        package var traits: RequestTraits { authentication.context == nil ? [.asks, .mayBeRepeated] : .asks }

        package var query: ItemQuery
        package var limit: MatchLimit
        package var returns: Returns
        package var authentication: Authentication
        package init(query: ItemQuery, limit: MatchLimit, returns: Returns, authentication: Authentication) {
            (self.query, self.limit, self.returns, self.authentication) = (query, limit, returns, authentication)
        }
    }

    /// `SecItemUpdate`.
    package struct UpdateItems: ClientRequest {
        package typealias Response = Void
        package static var operation: Operation { .updateItems }
        package var traits: RequestTraits { .asks }

        package var query: ItemQuery
        package var changes: Attributes
        package var accessControl: AccessControl?
        package var secret: SecretBytes?
        package var authentication: Authentication
        package init(
            query: ItemQuery, changes: Attributes, accessControl: AccessControl?, secret: SecretBytes?,
            authentication: Authentication
        ) {
            self.query = query
            self.changes = changes
            self.accessControl = accessControl
            self.secret = secret
            self.authentication = authentication
        }
    }

    /// `SecItemDelete`.
    package struct DeleteItems: ClientRequest {
        package typealias Response = Void
        package static var operation: Operation { .deleteItems }
        package var traits: RequestTraits { [] }

        package var query: ItemQuery
        package init(_ query: ItemQuery) { self.query = query }
    }

    /// Lists items of the access groups of the caller, without secrets.
    package struct ListItems: ClientRequest {
        package typealias Response = [FoundItem]
        package static var operation: Operation { .listItems }
        package var traits: RequestTraits { [.mayTakeLong, .mayBeRepeated] }

        package var query: ItemQuery
        package init(_ query: ItemQuery) { self.query = query }
    }

    /// Lists the items of all access groups; only in tiers that do not separate the programs of a user.
    package struct ListEverything: BareRequest {
        package typealias Response = [FoundItem]
        package static var operation: Operation { .listEverything }
        package var traits: RequestTraits { [.mayTakeLong, .mayBeRepeated] }

        package init() {}
    }

    /// Lists the names and access controls of the items of all access groups, after a finger, a face or the passcode at
    /// a prompt for that purpose.
    package struct ListNames: BareRequest {
        package typealias Response = [FoundItem]
        package static var operation: Operation { .listNames }
        package var traits: RequestTraits { .asks }

        package init() {}
    }
    /// Deletes one item of any access group that a list has named. In tiers that separate the programs of a user, after a
    /// finger, a face or the passcode at a prompt that names the item.
    package struct DeleteListed: ClientRequest {
        package typealias Response = Void
        package static var operation: Operation { .deleteListed }
        package var traits: RequestTraits { .asks }

        /// The persistent reference of the item.
        package var reference: [UInt8]
        package init(_ reference: [UInt8]) { self.reference = reference }
    }
}
