// SPDX-License-Identifier: Apache-2.0

import LatchkeyIdentity
import LatchkeySystem
import LatchkeyWire

/// The paths that the doctor examines. Tests replace the root folder by a temporary one.
package struct MachinePlaces: Sendable {
    /// A path that is put before the others; empty on a machine.
    package var root: String
    /// The user's folder of configuration files; nil if there is none.
    package var userConfiguration: String?
    /// The user who owns the files of the system: root, or in tests the user of the tests.
    package var administrator: UInt32

    package init(
        root: String = "", userConfiguration: String? = MachinePlaces.defaultUserConfiguration,
        administrator: UInt32 = 0
    ) {
        (self.root, self.userConfiguration, self.administrator) = (root, userConfiguration, administrator)
    }

    /// `XDG_CONFIG_HOME`, or `.config` in the home folder.
    package static var defaultUserConfiguration: String? {
        if let folder = Environment.value("XDG_CONFIG_HOME"), folder.hasPrefix("/") { return folder }
        return Environment.home.map { $0 + "/.config" }
    }

    var sockets: SystemSockets { SystemSockets(root + "/run/latchkey", configuration: configuration) }
    var configuration: String { root + "/etc/latchkey/latchkeyd.conf" }
    var declarations: String { root + DeclarationFolder.system }
    var processes: String { root + "/proc" }
    var trustedModule: String { root + "/dev/tpmrm0" }
    var passwordService: String { root + PAMService.password.path }
    var faceService: String { root + PAMService.face.path }
    var fingerprintService: String { root + "/usr/share/dbus-1/system-services/net.reactivated.Fprint.service" }

    var loginctl: String { root + "/usr/bin/loginctl" }
    var systemctl: String { root + "/usr/bin/systemctl" }
    /// The folder that exists while systemd is the service manager (sd_booted(3)).
    var serviceManager: String { root + "/run/systemd/system" }

    /// The autostart entries of the agent, the user's first.
    var autostart: [String] {
        [userConfiguration, root + "/etc/xdg"].compactMap { $0.map { $0 + "/autostart/org.latchkey.Agent.desktop" } }
    }

    /// The folders between the root folder and a path, the path last.
    func chain(to path: String) -> [String] {
        Files.parents(of: path).filter { $0.utf8.count > max(root.utf8.count, 1) } + [path]
    }
}
