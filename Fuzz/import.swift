// SPDX-License-Identifier: Apache-2.0
//
// libFuzzer target for importing a backup, whose file is fed twice: first to be verified, then for its items. An
// input is a
// recipe of letters and numbers for two files: records sealed with the right key, in order or not, raw bytes, changes
// and
// cuts, and the sizes of the pieces. `scripts/fuzz 60 import` runs it. The tests of LatchkeyBackup compile this file
// too
// (through a link) and replay the corpus and random recipes.
//

import LatchkeyModel

@testable import LatchkeyBackup

#if FUZZER
/// Called by libFuzzer with each input; a violated property ends the process.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let recipe = Array(UnsafeBufferPointer(start: start, count: count))
    if let complaint = FuzzedImport.complaint(about: recipe) { fatalError(complaint) }
    return 0
}
#endif

/// Imports files made by a recipe.
enum FuzzedImport {
    static let items = (0..<4).map { number in
        FoundItem(
            itemClass: number == 3 ? .key : .genericPassword,
            attributes: [.account: .text("account \(number)"), .accessGroup: .text("app")],
            accessControl: AccessControl(), secret: SecretBytes([UInt8](repeating: UInt8(number), count: number * 40)))
    }
    private static let header = BackupHeader(salt: [UInt8](repeating: 7, count: 16))

    /// Writers of a file and of another one with the same code, and a reader of the first. All inputs share one code,
    /// because stretching takes 100 ms.
    private static let parts: (writer: BackupWriter, other: BackupWriter, reader: BackupReader)? = {
        let other = BackupHeader(salt: [UInt8](repeating: 8, count: 16))
        guard let code = try? RecoveryCode.make() else { return nil }
        return try? (BackupWriter(header, code), BackupWriter(other, code), BackupReader(header, code))
    }()

    /// A file made by a recipe, and the part of it that was written in order.
    struct File: Equatable {
        var bytes = FuzzedImport.header.bytes
        /// The header and the records up to the last one, in their order.
        var written = FuzzedImport.header.bytes
        /// The items of those records.
        var items: [FoundItem] = []
        var hasEnd = false

        /// Whether the file is complete and unedited.
        var isGenuine: Bool { hasEnd && bytes == written }
    }

    /// The result of an import.
    private struct Outcome: Equatable {
        var items: [FoundItem] = []
        var isFinished = false
        var refusal: Status?
    }

    /// Returns a violated property of importing a recipe's files, or nil. Refusing an edited file is always right;
    /// trapping never is.
    static func complaint(about recipe: [UInt8]) -> String? {
        guard let parts else { return "no code can be made" }
        var recipe = Recipe(rest: recipe[...], writer: parts.writer, other: parts.other)
        recipe.follow()
        guard let (first, second) = recipe.files else { return "a record cannot be sealed" }
        let whole = self.import(first, second, pieces: [Int.max], parts.reader)
        let pieces = self.import(first, second, pieces: recipe.pieces, parts.reader)
        guard whole == pieces else { return "pieces of \(recipe.pieces) bytes give another result than the whole" }
        guard first.isGenuine else {
            guard whole.items.isEmpty else { return "an item of an unverified file" }
            return whole.refusal == nil ? "an edited file is imported" : nil
        }
        // Without the key, no edit can change the items or their order.
        guard whole.items.elementsEqual(second.items.prefix(whole.items.count)) else {
            return "items that were not written, or that are in another order"
        }
        guard second.isGenuine else {
            return whole.refusal == nil ? "a file that was edited after verification is imported" : nil
        }
        return whole == Outcome(items: first.items, isFinished: true) ? nil : "an unedited file is refused"
    }

    /// Verifies the first file and imports the second; the two differ if the recipe replaces the file between the
    /// passes.
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

/// Makes two files from a recipe. Letters and their arguments, the bytes after them:
/// `i` n: the record of item n. `e`: the last record. `a` n: the record of item n, sealed for another file of the
/// same code.
/// `r` n: the n-th record again. `b` n ...: n bytes. `x` n m k: changes byte n * 256 + m by k. `c` n m: cuts after byte
/// n * 256 + m. `p` n: pieces of n bytes. `2`: what follows changes the second file only.
private struct Recipe {
    var rest: ArraySlice<UInt8>
    var writer: BackupWriter
    let other: BackupWriter
    var pieces: [Int] = []
    /// nil once sealing a record has failed.
    var files: (FuzzedImport.File, FuzzedImport.File)? = (FuzzedImport.File(), FuzzedImport.File())
    private var records: [[UInt8]] = []
    private var isSecond = false
    /// Longer files test nothing more, and take time.
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
