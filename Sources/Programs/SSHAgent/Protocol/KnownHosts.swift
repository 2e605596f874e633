// SPDX-License-Identifier: Apache-2.0

import KeyFormats
import LatchkeyCrypto

/// The entries of files of known hosts (sshd(8), SSH_KNOWN_HOSTS FILE FORMAT).
///
/// A name is shown only for a key that the user's own files give to it. Certificate authorities are not used, and
/// patterns name no host.
package struct KnownHosts: Sendable {
    private struct Entry: Sendable {
        var names: ArraySlice<UInt8>
        var key: ArraySlice<UInt8>
        var isRevoked: Bool
    }
    private var entries: [Entry] = []

    package init() {}

    /// Adds the lines of a file; ignores lines that it cannot use.
    package mutating func add(_ text: String) { add(Array(text.utf8)) }

    /// The same for a file that need not be text. Lines end as for ssh(1): a combining mark, or a separator of lines of
    /// Unicode, must not hide a key that is revoked.
    package mutating func add(_ bytes: [UInt8]) {
        let blanks = Array(" \t\r".utf8)
        for line in bytes.split(separator: UInt8(ascii: "\n")) {
            var fields = line.split(maxSplits: 4, whereSeparator: blanks.contains)[...]
            guard let first = fields.first, first.first != UInt8(ascii: "#") else { continue }
            var isRevoked = false
            if first.first == UInt8(ascii: "@") {
                guard first.elementsEqual("@revoked".utf8) else { continue }
                isRevoked = true
                fields = fields.dropFirst()
            }
            guard fields.count >= 3 else { continue }
            let (names, key) = (fields[fields.startIndex], fields[fields.startIndex + 2])
            entries.append(Entry(names: names, key: key, isRevoked: isRevoked))
        }
    }

    package func revokes(_ host: HostKey) -> Bool { matches(host).contains(where: \.isRevoked) }

    /// The name of the host that has the key; nil if no entry gives one.
    ///
    /// - Parameter candidates: names that the host may have. A hashed entry gives its name only if it is among them;
    ///   they decide nothing else, so they may come from the program that asks.
    package func name(of host: HostKey, candidates: [String]) -> String? {
        let entries = matches(host).filter { !$0.isRevoked }
        let plain = entries.flatMap { entry in
            entry.names.split(separator: UInt8(ascii: ",")).compactMap { name -> String? in
                let special = Array("|*?!".utf8)
                // A name that is not UTF-8 is not shown, like a hashed one.
                return name.contains(where: special.contains) ? nil : String(validating: name, as: UTF8.self)
            }
        }
        let isPlain = { (name: String) in plain.contains { $0.utf8.elementsEqual(name.utf8) } }
        if let name = candidates.first(where: isPlain) ?? plain.first { return name }
        return candidates.first { candidate in entries.contains { Self.isHash($0.names, of: candidate) } }
    }

    private func matches(_ host: HostKey) -> [Entry] {
        let key = Base64.standard.encode(host.plainBlob)
        return entries.filter { $0.key.elementsEqual(key.utf8) }
    }

    /// Whether the text is `|1|salt|hash`, and the hash is HMAC-SHA-1 of the name with the salt as key.
    private static func isHash(_ text: ArraySlice<UInt8>, of name: String) -> Bool {
        let parts = text.split(separator: UInt8(ascii: "|"), omittingEmptySubsequences: false)
        guard parts.count == 4, parts[0].isEmpty, parts[1].elementsEqual("1".utf8),
            let salt = Base64.standard.decode(parts[2]), let hash = Base64.standard.decode(parts[3]),
            // A failure of libcrypto gives no name.
            let code = try? hmacSHA1(key: salt, Array(name.utf8))
        else { return false }
        return code == hash
    }

    /// HMAC (RFC 2104) with SHA-1, which the format prescribes.
    private static func hmacSHA1(key: [UInt8], _ message: [UInt8]) throws -> [UInt8] {
        let sha1 = DigestAlgorithm.sha1
        let short = key.count > 64 ? try sha1.hash(key) : key
        let block = short + [UInt8](repeating: 0, count: 64 - short.count)
        return try sha1.hash(block.map { $0 ^ 0x5c } + sha1.hash(block.map { $0 ^ 0x36 } + message))
    }
}
