// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization

@main
enum Main {
    static func main() {
        do throws(BenchFailure) {
            switch try Options.Choice(arguments: Array(CommandLine.arguments.dropFirst())) {
            case .help: print(Options.help, terminator: "")
            case .floor(let database): try FloorProcess.serve(database: database)
            case .list: try Listing.run()
            case .tpm(let options): try TPMRun.measure(options)
            case .passcodeServices(let folder, let programs): try PasscodeRun.serve(folder, programs)
            case .passcodeClient(let floor, let result): try PasscodeRun.sign(floor, result)
            case .measure(let options): try measure(options)
            }
        } catch {
            print("error: \(error.message)", to: .standardError)
            if !error.hint.isEmpty { print("hint: \(error.hint)", to: .standardError) }
            exit(1)
        }
    }

    private static func measure(_ options: Options) throws(BenchFailure) {
        // Read first, before this run adds to the load.
        let load = Machine.loadAverage
        guard let program = ProcessInfo.processInfo.environment["LATCHKEY_DAEMON"], !program.isEmpty else {
            throw BenchFailure(
                "LATCHKEY_DAEMON does not name the daemon to measure.", hint: "Run it with: make bench")
        }
        try options.cores.settleSelf()
        let place = try Workspace(in: options.folder)
        let daemon = DaemonProcess(store: place.store)
        let cleanUp = CleanUp {
            daemon.stopQuietly()
            Keyring.endAll()
            place.remove()
        }
        defer { cleanUp.run() }
        cleanUp.runOnInterrupt()
        let machine = Machine(loadAverage: load, fileSystem: place.fileSystem, coresInUse: options.cores.count)
        print(machine.line, to: .standardError)
        var run = try MeasuringRun(options, place, daemon)
        let measured = try run.measureAll()
        let keys = try KeyRun.measure()
        let enclave = try KeyRun.measureEnclave()
        let report = Report(
            machine: machine, measured: measured, keys: keys, enclave: enclave,
            keyrings: KeyringRun.measure(options, place))
        try report.publish(options.json)
    }
}

/// Runs the cleanup exactly once, at the end or on an interrupt.
private final class CleanUp: Sendable {
    private let isDone = Mutex(false)
    private let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) { self.body = body }

    /// Cleans up, or waits for another thread that does; then exits if an exit code is given.
    func run(exitCode: CInt? = nil) {
        isDone.withLock { done in
            if !done { body() }
            done = true
            // Exits with the lock held, so that the interrupted run cannot print errors meanwhile.
            if let exitCode { exit(exitCode) }
        }
    }

    func runOnInterrupt() {
        for number in [SIGINT, SIGTERM] {
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler {
                // A deliberate reference cycle that keeps the source alive until the process ends.
                withExtendedLifetime(source) { self.run(exitCode: 128 + number) }
            }
            source.resume()
        }
    }
}
