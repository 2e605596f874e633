// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

/// Code that uses or overrides methods with closures gets the same compiler diagnostics as on Apple systems (behaviour
/// LA-43).
@Suite struct ClosureDeclarationTests {
    /// Mocks as in published libraries: they have state, and override methods with and without `@Sendable` closures.
    private static let mocks = """
        import LocalAuthentication

        final class OldMock: LAContext {
            var isProven = true
            override func evaluatePolicy(
                _ policy: LAPolicy, localizedReason: String, reply: @escaping (Bool, Error?) -> Void
            ) { reply(isProven, nil) }
            override func evaluateAccessControl(
                _ accessControl: SecAccessControl, operation: LAAccessControlOperation, localizedReason: String,
                reply: @escaping (Bool, Error?) -> Void
            ) { reply(isProven, nil) }
        }

        final class NewMock: LAContext {
            var isProven = true
            override func evaluatePolicy(
                _ policy: LAPolicy, localizedReason: String, reply: @escaping @Sendable (Bool, Error?) -> Void
            ) { reply(isProven, nil) }
            override func evaluateAccessControl(
                _ accessControl: SecAccessControl, operation: LAAccessControlOperation, localizedReason: String,
                reply: @escaping @Sendable (Bool, Error?) -> Void
            ) { reply(isProven, nil) }
        }

        final class AwaitedMock: LAContext {
            var isProven = true
            override func evaluatePolicy(_ policy: LAPolicy, localizedReason: String) async throws -> Bool { isProven }
        }

        final class OldRight: LARight {
            var isRefused = false
            override func authorize(localizedReason: String, completion handler: @escaping (Error?) -> Void) {
                handler(nil)
            }
        }

        final class NewRight: LARight {
            override func authorize(localizedReason: String, completion handler: @escaping @Sendable (Error?) -> Void) {
                handler(nil)
            }
        }
        """

    /// A model on the main actor; the reply changes its state only in a task on the main actor.
    private static let model = """
        import LocalAuthentication

        @MainActor final class Model {
            var isUnlocked = false
            private let context = LAContext()
            private let right = LARight()

            func unlock() {
                context.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "test") { isProven, _ in
                    let answer = { isProven }
                    Task { @MainActor in self.isUnlocked = answer() }
                }
            }

            func unlockAndWait() async throws {
                isUnlocked = try await context.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "test")
                try await right.authorize(localizedReason: "test")
                _ = try await LARightStore.shared.saveRight(right, identifier: "right").secret.rawData
            }
        }
        """

    /// The reply does not run on the main actor but changes state that is isolated to it: the compiler has to reject
    /// this.
    private static let race = """
        import LocalAuthentication

        @MainActor final class Model {
            var isUnlocked = false
            func unlock() {
                LAContext().evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "test") { isProven, _ in
                    self.isUnlocked = isProven
                }
            }
        }
        """

    private static let crossing = """
        import LocalAuthentication

        func use<T: Sendable>(_ value: T) {}
        func cross(_ context: LAContext) { use(context) }
        """

    @Test(arguments: [mocks, model], ["5", "6"])
    func mocksAndModelsCompileWithoutAWarning_LA43(text: String, mode: String) throws {
        let (status, words) = try typecheck(text, mode: mode)
        #expect(status == 0, "\(words)")
    }

    @Test func mainActorStateInAReplyIsACompilerError_LA43() throws {
        let (status, words) = try typecheck(Self.race, mode: "6")
        #expect(status != 0 && words.contains("main actor-isolated property 'isUnlocked'"), "\(words)")
    }

    @Test func aContextIsNotSendable_LA43() throws {
        let (status, words) = try typecheck(Self.crossing, mode: "6")
        #expect(status != 0 && words.contains("'LAContext' does not conform to the 'Sendable' protocol"), "\(words)")
    }

    private func typecheck(_ text: String, mode: String) throws -> (status: Int32, words: String) {
        let folder = try TemporaryFolder()
        let file = URL(filePath: folder.path).appending(component: "Printed.swift")
        try Data(text.utf8).write(to: file)
        return try Repository.typecheck(file, options: ["-swift-version", mode, "-warnings-as-errors"])
    }
}
