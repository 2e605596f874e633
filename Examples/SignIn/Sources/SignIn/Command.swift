// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeySignIn

/// What the person asks the app to do.
enum Command {
    /// Says what the sensor can do.
    case support
    /// Makes a key and registers it with a code of the operator.
    case register(code: String)
    /// Signs in, and approves an act if there is one.
    case signIn(act: String?)
    /// Opens the page for administrators in a browser.
    case administration
    /// Replaces the key.
    case rotate
    /// Revokes the key.
    case revoke
    /// Deletes the key of this machine.
    case remove

    /// How the app is called.
    static let usage = """
        usage: SignIn ADDRESS RELYING-PARTY USER COMMAND
          support         what the sensor can do
          register CODE   make a key and register it
          sign-in [ACT]   sign in, and approve an act
          administration  the address that opens the page for administrators
          rotate          replace the key
          revoke          revoke the key
          remove          delete the key of this machine
        """

    /// Reads the words after the name of the user; nil for others.
    init?(_ words: ArraySlice<String>) {
        switch (words.first, words.count) {
        case ("support"?, 1): self = .support
        case ("register"?, 2): self = .register(code: words[words.startIndex + 1])
        case ("sign-in"?, 1...2): self = .signIn(act: words.count == 2 ? words[words.startIndex + 1] : nil)
        case ("administration"?, 1): self = .administration
        case ("rotate"?, 1): self = .rotate
        case ("revoke"?, 1): self = .revoke
        case ("remove"?, 1): self = .remove
        default: return nil
        }
    }
}
