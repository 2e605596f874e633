// SPDX-License-Identifier: Apache-2.0

import LatchkeyDesktop
import LatchkeyWords

/// The texts of this window in the language of the session. Names, values and paths are the same in every language.
///
/// Read once: the environment of this process does not change.
let words = Words.ofSession
