// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The inputs that are stored for a fuzzer.
package struct FuzzCorpus {
    private let folder: URL

    /// The inputs in a folder of `Fuzz/corpus`, or in another one below the package.
    package init(_ fuzzer: String, in place: String = "Fuzz/corpus") {
        folder = URL(filePath: #filePath).appending(path: "../../../\(place)/\(fuzzer)").standardized
    }

    package func input(_ name: String) throws -> [UInt8] { Array(try Data(contentsOf: folder.appending(path: name))) }

    /// Calls `check` with each input, as it is and, for each of its bytes, without that byte and with that byte changed.
    ///
    /// - Returns: how many inputs there are.
    package func checkEach(_ check: (_ place: String, _ bytes: [UInt8]) -> Void) throws -> Int {
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        for name in names {
            let input = try input(name)
            check(name, input)
            for index in input.indices {
                var (shorter, changed) = (input, input)
                shorter.remove(at: index)
                changed[index] ^= 0x20
                for variant in [shorter, changed] { check("\(name), \(index)", variant) }
            }
        }
        return names.count
    }
}
