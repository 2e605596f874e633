// SPDX-License-Identifier: Apache-2.0

import Foundation
@_spi(Apps) import Security
import SignInCore

/// Runs the app.
@main
enum Main {
    private static let help = """
        usage: latchkey-sign-in [--server=ADDRESS] [--relying-party=NAME] [--user=NAME]

        Registers this device with a relying party, and signs in with a finger, a face or the passcode.

          --server=ADDRESS       the address of the server in the form for the registration
          --relying-party=NAME   the name of the relying party there
          --user=NAME            the name of the user there
          --help                 show this text

        Exit status: 2 unknown option, 64 an argument that is not UTF-8, 69 no display.

        """

    @MainActor static func main() {
        let arguments = ProgramState.begin()
        if arguments.contains("--help") {
            print(help, terminator: "")
            exit(0)
        }
        var setup = SignInSetup()
        if let complaint = setup.apply(arguments: arguments) {
            fail(complaint, hint: "latchkey-sign-in --help", status: 2)
        }
        guard SignInApp.run(model: SignInModel(setup: setup)) else {
            fail("there is no display to show a window on", hint: "start it in a graphical session", status: 69)
        }
    }

    private static func fail(_ words: String, hint: String, status: CInt) -> Never {
        try? FileHandle.standardError.write(contentsOf: Data("error: \(words)\nhint: \(hint)\n".utf8))
        exit(status)
    }
}
