// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A folder of one test, removed with everything in it when the test lets go of it.
final class TemporaryFolder: Sendable {
    let path: String

    init() throws {
        var template = Array((FileManager.default.temporaryDirectory.path + "/latchkey-keychain-XXXXXX").utf8CString)
        guard let made = mkdtemp(&template) else { throw CocoaError(.fileWriteUnknown) }
        path = String(cString: made)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// Names and bytes of the files in it, or in a folder below it.
    func files(in folder: String = "") throws -> [String: Data] {
        let root = URL(filePath: path).appending(path: folder)
        let names = try FileManager.default.contentsOfDirectory(atPath: root.path)
        return Dictionary(
            uniqueKeysWithValues: try names.map { ($0, try Data(contentsOf: root.appending(path: $0))) })
    }
}
