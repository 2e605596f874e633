// SPDX-License-Identifier: Apache-2.0

import Testing

/// Tests that share one display, keyboard and accessibility bus, and so run one after another.
@Suite(.serialized, .timeLimit(.minutes(5))) enum ScreenTests {}
