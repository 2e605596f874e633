// SPDX-License-Identifier: Apache-2.0

import Foundation

extension TwoServices {
    /// Changes one byte of the key with which the authority approves uses of keys.
    func damageApprovalKey() throws {
        let file = URL(fileURLWithPath: "\(disk.folder.path)/\(Self.userID)/approval")
        var bytes = try Data(contentsOf: file)
        bytes[bytes.count - 1] ^= 1
        try bytes.write(to: file)
    }
}
