// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyIdentity
import LatchkeySystem
import TestSupport

extension Need {
    /// The protected folder of the tests is on a mount whose owners count.
    static let protectedFolder = Need("root, and a /var/lib that only root can change, on a mount without nosuid") {
        guard geteuid() == 0, let mounts = try? MountTable(),
            let walk = try? PathWalk("/var/lib", mounts, isAllowed: ProtectedPath.isProtected)
        else { return false }
        return walk.components.allSatisfy(ProtectedPath.isProtected)
    }
}
