// SPDX-License-Identifier: Apache-2.0

import Testing

/// Tests that share one screen, one keyboard and one screen reader: one after another.
@Suite(.serialized, .timeLimit(.minutes(5))) enum ScreenTests {}
