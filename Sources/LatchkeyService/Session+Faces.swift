// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel

// Behaviour LA-07: what the person has told apps that asked to look at faces, to read and to take back.

extension Session {
    func facePermissions() -> Reply {
        let permissions = service.authenticator.state.facePermissions.sorted { $0.key < $1.key }
        return .facePermissions(
            permissions.prefix(Limits.facePermissions).map { FacePermission(application: $0.key, isAllowed: $0.value) })
    }

    /// An answer can be withdrawn or forgotten here, never given: that takes the person at a prompt. The change is durable
    /// before it is confirmed; a withdrawn answer would otherwise hold again after a restart.
    func change(_ change: Request.FacePermissionChange, _ answer: @escaping Answer) throws(Failure) {
        guard service.authenticator.state.facePermissions[change.application] != nil else {
            throw Failure(
                .itemNotFound, "No app of that name has asked to use Face ID.", hint: "List them with: latchkey apps")
        }
        let isAllowed: Bool? = change.mayAskAgain ? nil : false
        let keychain = try keychain()
        service.parts.work.submit(.any) { [service] in
            do throws(Failure) {
                var permissions = service.authenticator.state.facePermissions
                permissions[change.application] = isAllowed
                try keychain.keep(facePermissions: permissions)
            } catch {
                return answer(.failure(error))
            }
            service.setFacePermission(change.application, isAllowed)
            answer(.done)
        }
    }
}
