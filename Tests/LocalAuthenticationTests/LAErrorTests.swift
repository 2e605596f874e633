// SPDX-License-Identifier: Apache-2.0

import LatchkeySimulator
import LocalAuthentication
import Testing

/// Every form in which published code handles these errors (COMPAT, item 8), each for an error that was thrown as
/// `LAError` and for one that was thrown as `NSError`.
@Suite struct LAErrorTests {
    /// Every error has a description, no matter how it was created and how the description is read.
    @Test(arguments: [-1, -2, -3, -4, -5, -6, -7, -8, -9, -10, -11, -12, -13, -14, -1004])
    func everyErrorHasADescription(number: Int) throws {
        let code = try #require(LAError.Code(rawValue: number))
        let error = LAError(code)
        #expect(error.localizedDescription.hasSuffix("."))
        #expect(!error.localizedDescription.contains("could not be completed"))
        #expect((error as any Error).localizedDescription == error.localizedDescription)
        #expect((error as NSError).localizedDescription == error.localizedDescription)
        #expect(error.userInfo.isEmpty, "as on Apple systems")
        #expect(error == LAError(_nsError: NSError(domain: LAErrorDomain, code: number)))
        let object = try #require(NSError(domain: LAErrorDomain, code: number) as any Error as? LAError)
        #expect(object.localizedDescription == error.localizedDescription)
        #expect(LAError(code, userInfo: [NSLocalizedDescriptionKey: "mine"]).localizedDescription == "mine")
    }

    private static func throwSwift() throws { throw LAError(.userCancel) }
    private static func throwObject() throws { throw NSError(domain: LAErrorDomain, code: -2) }
    private static let throwers: [@Sendable () throws -> Void] = [{ try throwSwift() }, { try throwObject() }]

    @Test(arguments: 0..<2)
    func aCatchPatternMatchesItsCode(thrower: Int) {
        do {
            try Self.throwers[thrower]()
        } catch LAError.userCancel {
            return
        } catch {
            Issue.record("caught \(error)")
        }
    }

    @Test(arguments: 0..<2)
    func aCatchPatternDoesNotMatchAnotherCode(thrower: Int) throws {
        do {
            try Self.throwers[thrower]()
        } catch LAError.userFallback, LAError.systemCancel {
            Issue.record("caught as another")
        } catch {
            #expect((error as NSError).code == -2)
        }
    }

    @Test(arguments: 0..<2)
    func anErrorIsCaughtAsLAError(thrower: Int) throws {
        do {
            try Self.throwers[thrower]()
        } catch let error as LAError {
            #expect(error.code == .userCancel)
            #expect(error.errorCode == -2)
        }
    }

    @Test(arguments: 0..<2)
    func anErrorIsCaughtAsNSError(thrower: Int) throws {
        do {
            try Self.throwers[thrower]()
        } catch let error as NSError {
            #expect(error.domain == LAErrorDomain)
            #expect(error.code == LAError.Code.userCancel.rawValue)
        }
    }

    @Test(arguments: 0..<2)
    func aSwitchOverAnErrorMatchesItsCode(thrower: Int) throws {
        let error = try #require(throws: (any Error).self) { try Self.throwers[thrower]() }
        switch error {
        case LAError.userFallback: Issue.record("another case")
        case LAError.userCancel: break
        default: Issue.record("no case")
        }
    }

    @Test(arguments: 0..<2)
    func anErrorCastsToLAErrorAndNSError(thrower: Int) throws {
        let error = try #require(throws: (any Error).self) { try Self.throwers[thrower]() }
        #expect((error as? LAError)?.code == .userCancel)
        #expect((error as NSError).code == -2)
        #expect((error as? LAError)?._nsError.domain == LAErrorDomain)
        #expect(error is LAError)
        let any: Any = error
        #expect((any as? any Error).flatMap { $0 as? LAError }?.code == .userCancel)
    }

    @Test func anErrorFromAnErrorPointerCastsToLAError() {
        let context = LAContext()
        context.invalidate()
        var error: NSError?
        #expect(!context.canEvaluatePolicy(.deviceOwnerAuthentication, error: &error))
        #expect((error as? LAError)?.code == .invalidContext)
        #expect(error.map { LAError(_nsError: $0).code } == .invalidContext)
        switch error {
        case let error as LAError where error.code == .invalidContext: break
        default: Issue.record("no case")
        }
    }

    @Test func anErrorOfAnotherDomainIsNotAnLAError() {
        let other: any Error = NSError(domain: "com.example", code: -2)
        #expect(other as? LAError == nil)
        #expect(!(other is LAError))
        if case LAError.userCancel = other { Issue.record("matched by its number") }
    }

    @Test func aSwitchOverCodesCompilesWithADefault() {
        for code in [LAError.Code.userCancel, .biometryLockout, .notInteractive] {
            let name: String
            switch code {
            case .authenticationFailed, .userFallback: name = "failed"
            case .userCancel, .appCancel, .systemCancel: name = "cancelled"
            case .biometryLockout: name = "locked"
            default: name = "other"
            }
            #expect(["cancelled", "locked", "other"].contains(name))
        }
    }

    @Test func anErrorContainsItsUserInfo() {
        let error = LAError(.biometryLockout, userInfo: [NSLocalizedDescriptionKey: "locked"])
        #expect(error.localizedDescription == "locked")
        #expect((error as NSError).localizedDescription == "locked")
        #expect((error as any Error).localizedDescription == "locked")
        #expect(error.userInfo[NSLocalizedDescriptionKey] as? String == "locked")
        #expect(error.errorUserInfo[NSLocalizedDescriptionKey] as? String == "locked")
    }

    @Test func anErrorWithoutUserInfoHasADescription() {
        let error = LAError(.userCancel)
        #expect(error.userInfo.isEmpty)
        #expect(!error.localizedDescription.isEmpty)
    }

    @Test func equalErrorsAreEqual() {
        #expect(LAError(.userCancel) == LAError(.userCancel))
        #expect(LAError(.userCancel) != LAError(.appCancel))
        #expect((LAError(.userCancel) as any Error) as? LAError == LAError(.userCancel))
    }

    /// Runs in its own process, since hashing an NSError of corelibs Foundation stops the program.
    @Test func equalErrorsHaveEqualHashes() async {
        await #expect(processExitsWith: .success) {
            #expect(LAError(.userCancel).hashValue == LAError(.userCancel).hashValue)
            #expect(Set([LAError(.userCancel), LAError(.userCancel), LAError(.appCancel)]).count == 2)
        }
    }

    /// Foundation on Linux would print "(null)" in place of the description.
    @Test func printingAnErrorPrintsItsDescription() {
        for error in [LAError(.userCancel), LAError(.userCancel, userInfo: [NSLocalizedDescriptionKey: "mine"])] {
            for text in ["\(error)", "\(error as NSError)", "\(error as any Error)", String(reflecting: error)] {
                #expect(text.contains(error.localizedDescription) && !text.contains("(null)"), "\(text)")
                #expect(text.contains("Error Domain=com.apple.LocalAuthentication Code=-2"), "\(text)")
            }
        }
    }

    @Test func theDescriptionSaysWhatToDo() async throws {
        let simulator = try Simulator(sensor: .none, passcode: nil)
        let words: String? = simulator.run {
            var error: NSError?
            _ = LAContext().canEvaluatePolicy(.deviceOwnerAuthentication, error: &error)
            return error?.localizedDescription
        }
        #expect(words?.contains("latchkey passcode set") == true)
        let thrown: String? = await simulator.run {
            do {
                _ = try await LAContext().evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "test")
                return nil
            } catch {
                return "\(error.localizedDescription) \(error)"
            }
        }
        #expect(thrown?.contains("latchkey passcode set") == true)
        #expect(thrown?.contains("(null)") == false)
    }

    @Test func aNumberWithoutANameIsPreserved() {
        let error = NSError(domain: LAErrorDomain, code: -1009) as any Error
        let bridged = error as? LAError
        #expect(bridged?.errorCode == -1009)
        #expect(bridged?.code.rawValue == -1009)
        #expect(bridged?.code == LAError.Code(rawValue: -1009))
        #expect(bridged?.code != .authenticationFailed)
        #expect(LAError.Code(rawValue: -1) == .authenticationFailed)
        #expect((bridged.map { $0 as NSError })?.code == -1009)
    }

    @Test func aNestedPatternMatchesTheErrorOfAResult() {
        let result: Result<Void, any Error> = Result { try Self.throwObject() }
        guard case .failure(LAError.userCancel) = result else {
            Issue.record("no match in a nested pattern")
            return
        }
    }
}
