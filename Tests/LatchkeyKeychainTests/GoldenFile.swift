// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

/// A file as text: `size <bytes>`, then `<offset> <hexadecimal digits>` for every 32 bytes that are not all zero.
/// Lines that begin with `#` are comments.
struct GoldenFile {
    static let folder = Repository.vectors("store", "v1")
    static let names = ["keychain.sqlite", "root.key", "anchor", "counters"]
    private static let lineBytes = 32

    let name: String
    private var url: URL { Self.folder.appending(component: name + ".hex") }

    func read() throws -> Data {
        var bytes = Data()
        for line in try String(contentsOf: url, encoding: .utf8).split(separator: "\n") where !line.hasPrefix("#") {
            let words = line.split(separator: " ")
            try #require(words.count == 2, "a line is an offset and hexadecimal digits: \(line)")
            if words[0] == "size" {
                bytes = Data(count: try #require(Int(words[1])))
                continue
            }
            let offset = try #require(Int(words[0]))
            let digits = try words[1].map { try #require($0.hexDigitValue) }
            try #require(digits.count.isMultiple(of: 2) && offset + digits.count / 2 <= bytes.count)
            for index in stride(from: 0, to: digits.count, by: 2) {
                bytes[offset + index / 2] = UInt8(digits[index] << 4 | digits[index + 1])
            }
        }
        return bytes
    }

    func write(_ bytes: Data) throws {
        var text = "# \(name) of a store of version 1, made by GoldenStoreTests; the format is GoldenFile's.\n"
        text += "size \(bytes.count)\n"
        for offset in stride(from: 0, to: bytes.count, by: Self.lineBytes) {
            let line = bytes[
                bytes.startIndex + offset..<min(bytes.startIndex + offset + Self.lineBytes, bytes.endIndex)]
            if line.allSatisfy({ $0 == 0 }) { continue }
            text += "\(offset) " + line.map { String(format: "%02x", $0) }.joined() + "\n"
        }
        try FileManager.default.createDirectory(at: Self.folder, withIntermediateDirectories: true)
        try Data(text.utf8).write(to: url)
    }
}
