// SPDX-License-Identifier: Apache-2.0

import BusDrivers
import Glibc
import LatchkeyModel
import LatchkeySystem
import LatchkeyWords

/// The process of the provider, and of `latchkey secrets`, which `latchkey` becomes.
enum SecretsProcess {
    static func main() -> Never {
        let arguments = ProgramStart.begin()
        let texts = SecretsTexts(Words.installed(isolates: false, isTerminal: true))
        if arguments.isEmpty || arguments == ["--help"] {
            write(texts.usage, .output)
            ProgramEnd.now(arguments.isEmpty ? 64 : 0)
        }
        do throws(Failure) {
            if arguments == ["--serve"] { try serve(texts) }
            try SecretsCommand(
                setup: SecretsSetup(), bus: sessionBus, texts: texts, write: { write($0, .output) },
                note: { write($0, .error) }
            ).run(arguments)
            ProgramEnd.now()
        } catch {
            write(texts.report(error), .error)
            ProgramEnd.now(error.status == .invalidParameter ? 64 : error.status.exitCode)
        }
    }

    /// The bus of the login session. The address is the one that sd_bus_open_user(3) uses.
    private static func sessionBus() throws(Failure) -> SystemBus {
        let address =
            Environment.value("DBUS_SESSION_BUS_ADDRESS")
            ?? Environment.value("XDG_RUNTIME_DIR").map { "unix:path=\($0)/bus" }
        guard let address else {
            throw Failure(
                .daemonUnavailable, "There is no message bus of a session: DBUS_SESSION_BUS_ADDRESS is not set.")
        }
        do throws(SystemError) {
            return try SystemBus(address: address, mostValues: SecretProvider.Bound.valuesOfMessage)
        } catch {
            throw Failure(error, "The message bus cannot be used")
        }
    }

    // MARK: - The provider

    private static func serve(_ texts: SecretsTexts) throws(Failure) -> Never {
        let signals = DaemonProcess.blockEndingSignals()
        let setup = try SecretsSetup()
        guard setup.isEnabled else { throw texts.notEnabled }
        // Items of others pass through this process; without locked memory they are still overwritten after use.
        _ = SecretMemory.lock()
        let bus = try sessionBus()
        let hasEnded = Answer<Failure?>()
        bus.run { bus.whenLost { hasEnded.set(nil) } }
        let provider = SecretProvider(bus, DaemonKeeper())
        provider.start { result in
            switch result {
            case .success: break
            case .failure(.refused(SecretProvider.name, _)): hasEnded.set(texts.nameIsTaken)
            case .failure(let error):
                hasEnded.set(Failure(.daemonUnavailable, "The message bus cannot be used: \(error.description)"))
            }
        }
        DaemonProcess.stop(on: signals) { ProgramEnd.now() }
        // The session has ended, or its bus is started again: the new bus starts the provider when a program needs it. Every
        // item and answer is in the daemon.
        guard let failure = hasEnded.wait(), let failure else {
            write(texts.busHasEnded + "\n", .error)
            ProgramEnd.now()
        }
        withExtendedLifetime(provider) {}
        throw failure
    }

    private static func write(_ text: String, _ stream: StandardStream) {
        // Without a stream to say it on, the status of the program remains.
        try? stream.write(all: Array(text.utf8))
    }
}
