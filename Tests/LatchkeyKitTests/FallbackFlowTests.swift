// SPDX-License-Identifier: Apache-2.0

import LatchkeyKit
import LocalAuthentication
import Testing

@Suite struct FallbackFlowTests {
    private func failure(_ code: LAError.Code) -> AuthenticationFailure { AuthenticationFailure(LAError(code)) }

    private func flow(
        _ ways: FallbackFlow.Ways = [.biometry, .passcode], _ support: BiometrySupport = .available(.faceID)
    ) -> FallbackFlow { FallbackFlow(ways: ways, support: support) }

    @Test func biometryComesFirstAndEndsIt() {
        var flow = flow()
        #expect(flow.step == .biometry(.faceID))
        flow.succeeded()
        #expect(flow.step == .done(.biometry))
    }

    @Test func whereBiometryCannotBeUsedThePasscodeIsNext() {
        for support: BiometrySupport in [.lockedOut(.touchID), .notEnrolled(.touchID), .notAvailable(.touchID), .none] {
            var flow = flow([.biometry, .passcode], support)
            #expect(flow.step == .passcode)
            flow.succeeded()
            #expect(flow.step == .done(.passcode))
        }
    }

    @Test func withoutEitherThePasswordIsTheOnlyWay() {
        #expect(flow([], .available(.touchID)).step == .password(.onlyWay))
        #expect(flow(.biometry, .none).step == .password(.onlyWay))
        #expect(flow(.biometry, .notEnrolled(.touchID)).step == .password(.onlyWay))
        #expect(flow(.biometry, .lockedOut(.touchID)).step == .password(.lockedOut))
    }

    @Test func aDemandedPasswordIsTheOnlyStep() {
        var flow = FallbackFlow(
            ways: [.biometry, .passcode], support: .available(.touchID), demandsPassword: true)
        #expect(flow.step == .password(.demanded))
        flow.succeeded()
        #expect(flow.step == .password(.demanded), "a late match of an earlier prompt")
        flow.passwordTried(isRight: true)
        #expect(flow.step == .done(.password))
    }

    @Test(arguments: [
        (LAError.Code.userCancel, FallbackFlow.PasswordReason.chosen), (.userFallback, .chosen), (.appCancel, .chosen),
        (.authenticationFailed, .notRecognised), (.biometryLockout, .lockedOut), (.systemCancel, .notRecognised),
        (.biometryNotAvailable, .notRecognised), (.notInteractive, .notRecognised), (.invalidContext, .notRecognised),
    ]) func everyFailureOfBiometryLeadsToThePassword(code: LAError.Code, reason: FallbackFlow.PasswordReason) {
        var flow = flow(.biometry)
        flow.failed(failure(code))
        #expect(flow.step == .password(reason))
    }

    @Test func aMismatchEscalatesToThePasscodeAndThenToThePassword() {
        var flow = flow()
        flow.failed(failure(.authenticationFailed))
        #expect(flow.step == .passcode)
        flow.failed(failure(.authenticationFailed))
        #expect(flow.step == .password(.notRecognised))
    }

    @Test func aLockoutEscalatesToThePasscode() {
        var flow = flow()
        flow.failed(failure(.biometryLockout))
        #expect(flow.step == .passcode)
        flow.failed(failure(.userCancel))
        #expect(flow.step == .password(.chosen))
    }

    @Test func cancellingLeadsToThePasswordAndNotToThePasscode() {
        var flow = flow()
        flow.failed(failure(.userCancel))
        #expect(flow.step == .password(.chosen))
    }

    @Test func thePasswordCanBeChosenAtAnyTime() {
        var first = flow()
        first.choosePassword()
        #expect(first.step == .password(.chosen))
        var second = flow(.passcode)
        second.choosePassword()
        #expect(second.step == .password(.chosen))
    }

    @Test func wrongPasswordsAreCountedWithoutALimit() {
        var flow = flow([])
        for count in 1...20 {
            flow.passwordTried(isRight: false)
            #expect(flow.step == .password(.wrongPassword))
            #expect(flow.wrongPasswords == count)
        }
        flow.passwordTried(isRight: true)
        #expect(flow.step == .done(.password))
    }

    @Test func eventsOfAnotherStepChangeNothing() {
        var biometry = flow()
        biometry.passwordTried(isRight: true)
        #expect(biometry.step == .biometry(.faceID))
        var done = flow()
        done.succeeded()
        done.failed(failure(.authenticationFailed))
        done.choosePassword()
        done.passwordTried(isRight: false)
        #expect(done.step == .done(.biometry))
    }
}
