// SPDX-License-Identifier: Apache-2.0
//
// What holds for the texts that a relying party reads besides bodies of requests: lines of the list of revocations, headers,
// the configuration, and origins. No libFuzzer target: it would have the entry point of the program, too.

@testable import RelyingParty
@testable import RelyingPartyHTTP
@testable import latchkey_server

/// Readers of texts. The first byte of an input chooses one.
enum FuzzedSettings {
    /// Reads one input and describes how it violates a property; nil when it does not.
    static func complaint(about input: [UInt8]) -> String? {
        guard let choice = input.first else { return nil }
        let rest = Array(input.dropFirst())
        let text = String(decoding: rest, as: UTF8.self)
        return switch choice % 4 {
        case 0: complaint(aboutEntry: text)
        case 1: complaint(aboutHeaders: rest)
        case 2: complaint(aboutConfiguration: text)
        default: complaint(aboutOrigins: text)
        }
    }

    /// A line that is an entry is one line, and the same entry when it is written and read again.
    private static func complaint(aboutEntry text: String) -> String? {
        guard let entry = RevocationEntry(line: text) else { return nil }
        guard !entry.line.contains("\n") else { return "an entry has two lines" }
        return RevocationEntry(line: entry.line) == entry ? nil : "an entry is another one after it was written"
    }

    /// Headers with one meaning have names that are tokens, values without control characters, and those that decide once.
    private static func complaint(aboutHeaders bytes: [UInt8]) -> String? {
        let fields = bytes.split(separator: 0x0a).map { line in
            let parts = line.split(separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
            return (name: Array(parts[0]), value: parts.count > 1 ? Array(parts[1]) : [])
        }
        let headers = RequestHeaders(fields)
        guard headers.isClear else { return nil }
        for name in RequestHeaders.single where headers.values(name).count > 1 { return "\(name) has two values" }
        for (name, value) in fields {
            if name.isEmpty || name.contains(where: { $0 <= 0x20 || $0 >= 0x7f || $0 == UInt8(ascii: ",") }) {
                return "a name is no token"
            }
            if value.contains(where: { $0 < 0x20 && $0 != 0x09 || $0 == 0x7f }) { return "a value has a control" }
        }
        return nil
    }

    /// A configuration is refused with a message that is safe to show, or demands what keeps tokens off the network.
    private static func complaint(aboutConfiguration text: String) -> String? {
        do throws(Usage) {
            let configuration = try Configuration(text, [])
            guard configuration.tls != nil || configuration.address == .loopback else {
                return "a server without TLS listens to the network"
            }
            guard configuration.minimumTier != .tpm || configuration.endorsementRoots != nil else {
                return "only proofs are accepted, and none can be verified"
            }
            guard (1...600).contains(configuration.challengeSeconds) else { return "challenges live too long" }
            if case .file(let path) = configuration.storage, !path.hasPrefix("/") { return "the database has no place" }
            return nil
        } catch {
            let isShown = "\(error.message)\(error.hint)".unicodeScalars.allSatisfy { scalar in
                scalar == "\t" || scalar.properties.generalCategory != .control
            }
            return isShown ? nil : "a message has a control character"
        }
    }

    /// Each origin of a list is one when it is alone, and has no path and no second form.
    private static func complaint(aboutOrigins text: String) -> String? {
        do throws(Usage) {
            for origin in try PageOrigin.list(text) {
                guard try PageOrigin.list(origin) == [origin] else { return "an origin is a list" }
                guard origin.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f }), origin == origin.lowercased() else {
                    return "an origin has another form"
                }
                guard origin.utf8.count(where: { $0 == UInt8(ascii: "/") }) == 2 else { return "an origin has a path" }
            }
            return nil
        } catch { return nil }
    }
}
