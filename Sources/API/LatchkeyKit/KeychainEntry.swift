// SPDX-License-Identifier: Apache-2.0

import Foundation
import Security

/// Identifies one keychain item by the attributes of its primary key.
public struct KeychainEntry: Hashable, Sendable {
    private enum Class: Hashable, Sendable {
        case generic(service: String)
        case internet(server: String, port: Int, path: String, scheme: Scheme)
    }

    /// The protocol of an internet password. Apple: `kSecAttrProtocol`.
    public enum Scheme: Hashable, Sendable, CaseIterable {
        /// HTTP without encryption. Apple: `kSecAttrProtocolHTTP`.
        case http
        /// HTTP over TLS. Apple: `kSecAttrProtocolHTTPS`.
        case https
        /// The File Transfer Protocol. Apple: `kSecAttrProtocolFTP`.
        case ftp
        /// The Internet Message Access Protocol. Apple: `kSecAttrProtocolIMAP`.
        case imap
        /// The Lightweight Directory Access Protocol. Apple: `kSecAttrProtocolLDAP`.
        case ldap
        /// The Simple Mail Transfer Protocol. Apple: `kSecAttrProtocolSMTP`.
        case smtp
        /// The Secure Shell protocol. Apple: `kSecAttrProtocolSSH`.
        case ssh

        var constant: CFString {
            switch self {
            case .http: kSecAttrProtocolHTTP
            case .https: kSecAttrProtocolHTTPS
            case .ftp: kSecAttrProtocolFTP
            case .imap: kSecAttrProtocolIMAP
            case .ldap: kSecAttrProtocolLDAP
            case .smtp: kSecAttrProtocolSMTP
            case .ssh: kSecAttrProtocolSSH
            }
        }
    }

    private let itemClass: Class
    /// The name of the account. Apple: `kSecAttrAccount`.
    public let account: String

    private init(_ itemClass: Class, _ account: String) {
        self.itemClass = itemClass
        self.account = account
    }

    /// Identifies a generic password. Apple: `kSecClassGenericPassword`.
    ///
    /// - Parameters:
    ///   - service: what the password is used for, such as "unlockPassword". Apple: `kSecAttrService`.
    ///   - account: the name of the account, such as a user name.
    /// - Returns: the entry.
    public static func password(service: String, account: String) -> KeychainEntry {
        KeychainEntry(.generic(service: service), account)
    }

    /// Identifies the password of a server. Apple: `kSecClassInternetPassword`.
    ///
    /// The query contains every attribute of the primary key, with "" for the security domain and the default
    /// authentication type. A query without them would also match, change and delete items of other ports and paths.
    ///
    /// - Parameters:
    ///   - server: host name or address.
    ///   - account: user name.
    ///   - port: 1 to 65,535; 0 for the default port of the protocol.
    ///   - path: path on the server; "" for all paths.
    ///   - scheme: the protocol.
    /// - Returns: the entry.
    public static func internetPassword(
        server: String, account: String, port: Int = 0, path: String = "", scheme: Scheme = .https
    ) -> KeychainEntry {
        KeychainEntry(.internet(server: server, port: port, path: path, scheme: scheme), account)
    }

    /// The query that matches this item and no other.
    var query: [String: Any] {
        var query = Self.base
        query[kSecAttrAccount as String] = account
        switch itemClass {
        case .generic(let service):
            query[kSecClass as String] = kSecClassGenericPassword
            query[kSecAttrService as String] = service
        case .internet(let server, let port, let path, let scheme):
            query[kSecClass as String] = kSecClassInternetPassword
            query[kSecAttrServer as String] = server
            query[kSecAttrPort as String] = port
            query[kSecAttrPath as String] = path
            query[kSecAttrProtocol as String] = scheme.constant
            query[kSecAttrSecurityDomain as String] = ""
            query[kSecAttrAuthenticationType as String] = kSecAttrAuthenticationTypeDefault
        }
        return query
    }

    /// The base of all queries. macOS has two keychains, and only the data protection keychain has access controls.
    static var base: [String: Any] { [kSecUseDataProtectionKeychain as String: true] }
}
