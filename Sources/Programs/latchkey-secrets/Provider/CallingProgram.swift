// SPDX-License-Identifier: Apache-2.0

import BusDrivers
import LatchkeyClient
import LatchkeyModel

/// What the provider knows about one connection to the bus. It ends when the connection does.
final class CallingProgram {
    enum Identity {
        /// The bus was asked.
        case awaited
        case known(AskingProcess)
        case refused
    }

    /// Work for the daemon, which begins in the order of the calls.
    struct Job {
        let number: UInt64
        /// Whether it may wait for the person: later jobs do not wait for it.
        let waits: Bool
        let start: (AskingProcess) -> Void
    }

    /// The unique name, such as `:1.42`.
    let name: String
    var identity = Identity.awaited
    var observation: SystemBus.Observation?
    var sessions: [UInt64: TransferSession] = [:]
    var prompts: [UInt64: SecretPrompt] = [:]
    var jobs: [Job] = []
    /// The job that later ones wait for.
    var current: UInt64?
    /// The calls that are under way, with what ends them early.
    var running: [UInt64: CallCancellation] = [:]

    /// Items that the program has seen, for reads of their properties, until any program changes one.
    private(set) var seen: [String: KeptItem] = [:]
    private static let mostSeen = 1 << 14
    /// The items of other programs that it has unlocked: their secrets can be asked for.
    private(set) var unlocked: Set<String> = []
    private static let mostUnlocked = 1 << 14

    init(_ name: String) { self.name = name }

    var process: AskingProcess? { if case .known(let process) = identity { process } else { nil } }

    func isLocked(_ item: KeptItem) -> Bool { item.isForeign && !unlocked.contains(item.identifier) }

    func remember(_ items: [KeptItem]) {
        if seen.count + items.count > Self.mostSeen { seen = [:] }
        for item in items.prefix(Self.mostSeen) { seen[item.identifier] = item }
    }

    func forgetSeen() { seen = [:] }

    func unlock(_ identifier: String) throws(SecretError) {
        guard unlocked.count < Self.mostUnlocked else { throw .tooMany }
        unlocked.insert(identifier)
    }

    func lock(_ identifier: String) { unlocked.remove(identifier) }
}

/// A prompt that a program has to show, by its method `Prompt`, for `Unlock` of a locked keychain.
struct SecretPrompt {
    /// What is unlocked after it.
    let objects: [SecretObject]
    /// Ends it; nil until it is shown.
    var cancellation: CallCancellation?
}

/// A call to answer.
struct SecretCall {
    let number: UInt64
    let program: CallingProgram
    let object: SecretObject
    let arguments: [BusValue]
}
