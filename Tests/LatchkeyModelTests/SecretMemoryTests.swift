// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyModel
import Testing

/// All slots of the three sizes.
private let slotCount = 4096 + 1024 + 512

/// Each test runs in a process of its own, because memory is locked once for a process.
@Suite struct SecretMemoryTests {
    @Test func releasedSlotsAreUsedAgainAndAreZero() async {
        await #expect(processExitsWith: .success) {
            try #require(SecretMemory.lock() == nil)
            for round in 0..<3 {
                var secrets = (0..<slotCount).map { SecretBytes([UInt8](repeating: UInt8($0 % 255 + 1), count: 64)) }
                for (index, secret) in secrets.enumerated() {
                    try #require(secret.copyBytes().allSatisfy { $0 == UInt8(index % 255 + 1) }, "\(round), \(index)")
                }
                try #require(SecretMemory.missedCount == 0)
                secrets = []
                let empty = (0..<slotCount).map { _ in SecretBytes(count: 64) { _ in } }
                try #require(empty.allSatisfy { $0.copyBytes().allSatisfy { $0 == 0 } })
            }
        }
    }

    @Test func secretsWithoutASlotAreCountedAndKeepTheirBytes() async {
        await #expect(processExitsWith: .success) {
            try #require(SecretMemory.lock() == nil)
            let secrets = (0..<slotCount + 7).map { SecretBytes([UInt8](repeating: UInt8($0 % 251), count: 33)) }
            try #require(SecretMemory.missedCount == 7)
            for (index, secret) in secrets.enumerated() {
                try #require(secret.copyBytes() == [UInt8](repeating: UInt8(index % 251), count: 33))
            }
            // A secret that is larger than every slot does not count.
            _ = SecretBytes(count: 1025) { _ in }
            try #require(SecretMemory.missedCount == 7)
        }
    }

    @Test func onlyPagesThatWereUsedTakeMemory() async {
        await #expect(processExitsWith: .success) {
            let before = try kibibytes("RssAnon")
            try #require(SecretMemory.lock() == nil)
            try #require(kibibytes("VmLck") >= 1024)
            let secret = SecretBytes(count: 64) { _ in }
            try #require(kibibytes("RssAnon") - before < 512)
            withExtendedLifetime(secret) {}
        }
    }
}

/// A number of /proc/self/status.
private func kibibytes(_ name: String) throws -> Int {
    let file = try #require(fopen("/proc/self/status", "r"))
    defer { fclose(file) }
    var line = [CChar](repeating: 0, count: 256)
    while fgets(&line, CInt(line.count), file) != nil {
        let words = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            .split { $0 == ":" || $0 == " " || $0 == "\t" }
        if words.first.map(String.init) == name, words.count > 1 { return try #require(Int(words[1])) }
    }
    throw CancellationError()
}
