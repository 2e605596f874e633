// SPDX-License-Identifier: Apache-2.0

import LatchkeyClient
import LatchkeyModel
import Security

extension LAContext {
    /// Replaces the failure of an app that has no `NSFaceIDUsageDescription` with a failure that names the missing key
    /// and its file (behaviour LA-07). The daemon cannot do this, since only the app's process knows where its files
    /// are.
    func explained(_ failure: Failure, sensor: BiometryKind? = nil) -> Failure {
        guard failure.status == .biometryNotAvailable, case .success(let client) = engine,
            client.faceUsage?.isEmpty ?? true, (sensor ?? EnvironmentReport.now(engine)?.biometry) == .faceID
        else { return failure }
        return Failure(
            failure.status, "The app may not use Face ID: it has no NSFaceIDUsageDescription.",
            hint: "\(AppIdentity.placeOfFaceUsage)")
    }
}
