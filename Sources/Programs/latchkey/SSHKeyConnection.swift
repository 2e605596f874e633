// SPDX-License-Identifier: Apache-2.0

import LatchkeyClient
import LatchkeyModel
import SSHAgent

extension Client {
    /// The connection to the daemon for keys for SSH, which have an access group of their own where programs name their
    /// groups themselves.
    static let ssh = DaemonConnection(
        Client(
            ofDaemonFor: SSHKeyMark.application, groups: [SSHKeyMark.application],
            faceUsage: localized("Latchkey makes or deletes the key for SSH that you name.")))
}

extension SSHKeyMark {
    /// The query for the keys for SSH of this name; for all of them if it is nil.
    static func query(named name: String?) -> ItemQuery {
        var query = query
        if let name { query.attributes[.applicationTag] = .data(Array(name.utf8)) }
        return query
    }
}
