// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A folder of one test, removed with everything in it when the test lets go of it.
final class TemporaryFolder: Sendable {
    let path: String

    init() throws {
        var template = Array((FileManager.default.temporaryDirectory.path + "/latchkey-security-XXXXXX").utf8CString)
        guard let made = mkdtemp(&template) else { throw CocoaError(.fileWriteUnknown) }
        path = String(cString: made)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}
