// SPDX-License-Identifier: Apache-2.0

import DaemonProcess
import LatchkeyModel

extension AuthorityOptions {
    /// Returns the tier that the configuration of the services names. latchkeyd could name a weaker one, so its word is not
    /// taken for it. Without the file latchkeyd does not start, and no tier but `file` can be meant.
    ///
    /// - Throws: `peerNotTrusted` if others than root can change the file, `invalidParameter` if it names no tier of the
    ///   services.
    func tier() throws(Failure) -> Tier {
        guard let file = try ConfigurationFile(ofRoot: configuration) else { return .file }
        // latchkeyd reads the other lines, and refuses unknown ones.
        let named = file.lines.filter { $0.name == "tier" }.map(\.value)
        switch named {
        case ["file"]: return .file
        case ["tpm"]: return .tpm
        default:
            throw Failure(
                .invalidParameter, "\(configuration) does not name one tier of the services.",
                hint: "It needs one line: tier = file, or tier = tpm")
        }
    }
}
