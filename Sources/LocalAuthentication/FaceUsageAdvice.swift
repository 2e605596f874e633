// SPDX-License-Identifier: Apache-2.0

import LatchkeyClient
import LatchkeyModel
import Security

extension LAContext {
    /// Names the missing key and its file where an app may not look at faces because it does not say what for (behaviour
    /// LA-07): only the app's own process knows where its files are.
    func explained(_ failure: Failure, sensor: BiometryKind? = nil) -> Failure {
        guard failure.status == .biometryNotAvailable, case .success(let client) = engine,
            client.faceUsage?.isEmpty ?? true, (sensor ?? EnvironmentReport.now(engine)?.biometry) == .faceID
        else { return failure }
        return Failure(
            failure.status, "The app may not use Face ID: it does not say what for.",
            hint: AppIdentity.placeOfFaceUsage)
    }
}
