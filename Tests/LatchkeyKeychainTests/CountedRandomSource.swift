// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams
import Synchronization

/// Returns the same sequence of bytes in every run; for test vectors only.
final class CountedRandomSource: RandomSource {
    private let state = Mutex<UInt64>(0)

    func bytes(_ count: Int) throws(Failure) -> SecretBytes {
        SecretBytes(
            state.withLock { state in
                (0..<count).map { _ in
                    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                    return UInt8(truncatingIfNeeded: state >> 56)
                }
            })
    }
}
