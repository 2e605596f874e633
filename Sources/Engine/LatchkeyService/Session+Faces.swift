// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel

// Listing and withdrawing face permissions (behaviour LA-07).

extension Session {
    func facePermissions() -> Reply {
        let permissions = service.authority.state.facePermissions.sorted { $0.key < $1.key }
        return .facePermissions(
            permissions.prefix(Limits.facePermissions).map { FacePermission(application: $0.key, isAllowed: $0.value) })
    }

    /// Withdraws or deletes a face permission; granting one requires the user at a prompt.
    ///
    /// The change is stored before the reply: otherwise a withdrawn permission could apply again after a restart.
    func change(_ change: Request.FacePermissionChange) async throws(Failure) -> Reply {
        guard service.authority.state.facePermissions[change.application] != nil else {
            throw Failure(
                .itemNotFound, "No app of that name has asked to use Face ID.", hint: "List them with: latchkey apps")
        }
        let isAllowed: Bool? = change.mayAskAgain ? nil : false
        let failure = await withCheckedContinuation { continuation in
            service.setFacePermission(change.application, isAllowed) { continuation.resume(returning: $0) }
        }
        if let failure { throw failure }
        return .done
    }
}
