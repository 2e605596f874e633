// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel

/// What root allows all daemons of the machine, in `/etc/latchkey/hardware.conf`.
package enum HardwareConfiguration {
    /// The path of the file; without it nothing is allowed.
    package static let path = "/etc/latchkey/hardware.conf"

    /// Whether a TPM or a fingerprint reader may be used that is a program. Throws for a file that others than root can
    /// change, and for a line that is not understood.
    package static func allowsVirtual(_ path: String = path) throws(Failure) -> Bool {
        guard let configuration = try ConfigurationFile(ofRoot: path) else { return false }
        var isAllowed = false
        for line in configuration.lines {
            guard let answer = allowsVirtual(line) else { throw configuration.refusal(line, known: known) }
            isAllowed = answer
        }
        return isAllowed
    }

    /// The name of the line that allows it, and its values.
    package static let name = "allow-virtual-hardware"
    package static let known = "\(name) = yes | no"

    /// What a line of any configuration says about virtual hardware; nil for another line, and for one that is not
    /// understood. The last one of a file counts.
    package static func allowsVirtual(_ line: ConfigurationLine) -> Bool? {
        switch (line.name, line.value) {
        case (name, "yes"): true
        case (name, "no"): false
        default: nil
        }
    }
}
