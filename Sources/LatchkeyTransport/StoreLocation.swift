// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
import LatchkeySystem

/// The location of the user's store, as daemon and clients determine it.
package enum StoreLocation {
    /// The store's folder: `LATCHKEY_HOME`, or `latchkey` in the user's data folder. Throws when there is none.
    package static func folder() throws(Failure) -> String {
        if let chosen = Environment.value("LATCHKEY_HOME") {
            guard chosen.hasPrefix("/") else {
                throw Failure(
                    .noHome, "LATCHKEY_HOME is not an absolute path.", hint: "Set it to a path that begins with /.")
            }
            return chosen
        }
        if let data = Environment.value("XDG_DATA_HOME"), data.hasPrefix("/") { return data + "/latchkey" }
        guard let home = Environment.home else {
            throw Failure(
                .noHome, "There is no home folder for the store.",
                hint: "Set HOME, or LATCHKEY_HOME to a folder of yours.")
        }
        return home + "/.local/share/latchkey"
    }
}
