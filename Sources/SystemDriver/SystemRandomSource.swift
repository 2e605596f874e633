// SPDX-License-Identifier: Apache-2.0

import LatchkeyCrypto
package import LatchkeyModel
import LatchkeySeams

/// Random bytes from libcrypto's generator, which the kernel seeds.
package final class SystemRandomSource: RandomSource {
    package init() {}
    package func bytes(_ count: Int) throws(Failure) -> SecretBytes { try randomSecret(count) }
}
