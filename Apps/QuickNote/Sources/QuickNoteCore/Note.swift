// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// A decrypted note.
public struct Note: Identifiable, Hashable, Sendable {
    /// Identifies the note.
    public let id: UUID
    /// The text.
    public var text: String
    /// When it was created.
    public let created: Date
    /// When it was last changed.
    public var modified: Date

    /// Creates a note.
    public init(id: UUID = UUID(), text: String, created: Date, modified: Date) {
        self.id = id
        self.text = text
        self.created = created
        self.modified = modified
    }

    /// The first line that is not blank, at most 80 characters; "New Note" when there is none.
    public var title: String {
        // Accepts every kind of line break, because pasted text may come from another system.
        let line = text.drop(while: \.isWhitespace).prefix(80).prefix { !$0.isNewline }
        return line.isEmpty ? "New Note" : line.trimmingCharacters(in: .whitespaces)
    }

    /// Whether the text contains each of these words, ignoring case and accents; true for no words.
    func matches(_ words: String) -> Bool {
        words.split(whereSeparator: \.isWhitespace).allSatisfy {
            text.range(of: $0, options: [.caseInsensitive, .diacriticInsensitive]) != nil
        }
    }

    // MARK: - Encoding

    /// Maximum size of a text in bytes: the limit of a keychain item less the overhead of sealing and header.
    static let textBytes = (1 << 20) - NoteCipher.overhead - headerBytes
    /// Size of the version byte and two dates.
    private static let headerBytes = 1 + 8 + 8

    /// Version 1, then both dates as milliseconds since 1970 (64 bits, big-endian), then the text as UTF-8.
    var encoded: Data {
        var data = Data([1])
        for date in [created, modified] {
            let milliseconds = Int64(exactly: (date.timeIntervalSince1970 * 1000).rounded()) ?? 0
            withUnsafeBytes(of: milliseconds.bigEndian) { data.append(contentsOf: $0) }
        }
        data.append(contentsOf: text.utf8)
        return data
    }

    /// Decodes the result of `encoded`; nil for anything else.
    init?(id: UUID, encoded data: Data) {
        let bytes = Array(data)
        guard bytes.count >= Self.headerBytes, bytes.first == 1,
            let text = String(validating: bytes[Self.headerBytes...], as: UTF8.self)
        else { return nil }
        func date(_ range: Range<Int>) -> Date {
            let milliseconds = bytes[range].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            return Date(timeIntervalSince1970: Double(Int64(bitPattern: milliseconds)) / 1000)
        }
        self.init(id: id, text: text, created: date(1..<9), modified: date(9..<17))
    }
}
