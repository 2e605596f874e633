// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A temporary folder that is removed with its content when it is deallocated.
package final class TemporaryFolder: Sendable {
    /// The path of the folder.
    package let path: String

    /// Creates the folder.
    package init() throws {
        var template = Array((FileManager.default.temporaryDirectory.path + "/latchkey-test-XXXXXX").utf8CString)
        guard let made = mkdtemp(&template) else { throw CocoaError(.fileWriteUnknown) }
        path = String(cString: made)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}
