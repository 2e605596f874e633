// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeySimulator
import LocalAuthentication
import Security
import TestSupport
import Testing

/// The parts of a machine: sensor, enrolment, passcode, store.
@Suite(.timeLimit(.minutes(1))) struct MachineTests {
    private let biometry = LAPolicy.deviceOwnerAuthenticationWithBiometrics

    @Test(arguments: ["enroll", "replace", "unenroll and enroll"])
    func everyChangeOfTheSetEndsBoundItemsAndNoOthers_AC03_AC04(change: String) throws {
        let simulator = try Simulator()
        try simulator.run { () throws in
            #expect(add("bound", "one", .biometryCurrentSet) == errSecSuccess)
            #expect(add("any", "two", .biometryAny) == errSecSuccess)
            switch change {
            case "enroll": try simulator.enroll()
            case "replace": try simulator.replaceFinger()
            default:
                try simulator.unenroll()
                try simulator.enroll()
            }
            simulator.touch(matching: true)
            #expect(read("bound").status == errSecItemNotFound)
            #expect(read("any").secret == "two", "the deleted item has not used the touch")
            #expect(add("bound", "three", .biometryCurrentSet) == errSecSuccess)
        }
    }

    @Test func replacingTheSensorPreservesTheEnrolledSet() throws {
        let simulator = try Simulator()
        try simulator.run { () throws in
            #expect(add("bound", "one", .biometryCurrentSet) == errSecSuccess)
            try simulator.connect(.none)
            #expect(read("bound").status == errSecAuthFailed)
            try simulator.connect(.touchID)
            simulator.touch(matching: true)
            #expect(read("bound").secret == "one")
        }
    }

    @Test func replacingAFingerWithoutEnrolmentFails() throws {
        let simulator = try Simulator(isEnrolled: false)
        #expect(throws: SimulatorError.self) { try simulator.replaceFinger() }
        do {
            try simulator.replaceFinger()
        } catch {
            #expect("\(error)".contains("No finger is enrolled"))
        }
    }

    @Test func passcodesAreSetChangedAndRemoved() async throws {
        let simulator = try Simulator(sensor: .none, passcode: nil)
        #expect(throws: SimulatorError.self) { try simulator.removePasscode("1234") }
        try simulator.setPasscode("1234")
        #expect(throws: SimulatorError.self) { try simulator.setPasscode("5678") }
        #expect(throws: SimulatorError.self) { try simulator.changePasscode(from: "0000", to: "5678") }
        try simulator.changePasscode(from: "1234", to: "5678")
        simulator.enter(passcode: "5678")
        await simulator.run { #expect(await evaluate() == nil) }
        try simulator.removePasscode("5678")
        await simulator.run { #expect(await evaluate() == .passcodeNotSet) }
        #expect(throws: SimulatorError.self) { try simulator.setPasscode("") }
    }

    // MARK: - A store in a folder

    private func store(_ folder: TemporaryFolder) -> Simulator.Store { .folder(folder.path + "/store") }

    @Test func aLaterMachineOpensTheSameFolder() throws {
        let folder = try TemporaryFolder()
        do {
            let simulator = try Simulator(store: store(folder))
            simulator.run {
                #expect(add("free", "one") == errSecSuccess)
                #expect(add("present", "two", .devicePasscode) == errSecSuccess)
            }
        }
        let simulator = try Simulator(store: store(folder))
        simulator.enter(passcode: "1234")
        simulator.run {
            #expect(read("free").secret == "one")
            #expect(read("present").secret == "two")
            #expect(add("free") == errSecDuplicateItem)
        }
    }

    @Test func anExistingFolderDeterminesThePasscode() async throws {
        let folder = try TemporaryFolder()
        do { _ = try Simulator(passcode: "1234", store: store(folder)) }
        let simulator = try Simulator(sensor: .none, passcode: "5678", store: store(folder))
        simulator.enter(passcode: "5678")
        simulator.enter(passcode: "1234")
        await simulator.run { #expect(await evaluate() == nil) }
    }

    /// Opening a machine again does not change the enrolled set. As after every restart, the passcode is due.
    @Test func itemsBoundToTheEnrolledSetSurviveARestart() async throws {
        let folder = try TemporaryFolder()
        do {
            let simulator = try Simulator(store: store(folder))
            simulator.run { #expect(add("bound", "one", .biometryCurrentSet) == errSecSuccess) }
        }
        let simulator = try Simulator(store: store(folder))
        simulator.enter(passcode: "1234")
        simulator.touch(matching: true)
        await simulator.run {
            #expect(await evaluate() == nil)
            #expect(read("bound").secret == "one")
        }
    }

    @Test func aFingerReplacedBeforeARestartStaysReplaced_AC04() throws {
        let folder = try TemporaryFolder()
        do {
            let simulator = try Simulator(store: store(folder))
            simulator.run { #expect(add("bound", "one", .biometryCurrentSet) == errSecSuccess) }
            try simulator.replaceFinger()
        }
        let simulator = try Simulator(store: store(folder))
        simulator.touch(matching: true)
        simulator.run { #expect(read("bound").status == errSecItemNotFound) }
    }

    /// A restart begins another boot: the clock starts at zero, and a remaining delay does not become shorter (LA-30).
    @Test func aPasscodeDelayRestartsAfterARestart_LA30_abuse28() throws {
        let folder = try TemporaryFolder()
        do {
            let simulator = try Simulator(store: store(folder))
            try simulator.advance(by: .seconds(100_000))
            for _ in 0..<3 {
                #expect(throws: SimulatorError.self) { try simulator.changePasscode(from: "0000", to: "1234") }
            }
        }
        let simulator = try Simulator(store: store(folder))
        #expect(throws: SimulatorError.self) { try simulator.changePasscode(from: "1234", to: "1234") }
        try simulator.advance(by: .seconds(5))
        try simulator.changePasscode(from: "1234", to: "1234")
    }

    @Test func anUnusableFolderIsAnErrorThatSaysWhy() throws {
        let folder = try TemporaryFolder()
        try Data("no folder".utf8).write(to: URL(filePath: folder.path + "/store"))
        do {
            _ = try Simulator(store: store(folder))
            Issue.record("it was used")
        } catch let error as SimulatorError {
            #expect(error.description.contains("is not a folder"))
        }
    }

    @Test func aStoreInMemoryEndsWithItsMachine() throws {
        do {
            let simulator = try Simulator()
            simulator.run { #expect(add("account") == errSecSuccess) }
        }
        try Simulator().run { #expect(read("account").status == errSecItemNotFound) }
    }
}
