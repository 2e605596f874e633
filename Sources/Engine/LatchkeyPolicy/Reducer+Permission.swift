// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel

// Face permissions (behaviour LA-07): the user decides once for each app whether it may use Face ID.

extension PolicyState {
    mutating func permissionAnswered(_ id: UInt64, _ isAllowed: Bool) -> [PolicyEffect] {
        guard var evaluation = visible(id), evaluation.question != .none, let app = evaluation.request.faceUser
        else { return [] }
        var effects: [PolicyEffect] = []
        // Only the first question is answered for ever; the other one is asked before each scan.
        if evaluation.question == .permission {
            facePermissions[app] = isAllowed
            effects = [.persistPermissions(facePermissions)]
        }
        guard isAllowed else {
            let status: Status = evaluation.question == .permission ? .biometryNotAvailable : .userCancel
            return effects + leaveMethod(evaluation, notice: .none, status: status)
        }
        evaluation.phase = .biometry(.scanning)
        put(evaluation)
        return effects + [.update(id, content(evaluation)), .arm(id)]
    }

    /// Sets the face permission of an app, or deletes it with nil. An evaluation that is using the camera for the app
    /// stops unless the new value allows it.
    mutating func permissionChanged(_ app: String, _ isAllowed: Bool?) -> [PolicyEffect] {
        guard facePermissions[app] != isAllowed else { return [] }
        facePermissions[app] = isAllowed
        let effects = PolicyEffect.persistPermissions(facePermissions)
        guard isAllowed != true, sensor.kind == .faceID else { return [effects] }
        return [effects]
            + forEachShown { state, evaluation in
                guard evaluation.request.faceUser == app, evaluation.method == .biometry else { return [] }
                return state.leaveMethod(evaluation, notice: .none, status: .biometryNotAvailable)
            }
    }
}
