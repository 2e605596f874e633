// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel

/// Returns the status with which `body` fails; nil when it succeeds.
package func status(_ body: () throws -> Void) -> Status? {
    do {
        try body()
        return nil
    } catch {
        return (error as? Failure)?.status
    }
}
