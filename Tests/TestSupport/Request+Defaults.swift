// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel

// Requests in which a test says only what it is about.

extension ItemQuery {
    /// The password of an account.
    package static func password(_ account: String) -> ItemQuery {
        ItemQuery(itemClass: .genericPassword, attributes: [.account: .text(account)])
    }
}

extension Request.AddItem {
    /// A password.
    package init(
        attributes: Attributes = [:], accessControl: AccessControl = AccessControl(), secret: SecretBytes? = nil,
        returns: Returns = [], authentication: Authentication = Authentication()
    ) {
        self.init(
            itemClass: .genericPassword, attributes: attributes, accessControl: accessControl, secret: secret,
            returns: returns, authentication: authentication)
    }
}

extension Request.CopyItems {
    package init(
        _ query: ItemQuery = ItemQuery(itemClass: .genericPassword), limit: MatchLimit = .one,
        returns: Returns = .data, authentication: Authentication = Authentication()
    ) {
        self.init(query: query, limit: limit, returns: returns, authentication: authentication)
    }
}

extension Request.UpdateItems {
    package init(
        _ query: ItemQuery = ItemQuery(itemClass: .genericPassword), changes: Attributes = [:],
        accessControl: AccessControl? = nil, secret: SecretBytes? = nil,
        authentication: Authentication = Authentication()
    ) {
        self.init(
            query: query, changes: changes, accessControl: accessControl, secret: secret,
            authentication: authentication)
    }
}

extension Request {
    package static func evaluate(
        _ context: ContextHandle, _ policy: Policy = .deviceOwnerAuthentication
    ) -> Request {
        .evaluate(Evaluate(context: context, policy: policy, prompting: Prompting()))
    }

    package static func setPasscode(_ passcode: String) -> Request { .passcode(.set(SecretBytes(passcode.utf8))) }
}
