// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import LatchkeySystem
import LatchkeyWire
import TestSupport
import Testing

/// Scripts in place of `latchkey-pam`, which send prepared frames over their socket, descriptor 3.
struct PAMScripts {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// The path of a file of this test.
    func file(_ name: String) -> String { folder.path + "/" + name }

    /// Writes a program that runs this script.
    func program(_ script: String) throws -> String {
        try ScriptFile.write("#!/bin/sh\n" + script, to: file("pam"))
        return file("pam")
    }

    /// Writes a service file.
    func service(_ text: String = "auth required a.so\naccount required b.so\n") throws -> String {
        if access(file("service"), F_OK) != 0 { try write("service", text, mode: 0o600) }
        return file("service")
    }

    func write(_ name: String, _ text: String, mode: mode_t) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: file(name)))
        #expect(chmod(file(name), mode) == 0)
    }

    /// The command that sends messages.
    func send(_ messages: PAMMessage...) -> String {
        messages.map { message in
            let bytes = Frame.bytes(message.encoded()).copyBytes()
            return "printf '" + bytes.map { "\\" + String($0, radix: 8) }.joined() + "' >&3\n"
        }.joined()
    }

    /// The command that reads a message of that many bytes.
    func read(_ message: PAMMessage, into name: String = "/dev/null") -> String {
        "head -c \(Frame.bytes(message.encoded()).count) <&3 >\(name)\n"
    }

    /// Makes a place to which a script writes a line, for which `waitForLine` waits.
    func pipe(_ name: String) throws -> String {
        try #require(mkfifo(file(name), 0o600) == 0)
        return file(name)
    }

    func waitForLine(_ name: String) throws { _ = try Descriptor.open(file(name), O_RDONLY).readAll(limit: 4096) }
}
