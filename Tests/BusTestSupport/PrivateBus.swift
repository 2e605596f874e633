// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeySystem
package import TestSupport
import Testing

/// A message bus of a test's own, with which programs of any user may do anything. It ends with this object.
package final class PrivateBus: Sendable {
    /// The bus of the machine's packages, or of those that `scripts/fprintd` has extracted.
    package static let program: String = {
        let installed = "/usr/bin/dbus-daemon"
        return access(installed, X_OK) == 0
            ? installed : (ProcessInfo.processInfo.environment["LATCHKEY_FPRINTD"] ?? "") + installed
    }()

    package let folder: TemporaryFolder
    private let process: pid_t
    package var address: String { "unix:path=\(folder.path)/socket" }

    /// - Parameter startable: a name that the bus gives to no program: it starts one that never takes the name.
    package init(startable: String? = nil) throws {
        folder = try TemporaryFolder()
        let configuration = """
            <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
             "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
            <busconfig>
              <type>system</type>
              <listen>unix:path=\(folder.path)/socket</listen>
              <auth>EXTERNAL</auth>
              <servicedir>\(folder.path)</servicedir>
              <policy context="default">
                <allow user="*"/><allow send_destination="*"/><allow receive_sender="*"/><allow own="*"/>
              </policy>
            </busconfig>
            """
        try configuration.write(toFile: folder.path + "/bus.conf", atomically: true, encoding: .utf8)
        if let startable {
            // Ends by itself: no process waits for what a bus has started.
            let service = "[D-BUS Service]\nName=\(startable)\nExec=/bin/sleep 5\n"
            try service.write(toFile: "\(folder.path)/\(startable).service", atomically: true, encoding: .utf8)
        }
        // A program of another user connects in some tests.
        chmod(folder.path, 0o711)
        let (near, far) = try Sockets.pair()
        process = try Processes.spawn(
            Self.program,
            ["--nofork", "--nopidfile", "--config-file=\(folder.path)/bus.conf", "--print-address=3"],
            descriptors: [nil, nil, nil, far])
        // The address is printed when the bus can be reached.
        guard try near.wait(for: POLLIN, until: Uptime.deadline(seconds: 10)) else {
            throw CocoaError(.fileReadUnknown)
        }
    }

    deinit {
        kill(process, SIGKILL)
        Processes.wait(process)
    }
}

extension Need {
    /// dbus-daemon.
    package static let messageBus = Need("dbus-daemon: apt-get install dbus-daemon") {
        access(PrivateBus.program, X_OK) == 0
    }
}
