// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The home folder of a gnome-keyring daemon: the configuration of its bus and, if requested, a filled keyring.
///
/// Filling a keyring through its API takes time quadratic in its size. A plain-text keyring can be written as a file
/// instead; the missing encryption favours gnome-keyring in the comparison.
enum KeyringFolder {
    static func make(at path: String, holding numbers: Range<Int>?) throws {
        let keyrings = path + "/keyrings"
        try FileManager.default.createDirectory(
            atPath: keyrings, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        try Data(configuration(path).utf8).write(to: URL(fileURLWithPath: path + "/bus.conf"))
        // Without a file, the daemon creates its usual encrypted keyring with the password it is unlocked with.
        guard let numbers else { return }
        try Data("bench".utf8).write(to: URL(fileURLWithPath: keyrings + "/default"))
        try Data(keyring(numbers).utf8).write(to: URL(fileURLWithPath: keyrings + "/bench.keyring"))
    }

    /// The configuration of a bus that starts no services: the machine's own keyring would be locked and prompt.
    private static func configuration(_ path: String) -> String {
        """
        <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-BUS Bus Configuration 1.0//EN"
         "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
        <busconfig><type>session</type><listen>unix:path=\(path)/bus</listen><auth>EXTERNAL</auth>
        <policy context="default"><allow user="*"/><allow own="*"/><allow send_destination="*"/>
        <allow receive_sender="*"/></policy></busconfig>

        """
    }

    private static func keyring(_ numbers: Range<Int>) -> String {
        var text = "[keyring]\ndisplay-name=bench\nctime=0\nmtime=0\nlock-on-idle=false\nlock-after=false\n"
        for number in numbers {
            let name = number + 1
            text += "\n[\(name)]\nitem-type=0\ndisplay-name=bench\nsecret=\(Keyring.secret)\nmtime=0\nctime=0\n"
            let attributes = [("account", Item(number: number).account), ("service", Item.service)]
            for (index, (key, value)) in attributes.enumerated() {
                text += "\n[\(name):attribute\(index)]\nname=\(key)\ntype=string\nvalue=\(value)\n"
            }
        }
        return text
    }
}
