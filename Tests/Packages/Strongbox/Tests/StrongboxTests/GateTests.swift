// SPDX-License-Identifier: Apache-2.0

import LocalAuthentication
import Strongbox
import XCTest

/// A context that a test scripts, as many published libraries do it: a subclass.
private final class ScriptedContext: LAContext {
    var outcome: Result<Bool, LAError> = .success(true)
    var sensor = LABiometryType.touchID

    override var biometryType: LABiometryType { sensor }

    override func canEvaluatePolicy(_ policy: LAPolicy, error: NSErrorPointer) -> Bool {
        guard case .failure(let failure) = outcome else { return true }
        error?.pointee = failure as NSError
        return false
    }

    override func evaluatePolicy(
        _ policy: LAPolicy, localizedReason: String, reply: @escaping (Bool, Error?) -> Void
    ) {
        switch outcome {
        case .success(let isProven): reply(isProven, nil)
        case .failure(let error): reply(false, error)
        }
    }
}

final class GateTests: XCTestCase {
    private let context = ScriptedContext()
    private var gate: Gate { Gate { [context] in context } }

    func testTheKindIsThatOfTheSensor() {
        XCTAssertEqual(gate.kind, .finger)
        context.sensor = .faceID
        XCTAssertEqual(gate.kind, .face)
        context.outcome = .failure(LAError(.passcodeNotSet))
        XCTAssertEqual(gate.kind, .none)
    }

    func testTheGateOpens() async throws {
        let isOpen = try await gate.open(reason: "see the secret")
        XCTAssertTrue(isOpen)
    }

    func testCancellingIsNoError() async throws {
        context.outcome = .failure(LAError(.userCancel))
        let isOpen = try await gate.open(reason: "see the secret")
        XCTAssertFalse(isOpen)
    }

    func testARefusalIsThrown() async {
        context.outcome = .failure(LAError(.biometryLockout))
        do {
            _ = try await gate.open(reason: "see the secret")
            XCTFail("the gate opened")
        } catch let error as LAError {
            XCTAssertEqual(error.code, .biometryLockout)
        } catch {
            XCTFail("\(error)")
        }
    }

    func testTheRealDeviceAnswers() {
        // Whatever it has: the call comes back with an answer or with a reason.
        var error: NSError?
        let context = LAContext()
        if !context.canEvaluatePolicy(.deviceOwnerAuthenticationWithBiometrics, error: &error) {
            XCTAssertEqual(error?.domain, LAErrorDomain)
        }
    }
}
