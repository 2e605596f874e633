// SPDX-License-Identifier: Apache-2.0

import LatchkeyDesktop
import LatchkeyModel

/// Where a password is used, as the attributes of an internet password: protocol, server, port and path.
struct CredentialPlace: Equatable {
    /// The name of the protocol in a URL, such as `https`; empty if there is none.
    private let scheme: String
    private let server: String
    /// 0 if there is none.
    private let port: Int64
    /// What follows the server, with the slash at its beginning; or the path of git, which has none.
    private let path: String

    /// The attribute of a protocol where Apple's is not its name.
    private static let codes = ["https": "htps", "ftp": "ftp ", "imaps": "imps", "ssh": "ssh "]

    /// A place of git.
    ///
    /// - Parameter host: the name of a host, with or without a port.
    init(scheme: String, host: String, path: String) {
        (self.scheme, self.path) = (scheme, path)
        (server, port) = Self.parts(host)
    }

    /// The place of a URL, or of any other text, which is a server as a whole then.
    init(url: String) {
        let scheme = url.firstRange(of: "://").map { String(url[..<$0.lowerBound]) } ?? ""
        let rest = scheme.isEmpty ? url[...] : url.dropFirst(scheme.count + 3)
        let host = rest.prefix { $0 != "/" }
        let place = CredentialPlace(scheme: scheme, host: String(host), path: String(rest[host.endIndex...]))
        guard place.url.hasBytes(of: url) else {
            (self.scheme, server, port, path) = ("", url, 0, "")
            return
        }
        self = place
    }

    /// The place of an item.
    init(_ item: FoundItem) {
        let code = item.text(.networkProtocol)
        scheme = Self.codes.first { $0.value == code }?.key ?? (code.ends(with: ":") ? String(code.dropLast()) : code)
        server = item.text(.server)
        path = item.text(.path)
        if case .number(let number) = item.attributes?[.port] { port = number } else { port = 0 }
    }

    /// The name of a host, and its port. Every text has one only form: a port with a zero before it is a part of the name.
    private static func parts(_ host: String) -> (server: String, port: Int64) {
        let parts = host.parts(at: ":", omittingEmpty: false)
        guard let last = parts.last, parts.count > 1, let port = UInt16(last), port > 0, String(port).hasBytes(of: last)
        else { return (host, 0) }
        let server = String(host.utf8.dropLast(last.utf8.count + 1)) ?? ""
        // Otherwise the port would be the end of an address of IPv6.
        guard !server.isEmpty, parts.count == 2 || server.ends(with: "]") else { return (host, 0) }
        return (server, Int64(port))
    }

    /// Every attribute of the place, also an empty one: a password for a path is not one for the whole server.
    var attributes: Attributes {
        // A protocol that has the name of another one's code.
        let code = Self.codes[scheme] ?? (Self.codes.values.contains(scheme) ? scheme + ":" : scheme)
        return [
            .server: .text(server), .networkProtocol: .text(code), .port: .number(port), .path: .text(path),
        ]
    }

    /// The text of which the place was made, or the URL of a place of git.
    var url: String {
        (scheme.isEmpty ? "" : scheme + "://") + server + (port == 0 ? "" : ":\(port)")
            + (path.isEmpty || path.begins(with: "/") ? path : "/" + path)
    }
}
