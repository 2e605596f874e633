// SPDX-License-Identifier: Apache-2.0

extension Repository {
    /// Calls `check` with each input of a fuzzer's corpus and with deterministic mutations of it.
    ///
    /// The first byte of an input selects what the fuzzer reads, and is kept.
    ///
    /// - Parameter mutations: how many mutations of each input are checked.
    /// - Returns: how many inputs the corpus has.
    @discardableResult
    package static func checkCorpus(
        _ fuzzer: String, mutations: Int, _ check: (_ name: String, _ bytes: [UInt8]) -> Void
    ) throws -> Int {
        var numbers = SeededGenerator(seed: 5)
        let corpus = try inputs(fuzzer)
        for (name, bytes) in corpus {
            check(name, bytes)
            for _ in 0..<mutations { check(name, numbers.mutate(bytes)) }
        }
        return corpus.count
    }
}

extension SeededGenerator {
    /// The bytes after one to three edits behind the first byte.
    fileprivate mutating func mutate(_ bytes: [UInt8]) -> [UInt8] {
        var changed = bytes
        for _ in 0...next(below: 3) {
            guard changed.count > 1 else { return changed }
            let position = 1 + next(below: changed.count - 1)
            let byte = UInt8(truncatingIfNeeded: next())
            switch next(below: 6) {
            case 0: changed[position] ^= 1 << (byte & 7)
            case 1: changed[position] = byte
            case 2: changed[position] = [0, 1, 0x7f, 0x80, 0xff][Int(byte) % 5]
            case 3: changed.remove(at: position)
            case 4: changed.insert(byte, at: position)
            default: changed.removeSubrange(position...)
            }
        }
        return changed
    }
}
