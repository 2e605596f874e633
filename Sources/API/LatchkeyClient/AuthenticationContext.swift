// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel

/// How `Security` uses an `LAContext`, whose class is defined in a module that imports `Security`.
package protocol AuthenticationContext: AnyObject {
    func client() throws(Failure) -> Client
    /// The context's handle on the current connection.
    func handle() throws(Failure) -> ContextHandle
    var prompting: Prompting { get }
    /// Seconds after an unlock of the device by biometry in which its prompts are skipped; 0 for never.
    var reuseSeconds: UInt64 { get }
    /// The app's own password, if one was set (Apple: `setCredential`).
    var applicationPassword: SecretBytes? { get }
}
