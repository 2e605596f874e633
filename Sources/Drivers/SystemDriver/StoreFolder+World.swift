// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
import LatchkeySystem

extension StoreFolder {
    /// Returns the stored state of the simulated machine; nil when there is none.
    package func worldText() throws(Failure) -> String? {
        do throws(SystemError) {
            return try Files.read(world, limit: 4096).map { String(decoding: $0.copyBytes(), as: UTF8.self) }
        } catch {
            throw Failure(error, "\(world) cannot be read")
        }
    }

    /// Stores the state of the simulated machine.
    package func persistWorld(_ text: String) throws(Failure) {
        do throws(SystemError) {
            try Files.replace(world, with: SecretBytes(text.utf8))
        } catch {
            throw Failure(error, "\(world) cannot be written")
        }
    }
}
