// SPDX-License-Identifier: Apache-2.0

import Testing

extension TestDaemon {
    /// Starts a simulated daemon with an enrolled finger and the passcode 1234.
    static func withPerson() throws -> TestDaemon {
        let daemon = try TestDaemon(simulated: true)
        try daemon.start()
        for arguments in [["sim", "enroll"], ["sim", "passcode", "set"]] {
            #expect(try daemon.run("latchkey", arguments, input: "1234\n").exitCode == 0)
        }
        return daemon
    }

    /// The same, with the item `protected`, whose secret `value` requires authentication.
    static func withProtectedItem(_ options: [String] = []) throws -> TestDaemon {
        let daemon = try withPerson()
        let stored = try daemon.run(
            "latchkey", ["set", "protected"] + options + ["--protect", "presence"], input: "value")
        #expect(stored.exitCode == 0, "\(stored.errors)")
        return daemon
    }
}
