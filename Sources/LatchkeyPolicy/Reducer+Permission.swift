// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel

// Face permissions (behaviour LA-07): the user decides once for each app whether it may use Face ID.

extension PolicyState {
    mutating func permissionAnswered(_ id: UInt64, _ isAllowed: Bool) -> [PolicyEffect] {
        guard var evaluation = active, evaluation.request.id == id, evaluation.isVisible,
            evaluation.isAskingPermission, let app = evaluation.request.faceUser
        else { return [] }
        facePermissions[app] = isAllowed
        let keep = PolicyEffect.keepPermissions(facePermissions)
        guard isAllowed else {
            return [keep] + leaveMethod(evaluation, notice: .none, status: .biometryNotAvailable)
        }
        evaluation.isAskingPermission = false
        evaluation.isArmed = true
        active = evaluation
        return [keep, .update(id, content(evaluation)), .arm(id)]
    }

    /// Sets the face permission of an app, or deletes it with nil. An evaluation that is using the camera for the app
    /// stops unless the new value allows it.
    mutating func permissionChanged(_ app: String, _ isAllowed: Bool?) -> [PolicyEffect] {
        guard facePermissions[app] != isAllowed else { return [] }
        facePermissions[app] = isAllowed
        let keep = PolicyEffect.keepPermissions(facePermissions)
        guard isAllowed != true, sensor.kind == .faceID, let evaluation = active, evaluation.request.faceUser == app,
            evaluation.method == .biometry
        else { return [keep] }
        return [keep] + leaveMethod(evaluation, notice: .none, status: .biometryNotAvailable)
    }
}
