// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel

// Behaviour LA-07: what the person has told apps that asked to look at faces, to read and to take back.

extension Session {
    func facePermissions() -> Reply {
        let permissions = service.authenticator.state.facePermissions.sorted { $0.key < $1.key }
        return .facePermissions(
            permissions.prefix(Limits.facePermissions).map { FacePermission(application: $0.key, isAllowed: $0.value) })
    }

    /// An answer can be taken back or forgotten here, never given: that takes the person at a prompt.
    func change(_ change: Request.FacePermissionChange) throws(Failure) -> Reply {
        guard service.authenticator.state.facePermissions[change.application] != nil else {
            throw Failure(
                .itemNotFound, "No app of that name has asked to use Face ID.", hint: "List them with: latchkey apps")
        }
        service.setFacePermission(change.application, change.mayAskAgain ? nil : false)
        return .done
    }
}
