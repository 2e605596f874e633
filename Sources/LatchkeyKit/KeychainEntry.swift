// SPDX-License-Identifier: Apache-2.0

import Foundation
import Security

/// Which keychain item is meant: the part of it that tells items apart.
public struct KeychainEntry: Hashable, Sendable {
    private enum Class: Hashable, Sendable {
        case generic(service: String)
        case internet(server: String, port: Int, path: String, scheme: Scheme)
    }

    /// A protocol of internet passwords.
    public enum Scheme: Hashable, Sendable, CaseIterable {
        /// HTTP.
        case http
        /// HTTP over TLS.
        case https
        /// FTP.
        case ftp
        /// IMAP.
        case imap
        /// LDAP.
        case ldap
        /// SMTP.
        case smtp
        /// SSH.
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
    /// The account name.
    public let account: String

    private init(_ itemClass: Class, _ account: String) {
        self.itemClass = itemClass
        self.account = account
    }

    /// A password of any kind. Apple: `kSecClassGenericPassword`.
    ///
    /// - Parameters:
    ///   - service: what the password is for, such as "unlockPassword".
    ///   - account: whose, such as a user name.
    public static func password(service: String, account: String) -> KeychainEntry {
        KeychainEntry(.generic(service: service), account)
    }

    /// A password of a server. Apple: `kSecClassInternetPassword`.
    ///
    /// Every part of the primary key is named, with "" for the realm and the default way to authenticate: a query that
    /// leaves parts out matches items of other ports and paths too, and would change or delete them as well.
    ///
    /// - Parameters:
    ///   - server: host name or address.
    ///   - account: user name.
    ///   - port: 1 to 65,535; 0 for the one that the protocol has.
    ///   - path: path on the server; "" for all of it.
    ///   - scheme: protocol.
    public static func internetPassword(
        server: String, account: String, port: Int = 0, path: String = "", scheme: Scheme = .https
    ) -> KeychainEntry {
        KeychainEntry(.internet(server: server, port: port, path: path, scheme: scheme), account)
    }

    /// The query that finds the item and no other.
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

    /// What every query holds: macOS has two keychains, and only this one knows access control.
    static var base: [String: Any] { [kSecUseDataProtectionKeychain as String: true] }
}
