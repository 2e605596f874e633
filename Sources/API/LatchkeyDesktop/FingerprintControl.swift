// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyClient
public import LatchkeyModel
import LatchkeySystem
import Synchronization

/// Lists, enrols and deletes the fingers of the user, as `latchkey fingerprint` does.
///
/// Calls block the calling thread, an enrolment until the finger was scanned often enough. Each runs the program
/// `latchkey-fingerprint`, which speaks to fprintd.
public final class FingerprintControl: Sendable {
    /// A reader and the fingers that are enrolled on it.
    public struct Reader: Equatable, Sendable {
        /// The product's name.
        public let name: String
        /// Tells readers of the same name from each other.
        let path: String
        /// Whether the finger is swiped over the reader, not placed on it.
        public let isSwiped: Bool
        /// The enrolled fingers, by the names of `FingerprintControl.fingers`.
        public let fingers: [String]
    }

    /// The progress of an enrolment.
    public struct Progress: Equatable, Sendable {
        /// Number of scans that were accepted.
        public let passed: Int
        /// Number of scans that are needed, as far as it is known.
        public let total: Int
        /// What the person should do next.
        public let advice: Advice
    }

    /// What the person should do next.
    public enum Advice: Equatable, Sendable {
        /// The reader is about to scan the finger for the first time.
        case begin
        /// The scan was accepted: lift the finger and scan it again.
        case passed
        /// The enrolment is complete.
        case done
        /// The reader could not use the scan: try again.
        case again(SensorGuidance)

        /// - Parameter word: a word of `latchkey-fingerprint enroll --plain`.
        init?(_ word: String) {
            switch word {
            case "begin": self = .begin
            case "passed": self = .passed
            case "done": self = .done
            default:
                guard let guidance = SensorGuidance.allCases.first(where: { $0.word == word }) else { return nil }
                self = .again(guidance)
            }
        }
    }

    /// The names of all fingers: `left-` or `right-`, then the finger.
    public static let fingers = ["right", "left"].flatMap { hand in
        ["index-finger", "thumb", "middle-finger", "ring-finger", "little-finger"].map { "\(hand)-\($0)" }
    }

    private struct State: Sendable {
        var process: pid_t?
        var isCancelled = false
    }

    private let state = Mutex(State())
    private let program: @Sendable () throws(Failure) -> String

    /// Creates a control; it starts no program yet.
    public init() { program = { () throws(Failure) in try FingerprintProgram.find() } }

    init(testOnlyProgram path: String) { program = { path } }

    /// Ends the program that runs, which releases the reader; the call that waits for it fails with code `cancelled`, and
    /// so do later calls. May be called from any thread.
    public func cancel() {
        state.withLock { state in
            state.isCancelled = true
            // The process is not waited for while it is named here, so that its number belongs to no other process.
            if let process = state.process { kill(process, SIGTERM) }
        }
    }

    /// All readers; empty if there is none. Blocks while the program reads them; never prompts.
    ///
    /// - Throws: `SettingsFailure`, with code `unavailable` if `latchkey-fingerprint` is not installed.
    public func readers() throws(SettingsFailure) -> [Reader] {
        var records: [[String]] = []
        try run(["list", "--plain"]) { records.append($0) }
        return FingerprintReader.readers(records).map { reader in
            Reader(name: reader.name, path: reader.path, isSwiped: reader.isSwiped, fingers: reader.fingers)
        }
    }

    /// Enrols a finger. Blocks until the scans are over; fprintd may ask for an authorisation (polkit).
    ///
    /// - Parameters:
    ///   - finger: one of `fingers`.
    ///   - reader: one of `readers()`. If it was disconnected since, no other one is used.
    ///   - replaces: whether a print of the same name is deleted first; ask the person before. If the enrolment is not
    ///     completed, none remains.
    ///   - progress: called on the calling thread when the reader begins, and after each scan.
    /// - Throws: `SettingsFailure`, with code `exists` for a finger that is enrolled, under another name or without
    ///   `replaces` under this one, `unplugged` if the reader was disconnected meanwhile, `notAllowed` if the system refuses
    ///   it, and `noReader` if the reader fails or was not there.
    public func enroll(
        _ finger: String, on reader: Reader, replaces: Bool, progress: (Progress) -> Void
    ) throws(SettingsFailure) {
        do throws(SettingsFailure) {
            try run(["enroll", finger] + Self.options(reader) + (replaces ? ["--replace"] : [])) { fields in
                guard fields.count == 4, fields[0] == "scan", let passed = Int(fields[1]), let total = Int(fields[2]),
                    let advice = Advice(fields[3])
                else { return }
                progress(Progress(passed: passed, total: total, advice: advice))
            }
        } catch {
            // fprintd reports a reader that is gone as one that failed.
            guard error.code == .noReader, let there = try? readers(),
                !there.contains(where: { $0.path == reader.path })
            else { throw error }
            throw SettingsFailure(.unplugged, error.message, hint: error.hint)
        }
    }

    /// Deletes the print of a finger. Blocks until it is deleted; fprintd may ask for an authorisation (polkit).
    ///
    /// - Parameters:
    ///   - finger: one of `fingers`.
    ///   - reader: one of `readers()`. If it was disconnected since, no other one is used.
    /// - Throws: `SettingsFailure`, with code `notFound` if it is not enrolled, and `noReader` if the reader is
    ///   disconnected.
    public func delete(_ finger: String, on reader: Reader) throws(SettingsFailure) {
        try run(["delete", finger, "--yes"] + Self.options(reader)) { _ in }
    }

    /// Options that name a reader by its name and its path: each of them can be that of another reader later.
    private static func options(_ reader: Reader) -> [String] {
        ["--plain", "--reader", reader.name, "--path", reader.path]
    }

    // MARK: - The program

    /// Longest time in seconds that the program may take to end after its last output.
    private static let endSeconds: Int64 = 5
    private static let lineBytes = 4096

    private func run(_ arguments: [String], line: ([String]) -> Void) throws(SettingsFailure) {
        let (process, output, errors) = try start(arguments)
        var lines = LineReader(limit: Self.lineBytes)
        var said: [UInt8] = []
        do throws(SystemError) {
            while case let bytes = try output.read(atMost: Self.lineBytes), !bytes.isEmpty {
                for text in lines.lines(after: bytes) { line(text) }
            }
            while said.count < Self.lineBytes, case let bytes = try errors.read(atMost: Self.lineBytes), !bytes.isEmpty
            {
                said += bytes
            }
        } catch {
            kill(process, SIGTERM)
        }
        // The number is withdrawn before the wait releases it.
        let isCancelled = state.withLock { state in
            state.process = nil
            return state.isCancelled
        }
        let status = Processes.wait(process, killAfter: Self.endSeconds)
        guard status != 0 else { return }
        guard !isCancelled else { throw .cancelled }
        throw Self.failure(status, said)
    }

    private func start(_ arguments: [String]) throws(SettingsFailure) -> (pid_t, Descriptor, Descriptor) {
        var path = "latchkey-fingerprint"
        do throws(Failure) { path = try program() } catch { throw SettingsFailure(error) }
        let started: Result<(pid_t, Descriptor, Descriptor), SystemError>? = state.withLock { state in
            guard !state.isCancelled else { return nil }
            return Result { () throws(SystemError) in
                let (output, errors) = (try Sockets.pair(), try Sockets.pair())
                let process = try Processes.spawn(path, arguments, descriptors: [nil, output.1, errors.1])
                state.process = process
                return (process, output.0, errors.0)
            }
        }
        guard let started else { throw .cancelled }
        do throws(SystemError) { return try started.get() } catch {
            throw SettingsFailure(Failure(error, "\(path) cannot be started"))
        }
    }

    /// The failure that the program's exit status (sysexits(3)) and its standard error describe.
    private static func failure(_ status: CInt, _ said: [UInt8]) -> SettingsFailure {
        let lines = String(showing: said).parts(at: "\n")
        func text(_ start: String) -> Phrase? {
            lines.first { $0.hasPrefix(start) }.map { "\($0.dropFirst(start.count))" }
        }
        let code: SettingsFailure.Code =
            switch (status >> 8) & 0xff {
            case 66: .notFound
            case 69: .noReader
            case 73: .exists
            case 77: .notAllowed
            default: .other
            }
        return SettingsFailure(
            code, text("error: ") ?? "The program that speaks to the sensor ended unexpectedly.",
            hint: text("hint: ") ?? "")
    }
}

/// The program `latchkey-fingerprint`, which speaks to fprintd: it links libsystemd, which its callers do not.
package enum FingerprintProgram {
    /// Its path: the first place of `ProgramSearch` that has it.
    package static func find() throws(Failure) -> String {
        try ProgramSearch("latchkey-fingerprint").find(
            hint: "It is part of the services of a system; see services.md. fprintd-enroll enrols fingers too.")
    }
}
