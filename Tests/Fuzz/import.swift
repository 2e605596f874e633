// SPDX-License-Identifier: Apache-2.0
//
// libFuzzer target of the import of a backup, which reads a file twice in pieces: first to verify it, then for its
// items. An input is a recipe of letters and numbers for the files of both passes: records sealed with the right key,
// in any order, arbitrary bytes, changes and truncations, and the sizes of the pieces. `scripts/fuzz 60 import` runs
// it. The tests of LatchkeyBackup run the corpus and their own recipes.

import LatchkeyCrypto
import LatchkeyModel

@testable import LatchkeyKeychain

/// Imports the files that a recipe describes.
enum FuzzedImport {
    static let items = (0..<4).map { number in
        FoundItem(
            itemClass: number == 3 ? .key : .genericPassword,
            attributes: [.account: .text("account \(number)"), .accessGroup: .text("app")],
            accessControl: AccessControl(), secret: SecretBytes([UInt8](repeating: UInt8(number), count: number * 40)))
    }
    private static let header = BackupHeader(salt: [UInt8](repeating: 7, count: 16))

    /// Writers of two files with the same recovery code, and the reader of the first. Key stretching takes 100 ms, so
    /// all inputs share one code.
    private static let parts: (writer: BackupWriter, other: BackupWriter, reader: BackupReader)? = {
        let other = BackupHeader(salt: [UInt8](repeating: 8, count: 16))
        guard let code = try? RecoveryCode.make() else { return nil }
        return try? (BackupWriter(header, code), BackupWriter(other, code), BackupReader(header, code))
    }()

    /// A file after the edits of the recipe, and the original that the writer produced.
    struct File: Equatable {
        var bytes = FuzzedImport.header.bytes
        /// The original: the header and the records up to the last one, in order.
        var written = FuzzedImport.header.bytes
        /// The items of the original.
        var items: [FoundItem] = []
        var hasEnd = false

        /// Whether the original is complete and was not edited.
        var isGenuine: Bool { hasEnd && bytes == written }
    }

    /// The result of importing a file.
    private struct Outcome: Equatable {
        var items: [FoundItem] = []
        var isFinished = false
        var refusal: Status?
    }

    /// Imports the files of a recipe and describes how the result violates the property; nil when it does not.
    ///
    /// An edited file must be rejected without a trap. A genuine file must be imported, whatever the sizes of its
    /// pieces.
    static func complaint(about recipe: [UInt8]) -> String? {
        guard let parts else { return "a recovery code cannot be created" }
        var recipe = Recipe(rest: recipe[...], writer: parts.writer, other: parts.other)
        recipe.follow()
        guard let (first, second) = recipe.files else { return "a record cannot be sealed" }
        let whole = self.import(first, second, pieces: [Int.max], parts.reader)
        let pieces = self.import(first, second, pieces: recipe.pieces, parts.reader)
        guard whole == pieces else { return "pieces of \(recipe.pieces) bytes give another result than the whole" }
        guard first.isGenuine else {
            guard whole.items.isEmpty else { return "items of an unverified file are imported" }
            return whole.refusal == nil ? "an edited file is accepted" : nil
        }
        // Without the key, a file cannot contain items other than the written ones, in their order.
        guard whole.items.elementsEqual(second.items.prefix(whole.items.count)) else {
            return "imports items that were not written, or in a wrong order"
        }
        guard second.isGenuine else {
            // Every file of a recipe is smaller than a segment, so its first difference keeps all of its items out.
            guard whole.items.isEmpty else { return "items of a file that was not verified are imported" }
            return whole.refusal == nil ? "a file edited after verification is accepted" : nil
        }
        return whole == Outcome(items: first.items, isFinished: true) ? nil : "a genuine file is rejected"
    }

    /// Verifies the first file and imports the items of the second; they differ when the file is replaced in between.
    private static func `import`(
        _ first: File, _ second: File, pieces: [Int], _ reader: BackupReader
    ) -> Outcome {
        var (backup, outcome) = (BackupImport(header, reader), Outcome())
        for file in [first.bytes, second.bytes] {
            var (start, number) = (0, 0)
            repeat {
                let end = start + min(max(1, pieces[number % pieces.count]), file.count - start)
                do throws(Failure) {
                    let progress = try backup.feed(Array(file[start..<end]), isLast: end == file.count) {
                        outcome.items.append($0)
                    }
                    outcome.isFinished = progress == .finished
                } catch {
                    outcome.refusal = error.status
                    return outcome
                }
                (start, number) = (end, number + 1)
            } while start < file.count
        }
        return outcome
    }
}

/// Builds two files from a recipe: a list of letters, each followed by its numbers, one byte each.
///
/// - `i` n: appends the record of item n.
/// - `e`: appends the last record.
/// - `a` n: appends the record of item n from another file with the same code.
/// - `r` n: repeats the n-th record.
/// - `b` n, then n bytes: appends these bytes.
/// - `x` n m k: XORs byte n * 256 + m with k.
/// - `c` n m: truncates the file to n * 256 + m bytes.
/// - `p` n: feeds pieces of n bytes.
/// - `2`: the following edits change only the second file.
private struct Recipe {
    var rest: ArraySlice<UInt8>
    var writer: BackupWriter
    let other: BackupWriter
    var pieces: [Int] = []
    /// nil once sealing a record has failed.
    var files: (FuzzedImport.File, FuzzedImport.File)? = (FuzzedImport.File(), FuzzedImport.File())
    private var records: [[UInt8]] = []
    private var isSecond = false
    /// Longer files would find no other defects and would slow the fuzzer.
    private static let byteLimit = 8192

    init(rest: ArraySlice<UInt8>, writer: BackupWriter, other: BackupWriter) {
        self.rest = rest
        self.writer = writer
        self.other = other
    }

    private mutating func byte() -> Int { Int(rest.popFirst() ?? 0) }

    private mutating func item() -> FoundItem { FuzzedImport.items[byte() % FuzzedImport.items.count] }

    mutating func follow() {
        while let letter = rest.popFirst(), files != nil {
            switch letter {
            case UInt8(ascii: "i"): seal(item())
            case UInt8(ascii: "e"): seal(nil)
            case UInt8(ascii: "a"):
                var other = other
                if let record = (try? other.record(item())) ?? nil { append(record) } else { files = nil }
            case UInt8(ascii: "r"):
                let place = byte()
                if !records.isEmpty { append(records[place % records.count]) }
            case UInt8(ascii: "b"):
                let count = byte()
                append(Array(rest.prefix(count)))
                rest = rest.dropFirst(count)
            case UInt8(ascii: "x"):
                let (place, mask) = (byte() * 256 + byte(), UInt8(max(1, byte())))
                change { $0.bytes[place % $0.bytes.count] ^= mask }
            case UInt8(ascii: "c"):
                let place = byte() * 256 + byte()
                change { $0.bytes = Array($0.bytes.prefix(max(1, place % $0.bytes.count))) }
            case UInt8(ascii: "p"): pieces.append(byte())
            case UInt8(ascii: "2"): isSecond = true
            default: break
            }
        }
        if pieces.isEmpty { pieces = [1] }
    }

    /// Appends the sealed record of an item, or the last record for nil.
    private mutating func seal(_ item: FoundItem?) {
        guard let record = (try? item.map { try writer.record($0) } ?? writer.end()) ?? nil else {
            files = nil
            return
        }
        records.append(record)
        change { file in
            guard file.bytes.count < Self.byteLimit else { return }
            file.bytes += record
            guard !file.hasEnd else { return }
            file.written += record
            if let item { file.items.append(item) } else { file.hasEnd = true }
        }
    }

    private mutating func append(_ bytes: [UInt8]) {
        change { if $0.bytes.count < Self.byteLimit { $0.bytes += bytes } }
    }

    private mutating func change(_ body: (inout FuzzedImport.File) -> Void) {
        guard var (first, second) = files else { return }
        if !isSecond { body(&first) }
        body(&second)
        files = (first, second)
    }
}
