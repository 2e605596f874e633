// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel

extension CommandTable {
    static let aboutFingerprint: Phrase = """
        The fingers of your account on this machine's fingerprint readers, which fprintd keeps for all programs. A change
        of them ends items of the rule current-set.

        FINGER is left- or right- with thumb, index-finger, middle-finger, ring-finger or little-finger. With several readers, the one that
        has the finger is used, else the first one; READER is the name of another one, or its number in the list.
        """

    static let fingerprint = [
        CommandEntry("fingerprint list", "list your enrolled fingers") { (options) throws(CommandFailure) in
            try FingerprintCommand.run("list", options)
        },
        CommandEntry(
            "fingerprint enroll", "enroll a finger; right-index-finger is the default",
            [CommandArgument("FINGER", isOptional: true)],
            [
                CommandOption(.reader, "use this reader"),
                CommandOption(.replace, "replace the print of the same finger without asking"),
            ], takesJSON: false,
            about: """
                Shows each scan as it is done. If the finger is enrolled already, its print is deleted before the new one
                is scanned, and none remains if you stop before the end; so the command asks you to type replace first.
                """
        ) { (options) throws(CommandFailure) in try FingerprintCommand.run("enroll", options) },
        CommandEntry(
            "fingerprint delete", "delete an enrolled finger", [CommandArgument("FINGER", isOptional: true)],
            [
                CommandOption(.all, "delete all of them"), CommandOption(.reader, "use this reader"),
                CommandOption(.yes, "delete without asking"),
            ], takesJSON: false
        ) { (options) throws(CommandFailure) in try FingerprintCommand.run("delete", options) },
        CommandEntry("fingerprint verify", "try whether a finger is recognised", takesJSON: false) {
            (options) throws(CommandFailure) in try FingerprintCommand.run("verify", options)
        },
    ]
}
