// SPDX-License-Identifier: Apache-2.0

import LatchkeyWords

/// The texts of this command in the language of the terminal's locale. The output of --json, names, values and exit codes
/// are the same in every language; in the locale C every text is the English one of the source.
///
/// Read once: the environment of this process does not change.
let localized = Words.installed(isolates: false, isTerminal: true)
