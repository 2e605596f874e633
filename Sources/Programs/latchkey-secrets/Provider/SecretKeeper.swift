// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyClient
import LatchkeyIdentity
import LatchkeyModel
import LatchkeySystem
import LatchkeyWire

/// Where the items are: the daemon, or a stand-in of a test. Calls block the calling thread and come from any thread.
protocol SecretKeeper: Sendable {
    /// Does `action` on behalf of a program.
    func use(
        _ action: SecretAction, for program: AskingProcess, _ cancellation: CallCancellation
    ) throws(Failure) -> [FoundItem]
    /// Begins `use` without waiting; nil if that is not possible, and then nothing was done.
    func begin(_ action: SecretAction, for program: AskingProcess) throws(Failure) -> (any BegunUse)?
    /// Whether the keychain is locked as a whole.
    func isLocked() throws(Failure) -> Bool
    func lock() throws(Failure)
}

/// A `use` that has begun. One thread has it at a time, until it returns the items or throws.
protocol BegunUse: Sendable {
    /// The items, if they are there in that time.
    func response(milliseconds: Int64) throws(Failure) -> [FoundItem]?
    func response(_ cancellation: CallCancellation) throws(Failure) -> [FoundItem]
}

extension BegunCall: BegunUse where Call == Request.UseSecrets {}

/// `latchkeyd`.
struct DaemonKeeper: SecretKeeper {
    private let client: Client

    init(_ client: Client = .daemon) { self.client = client }

    func use(
        _ action: SecretAction, for program: AskingProcess, _ cancellation: CallCancellation
    ) throws(Failure) -> [FoundItem] {
        try client.call(Self.request(action, program), cancellation: cancellation)
    }

    func begin(_ action: SecretAction, for program: AskingProcess) throws(Failure) -> (any BegunUse)? {
        try client.begin(Self.request(action, program))
    }

    private static func request(_ action: SecretAction, _ program: AskingProcess) -> Request.UseSecrets {
        Request.UseSecrets(process: program.name, isPinned: program.isPinned, action: action)
    }

    func isLocked() throws(Failure) -> Bool { try client.call(Request.Status()).isLocked }
    func lock() throws(Failure) { try client.call(Request.Lock()) }
}

/// The process at the other end of a connection to the bus.
struct AskingProcess: Sendable {
    /// What the items of the collection `session` belong to.
    struct Owner: Equatable, Sendable {
        let executable: ExecutableFile
        /// The app in a sandbox: one program passes on the calls of all Flatpak apps.
        let app: SandboxedApp?
    }

    let name: ProcessName
    /// The program, when it was asked for; nil where it cannot be determined.
    let owner: Owner?
    /// A pidfd: that of the bus, or else one of our own; nil where neither can be had.
    private let handle: Descriptor?
    /// Whether the pidfd is that of the bus. The bus gives none before dbus 1.15.8, and then the number may have become that of
    /// another process since it was told.
    let isPinned: Bool

    /// Reads the start time of a process; nil if it has ended.
    init?(_ processID: Int32, user: UInt32, handle: Descriptor? = nil) {
        isPinned = handle != nil
        // Before the start time is read, which is then that of the process of the pidfd.
        self.handle = handle ?? (try? SystemCalls.kernel.handle(of: processID))
        guard let job = TerminalJob(processID) else { return nil }
        name = ProcessName(processID: processID, startTime: job.startTime, userID: user)
        owner = Self.owner(name)
        // Read while the process lived, so that the start time is not that of a later process with the same number.
        guard isRunning else { return nil }
    }

    private static func owner(_ process: ProcessName) -> Owner? {
        guard let executable = ExecutableFile(of: process.processID),
            // What cannot be read is not determined.
            let statement = try? SandboxStatement(of: process)
        else { return nil }
        switch statement {
        case .nothing: return Owner(executable: executable, app: nil)
        case .app(let app): return Owner(executable: executable, app: app)
        case .malformed: return nil
        }
    }

    /// This process.
    static var own: AskingProcess {
        get throws(Failure) {
            guard let own = AskingProcess(getpid(), user: geteuid()) else {
                throw Failure(.internalFailure, "The start time of this process cannot be read.")
            }
            return own
        }
    }

    /// Whether it has not ended.
    var isRunning: Bool {
        guard let handle else { return TerminalJob(name.processID)?.startTime == name.startTime }
        // A pidfd becomes readable when its process has ended (pidfd_open(2)).
        do throws(SystemError) { return try !handle.wait(for: POLLIN, until: 0) } catch { return false }
    }
}

/// The parts of an item that a program may see.
struct KeptItem: Equatable, Sendable {
    let collection: String
    let identifier: String
    /// Nil for an item that the program may not read without being asked for.
    let label: String?
    let contentType: String
    let pairs: SecretPairs
    /// Seconds since 1970.
    let created: Int64
    let modified: Int64
    let secret: SecretBytes?

    /// Whether the program may read it once the keychain is unlocked.
    let awaitsUnlock: Bool

    var isForeign: Bool { label == nil }
    var object: SecretObject { .item(collection: collection, identifier) }

    /// - Throws: `internalFailure` if the daemon has sent no item of this kind.
    init(_ found: FoundItem) throws(Failure) {
        func text(_ code: AttributeCode) -> String? {
            if case .text(let text)? = found.attributes?[code] { text } else { nil }
        }
        func seconds(_ code: AttributeCode) -> Int64 {
            if case .date(let microseconds)? = found.attributes?[code] { max(0, microseconds / 1_000_000) } else { 0 }
        }
        guard let identifier = text(.identifier) else { throw .unexpectedReply }
        self.identifier = identifier
        // A collection is an item without a collection.
        collection = text(.collection) ?? ""
        label = text(.label)
        contentType = text(.contentType) ?? "text/plain"
        pairs = try Self.pairs(found.attributes?[.pairs])
        created = seconds(.creationDate)
        modified = seconds(.modificationDate)
        secret = found.secret
        awaitsUnlock = label != nil && found.accessControl == nil
    }

    init(
        collection: String, identifier: String, label: String, contentType: String, pairs: SecretPairs, created: Int64,
        modified: Int64, secret: SecretBytes
    ) {
        self.collection = collection
        self.identifier = identifier
        self.label = label
        self.contentType = contentType
        self.pairs = pairs
        self.created = created
        self.modified = modified
        self.secret = secret
        awaitsUnlock = false
    }

    private static func pairs(_ value: AttributeValue?) throws(Failure) -> SecretPairs {
        guard case .data(let bytes)? = value else { return .none }
        guard let pairs = SecretPairs(bytes) else { throw .unexpectedReply }
        return pairs
    }
}
