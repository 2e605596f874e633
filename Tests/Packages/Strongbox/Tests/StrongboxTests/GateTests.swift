// SPDX-License-Identifier: Apache-2.0

import LocalAuthentication
import Strongbox
import XCTest

/// A scripted context, implemented as a subclass as in many published libraries.
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

    func testKindMatchesSensor() {
        XCTAssertEqual(gate.kind, .finger)
        context.sensor = .faceID
        XCTAssertEqual(gate.kind, .face)
        context.outcome = .failure(LAError(.passcodeNotSet))
        XCTAssertEqual(gate.kind, .none)
    }

    func testGateOpensAfterSuccess() async throws {
        let isOpen = try await gate.open(reason: "see the secret")
        XCTAssertTrue(isOpen)
    }

    func testCancellationReturnsFalse() async throws {
        context.outcome = .failure(LAError(.userCancel))
        let isOpen = try await gate.open(reason: "see the secret")
        XCTAssertFalse(isOpen)
    }

    func testFailureIsThrown() async {
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

    func testRealContextReturnsResultOrError() {
        // The result depends on the machine: the call returns true or an error.
        var error: NSError?
        let context = LAContext()
        if !context.canEvaluatePolicy(.deviceOwnerAuthenticationWithBiometrics, error: &error) {
            XCTAssertEqual(error?.domain, LAErrorDomain)
        }
    }
}
