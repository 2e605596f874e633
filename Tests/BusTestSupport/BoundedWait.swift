// SPDX-License-Identifier: Apache-2.0

package import Dispatch
package import Testing

extension DispatchSemaphore {
    /// Waits for a signal, thirty seconds at most: a test that waits without a limit keeps one of the few threads on which all
    /// tests run, so that not even their time limits are noticed.
    package func signalled(sourceLocation: SourceLocation = #_sourceLocation) throws {
        try #require(wait(timeout: .now() + 30) == .success, sourceLocation: sourceLocation)
    }
}
