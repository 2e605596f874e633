// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel

// Behaviour LA-07: whether an app may look at a face, which the person is asked once.

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

    /// The answer is taken back, or forgotten so that the app asks again. A look under way does not go on without one.
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
