// SPDX-License-Identifier: Apache-2.0

public import LatchkeyWords

extension Words {
    /// The texts of the language that the environment of this process prefers (`LANGUAGE`, `LC_ALL`, `LC_MESSAGES`, `LANG`),
    /// if a catalogue of it is installed, otherwise English. Reads files; does not block otherwise.
    ///
    /// A value of a text that could reorder its sentence is put into a bidirectional isolate.
    public static var ofSession: Words { installed(isolates: true, isTerminal: false) }
}
