// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import SignInCore

/// The arguments with which the app is started.
@Suite struct SignInSetupTests {
    @Test func argumentsFillInTheForm() {
        var setup = SignInSetup()
        #expect(setup.apply(arguments: ["--server=localhost:1", "--relying-party=localhost", "--user=a=b"]) == nil)
        #expect(setup.form == RegistrationForm(server: "localhost:1", relyingParty: "localhost", user: "a=b"))
    }

    @Test(arguments: ["--wrong", "--wrong=1", "server", "--server", ""]) func otherArgumentsAreRefused(argument: String)
    {
        var setup = SignInSetup()
        #expect(setup.apply(arguments: [argument]) == "There is no option \(argument).")
    }

    /// The server refuses longer names.
    @Test func theNameOfTheDeviceIsThatOfTheMachine() {
        #expect(SignInSetup().deviceName.utf8.count <= 64)
    }
}
