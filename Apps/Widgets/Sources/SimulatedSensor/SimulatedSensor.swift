// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Operates the sensor of a simulated daemon with the command `latchkey sim`.
struct SimulatedSensor: Sendable {
    /// The path of `latchkey`: beside the daemon in `LATCHKEY_DAEMON`, or in `PATH`.
    private static let command: URL? = {
        let environment = ProcessInfo.processInfo.environment
        let folders =
            (environment["LATCHKEY_DAEMON"].map { [URL(fileURLWithPath: $0).deletingLastPathComponent().path] } ?? [])
            + (environment["PATH"] ?? "").split(separator: ":").map(String.init)
        return folders.lazy.map { URL(fileURLWithPath: $0).appendingPathComponent("latchkey") }
            .first { FileManager.default.isExecutableFile(atPath: $0.path) }
    }()

    /// Whether the keychain is simulated. Asks the daemon.
    static func isThere() async -> Bool {
        struct Report: Decodable { var tier: String }
        guard let said = await run("status", "--json") else { return false }
        return (try? JSONDecoder().decode(Report.self, from: said))?.tier == "simulated"
    }

    /// Performs an action; the arguments are those of `latchkey sim --help`.
    static func play(_ words: String...) async { _ = await run(["sim"] + words) }

    private static func run(_ arguments: String...) async -> Data? { await run(arguments) }

    private static func run(_ arguments: [String]) async -> Data? {
        guard let command else { return nil }
        return await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                let (process, output) = (Process(), Pipe())
                process.executableURL = command
                process.arguments = arguments
                process.standardInput = FileHandle.nullDevice
                process.standardOutput = output
                process.standardError = FileHandle.nullDevice
                do { try process.run() } catch { return continuation.resume(returning: nil) }
                let said = output.fileHandleForReading.readDataToEndOfFile()
                process.waitUntilExit()
                continuation.resume(returning: process.terminationStatus == 0 ? said : nil)
            }
        }
    }
}
