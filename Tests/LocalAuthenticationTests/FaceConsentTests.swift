// SPDX-License-Identifier: Apache-2.0

import LatchkeySimulator
import LocalAuthentication
import Security
import TestSupport
import Testing

/// The usage description and the user's permission for Face ID (behaviour LA-07), tested through the public API.
@Suite struct FaceConsentTests {
    private func evaluate(
        _ simulator: Simulator, _ policy: LAPolicy = .deviceOwnerAuthenticationWithBiometrics
    ) async throws -> LAError.Code? {
        try await simulator.run {
            do {
                _ = try await LAContext().evaluatePolicy(policy, localizedReason: "log in")
                return nil
            } catch let error as LAError {
                return error.code
            }
        }
    }

    private func refusal(_ simulator: Simulator) -> (LAError.Code?, LABiometryType) {
        simulator.run {
            let context = LAContext()
            var error: NSError?
            _ = context.canEvaluatePolicy(.deviceOwnerAuthenticationWithBiometrics, error: &error)
            return (error.map { LAError.Code(rawValue: $0.code) } ?? nil, context.biometryType)
        }
    }

    @Test func withoutAUsageDescriptionFaceIDIsReportedButNotAvailable_LA07() async throws {
        let simulator = try Simulator(sensor: .faceID, faceIDUsageDescription: nil)
        #expect(refusal(simulator) == (.biometryNotAvailable, .faceID))
        #expect(try await evaluate(simulator) == .biometryNotAvailable)
        try simulator.connect(.touchID)
        #expect(refusal(simulator) == (nil, .touchID), "Touch ID has no such key")
    }

    @Test(arguments: [nil, ""] as [String?])
    func theMissingKeyAndItsFileAreNamed_LA07(description: String?) async throws {
        let simulator = try Simulator(sensor: .faceID, faceIDUsageDescription: description)
        let words: [String] = await simulator.run {
            let context = LAContext()
            var error: NSError?
            _ = context.canEvaluatePolicy(.biometry, error: &error)
            var words = [error?.localizedDescription ?? ""]
            do {
                _ = try await context.evaluatePolicy(.biometry, localizedReason: "test")
            } catch {
                words.append(error.localizedDescription)
            }
            return words
        }
        #expect(words.count == 2)
        let folder = try #require(Bundle.main.executableURL).deletingLastPathComponent().path
        for text in words {
            for part in ["NSFaceIDUsageDescription", "\(folder)/Info.plist", ".resources"] {
                #expect(text.contains(part), "\(text)")
            }
        }
        // An app with a usage description whose permission was denied gets another message.
        let refused = try Simulator(sensor: .faceID)
        refused.setFaceIDPermission(.denied)
        let told: String? = refused.run {
            var error: NSError?
            _ = LAContext().canEvaluatePolicy(.biometry, error: &error)
            return error?.localizedDescription
        }
        #expect(told?.contains("latchkey apps") == true)
    }

    /// SwiftPM copies resources into `<Package>_<Target>.resources`.
    @Test func theDescriptionIsFoundAmongTheResourcesOfItsOwnTarget_LA07() throws {
        let folder = try TemporaryFolder()
        let executable = URL(filePath: folder.path).appending(component: "Notes")
        func write(_ text: String, _ components: String...) throws {
            let file = components.reduce(URL(filePath: folder.path)) { $0.appending(component: $1) }
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            let list = ["NSFaceIDUsageDescription": text]
            try PropertyListSerialization.data(fromPropertyList: list, format: .xml, options: 0).write(to: file)
        }
        #expect(AppIdentity.faceUsage(besideExecutable: executable) == nil)
        try write("another target", "Package_Other.resources", "Support", "Info.plist")
        try write("a longer name", "Package_MyNotes.resources", "Info.plist")
        try write("no folder of resources", "Notes", "Info.plist")
        #expect(AppIdentity.faceUsage(besideExecutable: executable) == nil)
        try write("copied folder", "Package_Notes.resources", "Support", "Info.plist")
        #expect(AppIdentity.faceUsage(besideExecutable: executable) == "copied folder")
        try write("own folder", "Notes.resources", "Info.plist")
        #expect(AppIdentity.faceUsage(besideExecutable: executable) == "own folder")
    }

    @Test func anEmptyUsageDescriptionCountsAsMissing_LA07() async throws {
        let simulator = try Simulator(sensor: .faceID, faceIDUsageDescription: "")
        #expect(refusal(simulator) == (.biometryNotAvailable, .faceID))
    }

    @Test func permissionIsRequestedOncePerApp_LA07() async throws {
        let simulator = try Simulator(sensor: .faceID)
        simulator.setFaceIDPermission(.undetermined)
        #expect(refusal(simulator) == (nil, .faceID))
        simulator.answerFaceIDQuestion(allow: true)
        simulator.presentFace(matching: true)
        #expect(try await evaluate(simulator) == nil)
        simulator.presentFace(matching: true)
        #expect(try await evaluate(simulator) == nil)
    }

    @Test func aDeniedPermissionAppliesToLaterContextsAndAfterARestart_LA07() async throws {
        let simulator = try Simulator(sensor: .faceID)
        simulator.setFaceIDPermission(.undetermined)
        simulator.answerFaceIDQuestion(allow: false)
        #expect(try await evaluate(simulator) == .biometryNotAvailable)
        #expect(refusal(simulator) == (.biometryNotAvailable, .faceID))
        try simulator.restart()
        #expect(refusal(simulator).0 == .biometryNotAvailable)
    }

    @Test func withoutPermissionThePasscodeCanBeUsed_LA07() async throws {
        let simulator = try Simulator(sensor: .faceID)
        simulator.setFaceIDPermission(.denied)
        simulator.enter(passcode: "1234")
        #expect(try await evaluate(simulator, .deviceOwnerAuthentication) == nil)
    }

    @Test func aDeniedPermissionAppliesToOneApp_LA07() throws {
        let simulator = try Simulator(sensor: .faceID)
        simulator.setFaceIDPermission(.denied, of: "bank")
        #expect(refusal(simulator).0 == nil)
        simulator.run(as: "bank") {
            var error: NSError?
            #expect(!LAContext().canEvaluatePolicy(.deviceOwnerAuthenticationWithBiometrics, error: &error))
        }
    }
}
