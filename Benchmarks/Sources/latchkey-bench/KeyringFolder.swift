// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The home of a gnome-keyring: its bus, and, if asked for, a keyring that is full already.
///
/// Filling one by its own calls takes as long as the square of its size. A keyring in plain text is a file that can be
/// written; that it encrypts nothing is to its advantage in a comparison.
enum KeyringFolder {
    static func make(at path: String, holding numbers: Range<Int>?) throws {
        let keyrings = path + "/keyrings"
        try FileManager.default.createDirectory(
            atPath: keyrings, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        try Data(configuration(path).utf8).write(to: URL(fileURLWithPath: path + "/bus.conf"))
        // Without one it makes the keyring that everybody has, under the password it is unlocked with.
        guard let numbers else { return }
        try Data("bench".utf8).write(to: URL(fileURLWithPath: keyrings + "/default"))
        try Data(keyring(numbers).utf8).write(to: URL(fileURLWithPath: keyrings + "/bench.keyring"))
    }

    /// A bus that starts no services: one of the machine's own would be locked and ask for a password.
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
