// SPDX-License-Identifier: Apache-2.0

import LatchkeySimulator
import LatchkeyTesting
import LocalAuthentication
import Testing

/// The simulated machine of the running test.
func machine() throws -> Simulator { try #require(Simulator.current) }

/// Evaluates a policy: nil for success, else the code of the error.
func evaluate(_ policy: LAPolicy, _ context: LAContext = LAContext()) async -> LAError.Code? {
    do {
        _ = try await context.evaluatePolicy(policy, localizedReason: "test")
        return nil
    } catch {
        return (error as? LAError)?.code
    }
}

/// Runs the preflight of a policy: nil when it can be evaluated, else the code of the error.
func preflight(_ policy: LAPolicy, _ context: LAContext = LAContext()) -> LAError.Code? {
    var error: NSError?
    return context.canEvaluatePolicy(policy, error: &error) ? nil : error.map { LAError(_nsError: $0).code }
}

extension Simulator {
    /// Presents a finger, or a face to a camera.
    func scan(matching: Bool, _ sensor: Sensor) {
        switch sensor {
        case .none, .touchID: touch(matching: matching)
        case .faceID, .opticID: presentFace(matching: matching)
        }
    }
}
