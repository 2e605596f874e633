// SPDX-License-Identifier: Apache-2.0

import LatchkeyCrypto
import LatchkeyModel
import TestPromises
import Testing

@testable import LatchkeyKeychain

/// Attacks by a program that sends one file to be verified and another one to be imported. It knows the recovery code, so
/// the other file authenticates.
@Suite struct ReplacedFileTests {
    private let header: BackupHeader
    private let code: RecoveryCode
    private let reader: BackupReader

    init() throws {
        header = try BackupHeader.make()
        code = try RecoveryCode.make()
        reader = try BackupReader(header, code)
    }

    private func items(_ accounts: [String], bytes: Int = 10) -> [FoundItem] {
        accounts.map { account in
            FoundItem(
                itemClass: .genericPassword, attributes: [.account: .text(account), .accessGroup: .text("app")],
                accessControl: AccessControl(), secret: SecretBytes([UInt8](repeating: 7, count: bytes)))
        }
    }

    /// A file of these items with the same salt and code as every other one.
    private func file(_ items: [FoundItem], hasEnd: Bool = true) throws -> [UInt8] {
        var writer = try BackupWriter(header, code)
        var bytes = header.bytes
        for item in items { bytes += try #require(try writer.record(item)) }
        return hasEnd ? bytes + (try writer.end()) : bytes
    }

    /// Verifies `first`, then imports `second` in pieces.
    private func `import`(
        _ first: [UInt8], then second: [UInt8], size: Int = 64 << 10
    ) throws -> (accounts: [String], refusal: Status?) {
        var backup = BackupImport(header, reader)
        #expect(try backup.feed(first, isLast: true) { _ in Issue.record("an item of the first pass") } == .wantsStart)
        var accounts: [String] = []
        do throws(Failure) {
            for start in stride(from: 0, to: max(second.count, 1), by: size) {
                let end = min(start + size, second.count)
                _ = try backup.feed(Array(second[start..<end]), isLast: end == second.count) { item in
                    if case .text(let account)? = item.attributes?[.account] { accounts.append(account) }
                }
            }
        } catch {
            return (accounts, error.status)
        }
        return (accounts, nil)
    }

    @Test(.promise("backup.verified"), arguments: [1, 64 << 10]) func anotherFileOfTheSameSaltAndCodeAddsNothing(
        size: Int
    ) throws {
        let first = try file(items(["one", "two"]))
        for others in [["evil", "two"], ["one", "evil"], ["one", "two", "evil"], ["one"], []] {
            let result = try `import`(first, then: file(items(others)), size: size)
            #expect(result.accounts.isEmpty && result.refusal == .storeUnreadable, "\(others)")
        }
        // The same items, sealed again: other bytes than those that were verified.
        #expect(try `import`(first, then: file(items(["one", "two"])), size: size).refusal == .storeUnreadable)
        #expect(try `import`(first, then: first, size: size) == (["one", "two"], nil))
    }

    @Test(.promise("backup.verified"), arguments: [1, 64 << 10]) func aFileThatIsCutInTheSecondPassAddsNothing(
        size: Int
    ) throws {
        let items = items(["one", "two", "three"])
        let first = try file(items)
        let beforeEnd = first.count - (try file([]).count - header.bytes.count)
        for count in [0, 10, header.bytes.count, beforeEnd, first.count - 1] {
            let result = try `import`(first, then: Array(first[..<count]), size: size)
            #expect(result.accounts.isEmpty && result.refusal == .storeUnreadable, "\(count) bytes")
        }
        let longer = try `import`(first, then: first + [0], size: size)
        #expect(longer.accounts.isEmpty && longer.refusal == .storeUnreadable)
    }

    /// Of a file with several segments, items are added before all of it was sent again; each is one of the verified file.
    @Test(.promise("backup.verified")) func noItemOfAReplacedSegmentOfALargeFileIsAdded() throws {
        let names = (0..<12).map { "item \($0)" }
        let first = try file(items(names, bytes: 100_000))
        #expect(first.count > 3 * BackupImport.segmentBytes)
        #expect(try `import`(first, then: first).accounts == names)
        for place in [0, BackupImport.segmentBytes, 2 * BackupImport.segmentBytes + 1, first.count - 1] {
            var second = first
            second[place] ^= 1
            let result = try `import`(first, then: second)
            #expect(result.refusal == .storeUnreadable, "byte \(place)")
            #expect(result.accounts == Array(names.prefix(result.accounts.count)))
            #expect(result.accounts.count * 100_000 <= place)
        }
        for count in [BackupImport.segmentBytes, 2 * BackupImport.segmentBytes] {
            let result = try `import`(first, then: Array(first[..<count]))
            // The last segment that was sent claims to be the end, so it is refused whole.
            #expect(result.refusal == .storeUnreadable && result.accounts.count * 100_000 < count)
        }
    }

    /// A segment that ends with the file is complete, although no byte follows it.
    @Test func aFileOfWholeSegmentsIsImported() throws {
        // A long secret has four bytes of length more than an empty one.
        let exact = BackupImport.segmentBytes - 4 - (try file(items(["a"], bytes: 0)).count)
        for (bytes, isWhole) in [(exact - 1, false), (exact, true), (exact + 1, false)] {
            let whole = try file(items(["a"], bytes: bytes))
            #expect((whole.count == BackupImport.segmentBytes) == isWhole, "\(whole.count) bytes")
            for size in [whole.count, 64 << 10, 1000] {
                #expect(try `import`(whole, then: whole, size: size) == (["a"], nil), "\(whole.count) bytes")
            }
        }
    }
}
