// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel

/// Passes the commands of `latchkey-authd` to the TPM, which only `latchkeyd` can open. They are authenticated in
/// sessions whose keys the carrier does not have, so it can refuse a command, but neither read its secrets nor change it.
package protocol CommandCarrier: AnyObject, Sendable {
    /// Sends a command of the TPM and returns its response. Blocks.
    ///
    /// - Throws: `vaultUnavailable` or `enclaveUnavailable` if the TPM cannot be used, `systemCancel` if the connection
    ///   between the services ended.
    func carry(_ command: [UInt8]) throws(Failure) -> [UInt8]
    /// Removes what carried commands have left in the memory of the TPM, because no further one will come.
    func endCarrying()
}
