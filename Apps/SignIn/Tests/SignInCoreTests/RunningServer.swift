// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeyTesting
import Synchronization

@testable import SignInCore

/// A `latchkey-server` with an empty database in a temporary folder, which ends with this object.
final class RunningServer: Sendable {
    /// The program of the server; nil when the tests run without one, which `make test SUITE=apps` never does.
    static let program = ProcessInfo.processInfo.environment["LATCHKEY_SERVER"].map { URL(filePath: $0) }

    let address: String
    private let folder: URL
    private let process: Mutex<Process?>

    init() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "sign-in.\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        self.folder = folder
        let secret = folder.appending(path: "secret")
        let hexadecimal = (0..<32).map { _ in String(format: "%02x", UInt8.random(in: 0...255)) }.joined()
        try Data(hexadecimal.utf8).write(to: secret)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: secret.path)
        let configuration = """
            relying_party_id = localhost
            port = 0
            database = \(folder.path)/server.sqlite
            secret_file = \(secret.path)
            minimum_tier = simulated

            """
        try Data(configuration.utf8).write(to: folder.appending(path: "server.conf"))
        let (process, log) = (try Self.make(folder, ["serve"]), Pipe())
        process.standardError = log
        try process.run()
        self.process = Mutex(process)
        // The first line is written when the socket listens.
        var line = Data()
        while !line.contains(10) {
            let more = log.fileHandleForReading.availableData
            guard !more.isEmpty else { throw ServerFailure(words: String(decoding: line, as: UTF8.self)) }
            line += more
        }
        // Read to its end, so that the server never waits for a full pipe.
        Thread.detachNewThread { while !log.fileHandleForReading.availableData.isEmpty {} }
        guard let match = String(decoding: line, as: UTF8.self).firstMatch(of: /"port":([0-9]+)/) else {
            throw ServerFailure(words: String(decoding: line, as: UTF8.self))
        }
        address = "localhost:\(match.1)"
    }

    /// Runs a command of the operator; returns its output.
    @discardableResult func operate(_ arguments: String...) throws -> String {
        let (process, output) = (try Self.make(folder, arguments), Pipe())
        process.standardOutput = output
        try process.run()
        let said = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        let text = String(decoding: said, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        guard process.terminationStatus == 0 else { throw ServerFailure(words: text) }
        return text
    }

    /// An enrolment code for a user.
    func code(for user: String = "ada") throws -> String { try operate("code", user) }

    /// Ends the server.
    func end() {
        process.withLock { process in
            process?.terminate()
            process?.waitUntilExit()
            process = nil
        }
    }

    deinit {
        end()
        try? FileManager.default.removeItem(at: folder)
    }

    private static func make(_ folder: URL, _ arguments: [String]) throws -> Process {
        let process = Process()
        guard let program else { throw ServerFailure(words: "LATCHKEY_SERVER is not set") }
        process.executableURL = program
        process.arguments = [folder.appending(path: "server.conf").path] + arguments
        process.standardInput = FileHandle.nullDevice
        return process
    }
}

/// The server did not start, or refused a command.
struct ServerFailure: Error {
    var words: String
}

/// A clock that only the test advances.
final class TestClock: Sendable {
    private let ahead = Mutex(TimeInterval(0))
    var date: Date { Date().addingTimeInterval(ahead.withLock { $0 }) }
    func advance(_ seconds: TimeInterval) { ahead.withLock { $0 += seconds } }
}

/// The app on the simulated machine of the test, and a server.
@MainActor
struct App {
    let server: RunningServer
    let clock = TestClock()
    let model: SignInModel

    /// Starts the app; a second one with the same server is a restart.
    init(_ server: RunningServer? = nil, setup: SignInSetup = SignInSetup()) async throws {
        self.server = try server ?? RunningServer()
        var setup = setup
        let clock = clock
        setup.now = { clock.date }
        setup.deviceName = "a laptop"
        model = SignInModel(setup: setup)
        await model.start()
    }

    /// Starts the app and registers the device.
    static func registered(_ release: Account.Release = .biometry) async throws -> App {
        let app = try await App()
        try machine().touch(matching: true)
        await app.model.register(try app.form(release))
        return app
    }

    /// Starts the app, registers the device and signs in.
    static func signedIn() async throws -> App {
        let app = try await registered()
        try machine().touch(matching: true)
        await app.model.signIn()
        return app
    }

    /// A form with a new code for ada.
    func form(_ release: Account.Release = .biometry) throws -> RegistrationForm {
        RegistrationForm(server: server.address, user: "ada", code: try server.code(), release: release)
    }
}

/// The simulated machine of the running test.
func machine() throws -> Simulator {
    guard let current = Simulator.current else { throw ServerFailure(words: "no simulated machine") }
    return current
}
