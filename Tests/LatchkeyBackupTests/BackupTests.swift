// SPDX-License-Identifier: Apache-2.0

import LatchkeyCrypto
import LatchkeyKeychain
import LatchkeyModel
import TestPromises
import Testing

/// A backup is read exactly as it was written; anything else is refused.
@Suite struct BackupTests {
    private static let items = (0..<3).map { number in
        FoundItem(
            itemClass: .genericPassword, attributes: [.account: .text("account \(number)")],
            accessControl: AccessControl(), secret: SecretBytes("secret \(number)".utf8))
    }
    private let code: RecoveryCode
    private let header: BackupHeader
    /// Returns the records with their prefixes.
    private let records: [[UInt8]]

    init() throws {
        code = try RecoveryCode.make()
        header = try BackupHeader.make()
        var writer = try BackupWriter(header, code)
        var records: [[UInt8]] = []
        for item in Self.items { records.append(try #require(try writer.record(item))) }
        records.append(try writer.end())
        self.records = records
    }

    private func read(_ records: [[UInt8]], _ header: BackupHeader, _ code: RecoveryCode) throws -> [FoundItem] {
        var reader = try BackupReader(header, code)
        var items: [FoundItem] = []
        for record in records {
            let prefix = Array(record.prefix(BackupReader.prefixBytes))
            let sealed = Array(record.dropFirst(BackupReader.prefixBytes))
            guard try reader.length(prefix) == sealed.count else { throw Failure(.malformedRequest) }
            guard let item = try reader.item(prefix, sealed) else { return items }
            items.append(item)
        }
        throw Failure(.malformedRequest, "no end")
    }

    @Test func writtenItemsAreRead() throws {
        #expect(try read(records, BackupHeader(header.bytes), code) == Self.items)
    }

    @Test func anotherCodeOpensNothing() throws {
        let other = try RecoveryCode.make()
        #expect(throws: Failure(.itemAuthenticationFailed)) { try read(records, header, other) }
    }

    @Test func noByteCanBeChanged() throws {
        for (number, record) in records.enumerated() {
            for index in [0, 1, 4, 5, 16, 17, record.count - 1] {
                var changed = records
                changed[number][index] ^= 1
                #expect(throws: Failure.self, "record \(number), byte \(index)") { try read(changed, header, code) }
            }
        }
        for index in 0..<BackupHeader.byteCount {
            var bytes = header.bytes
            bytes[index] ^= 1
            #expect(throws: Failure.self, "header byte \(index)") { try read(records, BackupHeader(bytes), code) }
        }
    }

    @Test func swappedOmittedAndRepeatedRecordsAreRefused() throws {
        let (a, b, c, end) = (records[0], records[1], records[2], records[3])
        for wrong in [[b, a, c, end], [a, c, end], [a, a, b, c, end], [a, b, end], [end], [a, b, c]] {
            #expect(throws: Failure.self) { try read(wrong, header, code) }
        }
    }

    /// Returns the items of a file that is fed in pieces of `size` bytes.
    private func stream(_ bytes: [UInt8], size: Int, _ header: BackupHeader? = nil) throws -> [FoundItem] {
        var stream = BackupStream(header ?? self.header, try BackupReader(self.header, code))
        var (items, start): ([FoundItem], Int) = ([], 0)
        repeat {
            let end = min(start + size, bytes.count)
            try stream.feed(Array(bytes[start..<end]), isLast: end == bytes.count) { items.append($0) }
            start = end
        } while start < bytes.count
        return items
    }

    @Test(arguments: [1, 7, 32, 33, 1000]) func piecesOfAnySizeAreReadAlike(_ size: Int) throws {
        #expect(try stream(header.bytes + records.joined(), size: size) == Self.items)
    }

    @Test func bytesAfterTheEndAreRefused() throws {
        let whole = header.bytes + records.joined()
        for extra in [[0], records[0], records[3]] {
            for size in [1, whole.count, whole.count + extra.count] {
                #expect(throws: Failure(.storeUnreadable)) { try stream(whole + extra, size: size) }
            }
        }
    }

    @Test func everyTruncatedFileIsRefused() throws {
        let whole = header.bytes + records.joined()
        for count in stride(from: 0, to: whole.count, by: 13) {
            #expect(throws: Failure.self, "\(count)") { try stream(Array(whole[..<count]), size: 64) }
        }
    }

    @Test func anotherHeaderIsRefused() throws {
        let other = try BackupHeader.make()
        #expect(throws: Failure.self) { try stream(header.bytes + records.joined(), size: 100, other) }
    }

    @Test func anItemLargerThanARecordIsLeftOut() throws {
        var writer = try BackupWriter(header, code)
        let large = FoundItem(
            itemClass: .genericPassword, attributes: [:], accessControl: AccessControl(),
            secret: SecretBytes(count: Limits.frameBytes) { _ in })
        #expect(try writer.record(large) == nil)
        #expect(try writer.record(Self.items[0]) != nil)
    }

    @Test(.promise("version.backup")) func aNewerVersionIsReported() {
        var bytes = header.bytes
        bytes[15] = 2
        #expect(throws: Failure(.unsupportedVersion)) { try BackupHeader(bytes) }
        #expect(throws: Failure(.invalidParameter)) { try BackupHeader(Array(bytes.dropLast())) }
    }

    @Test func anImpossibleRecordLengthIsRefused() throws {
        let reader = try BackupReader(header, code)
        #expect(throws: Failure.self) { try reader.length([0, 255, 255, 255, 255]) }
        #expect(throws: Failure.self) { try reader.length([2, 0, 0, 0, 1]) }
        #expect(throws: Failure.self) { try reader.length([0, 0]) }
    }
}

/// Recovery codes as they are shown and typed.
@Suite struct RecoveryCodeTests {
    @Test func aCodeIsReadAsShownAndAsTyped() throws {
        for _ in 0..<100 {
            let code = try RecoveryCode.make()
            let shown = String(decoding: code.grouped.copyBytes(), as: UTF8.self)
            #expect(shown.count == 30 && shown.split(separator: "-").map(\.count) == [5, 5, 5, 5, 6], "\(shown)")
            let ways = [
                shown, shown.lowercased(), shown.replacing("-", with: " "), shown.replacing("-", with: "") + "\n",
                shown.replacing("0", with: "O").replacing("1", with: "l"),
            ]
            for way in ways {
                #expect(RecoveryCode(typed: SecretBytes(way.utf8))?.characters == code.characters, "\(way)")
            }
        }
    }

    @Test func singleTypingErrorsAreDetected() throws {
        let code = try RecoveryCode.make().characters.copyBytes()
        let alphabet = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ".utf8)
        var missed = 0
        for index in code.indices {
            for letter in alphabet where letter != code[index] {
                var slip = code
                slip[index] = letter
                if RecoveryCode(typed: SecretBytes(slip)) != nil { missed += 1 }
            }
        }
        // The sum of 32 values modulo 31: only the first and the last letter have the same value.
        #expect(missed <= code.count)
        #expect(RecoveryCode(typed: SecretBytes(code.dropLast())) == nil)
        #expect(RecoveryCode(typed: SecretBytes(code + [0x30])) == nil)
        #expect(RecoveryCode(typed: SecretBytes("".utf8)) == nil)
        #expect(RecoveryCode(typed: SecretBytes(code.dropLast() + [0x55])) == nil, "U is not in the alphabet")
    }
}
