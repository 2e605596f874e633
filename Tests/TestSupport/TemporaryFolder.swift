// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A folder of one test, removed with everything in it when the test lets go of it.
package final class TemporaryFolder: Sendable {
    /// Where it is.
    package let path: String

    /// Makes it.
    package init() throws {
        var template = Array((FileManager.default.temporaryDirectory.path + "/latchkey-test-XXXXXX").utf8CString)
        guard let made = mkdtemp(&template) else { throw CocoaError(.fileWriteUnknown) }
        path = String(cString: made)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}
