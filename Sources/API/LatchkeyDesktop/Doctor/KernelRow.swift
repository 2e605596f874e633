// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyModel
import LatchkeySystem

/// The kernel, and what it offers to identify programs.
package struct KernelFacts: Equatable, Sendable {
    /// As uname(2) reports it.
    package var release: String
    /// The architecture as uname(2) reports it, such as `x86_64`.
    package var architecture = ""
    /// Whether a connection gives a handle of the process that made it (SO_PEERPIDFD, Linux 6.5).
    package var hasPeerProcess: Bool
    /// Whether it reports the mount of a file (Linux 5.8).
    package var reportsMounts: Bool
}

extension KernelFacts {
    package init() {
        var names = utsname()
        uname(&names)
        release = withUnsafeBytes(of: &names.release) { String(showing: $0.prefix { $0 != 0 }) }
        architecture = withUnsafeBytes(of: &names.machine) { String(showing: $0.prefix { $0 != 0 }) }
        hasPeerProcess = (try? Sockets.pair()).map { Sockets.peerProcess($0.0) != nil } ?? false
        reportsMounts = (try? FileStatus(of: Descriptor.open("/", O_RDONLY | O_DIRECTORY))) != nil
    }
}

extension DoctorRow {
    /// Which facts about a caller the kernel gives. Only the system services use the path of a program.
    package static func kernel(_ facts: KernelFacts, isSystem: Bool) -> DoctorRow {
        guard facts.reportsMounts || !isSystem else {
            return DoctorRow(
                "kernel", .attention,
                "\(facts.release); before Linux 5.8 the path of a program is no identity: install a later kernel")
        }
        return DoctorRow(
            "kernel", .ok,
            facts.hasPeerProcess
                ? "\(facts.release); a connection has a handle of its process (SO_PEERPIDFD)"
                : "\(facts.release); without SO_PEERPIDFD (Linux 6.5), a process is known by its id and start time")
    }

    /// The version and the place of this program.
    package static func version(executable: String?) -> DoctorRow {
        guard let executable else { return DoctorRow("latchkey", .ok, "version \(productVersion)") }
        return DoctorRow("latchkey", .ok, "version \(productVersion), \(executable)")
    }
}
