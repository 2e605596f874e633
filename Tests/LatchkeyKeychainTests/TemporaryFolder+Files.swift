// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport

extension TemporaryFolder {
    /// Returns the files in it, or in a folder below it, by name.
    func files(in folder: String = "") throws -> [String: Data] {
        let root = URL(filePath: path).appending(path: folder)
        let names = try FileManager.default.contentsOfDirectory(atPath: root.path)
        return Dictionary(
            uniqueKeysWithValues: try names.map { ($0, try Data(contentsOf: root.appending(path: $0))) })
    }
}
