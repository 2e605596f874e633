// SPDX-License-Identifier: Apache-2.0

import BusDrivers
import Glibc
import LatchkeyClient
import LatchkeyModel
import LatchkeySystem

/// The provider of `org.freedesktop.secrets` on one bus.
///
/// Everything here is for the bus's thread: it verifies a call, and sends what is likely to be answered at once to the
/// daemon itself (`FirstAttempt`), for which it waits `Bound.attemptMilliseconds` at most. Everything else that needs the
/// daemon is done by a thread of its own, which then hands the result back: two threads fewer have to be woken where no
/// person is asked. There is no store: a restart loses sessions, prompts and the collection `session`.
final class SecretProvider: @unchecked Sendable {
    // Sendable: everything that changes belongs to the thread of the bus.

    static let name = "org.freedesktop.secrets"

    /// How many there may be at once.
    enum Bound {
        static let programs = 400
        /// The paths of some ten thousand items, with room.
        static let valuesOfMessage = 1 << 16
        static let callsOfProgram = 64
        /// Calls that wait for their answers, of all connections of a process.
        static let waitingOfProcess = 16
        static let threads = 64
        /// Milliseconds for which the thread of the bus waits for the daemon, if no other call waits for it.
        static let attemptMilliseconds: Int64 = 2
        /// Threads for calls that do not wait for the person, so that those that do block no other program.
        static let threadsForOthers = 16
        static let programsOfProcess = 32
        static let sessionsOfProgram = 32
        static let promptsOfProgram = 16
        /// Bytes of all secrets of one answer.
        static let answerBytes = 32 << 20
        /// Milliseconds in which the bus has to say who calls.
        static let credentialsMilliseconds: Int64 = 10_000
    }

    /// A call that is not answered yet.
    private struct Open {
        let incoming: SystemBus.Incoming
        let reply: String
    }

    let bus: SystemBus
    let keeper: any SecretKeeper
    private let user: UInt32
    private let workers = WorkerThreads()
    private var programs: [String: CallingProgram] = [:]
    private var open: [UInt64: Open] = [:]
    private var threads = 0
    private var lastNumber: UInt64 = 0
    var sessionCollection = SessionCollection()

    init(_ bus: SystemBus, _ keeper: any SecretKeeper, user: UInt32 = geteuid()) {
        self.bus = bus
        self.keeper = keeper
        self.user = user
    }

    /// Serves, and takes the name unless another program has it.
    ///
    /// - Parameter taken: called on the bus's thread with the failure, if there is one.
    func start(_ taken: @escaping @Sendable (Result<Void, BusError>) -> Void) {
        bus.run { [self] in
            bus.serve(SecretObject.root) { [weak self] in self?.receive($0, $1) }
            // 4: without waiting in the queue of the name. The name is never taken from its owner, and never given up.
            let call = BusCall(
                BusNames.bus, BusNames.busPath, BusNames.bus, "RequestName", [.string(Self.name), .integer(4)])
            bus.call(call, milliseconds: Bound.credentialsMilliseconds) { answer in
                switch answer {
                case .success(let values):
                    let isOwner = values.first?.number == 1
                    taken(isOwner ? .success(()) : .failure(.refused(name: Self.name, message: "another owner")))
                case .failure(let error): taken(.failure(error))
                }
            }
        }
    }

    func nextNumber() -> UInt64 {
        lastNumber += 1
        return lastNumber
    }

    // MARK: - Calls

    private func receive(_ request: BusRequest, _ incoming: SystemBus.Incoming) {
        do throws(SecretError) {
            let program = try program(request.sender)
            guard program.running.count + program.jobs.count < Bound.callsOfProgram else { throw .tooMany }
            guard let object = SecretObject(path: request.path) else {
                throw SecretError(.unknownObject, "There is no object \(request.path).")
            }
            let (interface, method) = try Self.method(request, object)
            guard request.signature.hasBytes(of: method.signature), let arguments = request.arguments else {
                throw SecretError(
                    .invalidArguments, "\(method.name) takes (\(method.signature)), not (\(request.signature)).")
            }
            let call = SecretCall(number: nextNumber(), program: program, object: object, arguments: arguments)
            open[call.number] = Open(incoming: incoming, reply: method.reply)
            do throws(SecretError) {
                try exists(call)
                try handle(call, interface, method)
            } catch {
                answer(call.number, .failure(error))
            }
        } catch {
            bus.answer(incoming, .error(name: error.name.rawValue, message: error.message))
        }
    }

    private static func method(
        _ request: BusRequest, _ object: SecretObject
    ) throws(SecretError) -> (BusInterface, BusInterface.Method) {
        let interfaces = [object.interface] + BusInterface.common
        if let name = request.interface, !interfaces.contains(where: { $0.name.hasBytes(of: name) }) {
            throw SecretError(.unknownInterface, "This object has no interface \(name).")
        }
        for interface in interfaces where request.interface.map(interface.name.hasBytes) ?? true {
            if let method = interface.methods.first(where: { $0.name.hasBytes(of: request.member) }) {
                return (interface, method)
            }
        }
        throw SecretError(.unknownMethod, "This object has no method \(request.member).")
    }

    /// Sessions and prompts exist for the program that has them.
    private func exists(_ call: SecretCall) throws(SecretError) {
        switch call.object {
        case .service, .collection, .item: break
        case .session(let number): guard call.program.sessions[number] != nil else { throw .noSession }
        case .prompt(let number): guard call.program.prompts[number] != nil else { throw .noSuchObject }
        }
    }

    private func handle(
        _ call: SecretCall, _ interface: BusInterface, _ method: BusInterface.Method
    ) throws(SecretError) {
        if interface.name == BusInterface.introspection.name {
            return answer(call.number, [.string(BusInterface.xml([call.object.interface] + BusInterface.common))])
        }
        if interface.name == BusInterface.propertyAccess.name { return try property(call, method.name) }
        switch (call.object, method.name) {
        case (.service, let name): try service(call, name)
        case (.collection(let collection), let name): try self.collection(collection, call, name)
        case (.item(let collection, let item), let name): try self.item(collection, item, call, name)
        case (.session(let number), _):
            call.program.sessions[number] = nil
            answer(call.number, [])
        case (.prompt(let number), "Prompt"): try show(number, call)
        case (.prompt(let number), _):
            dismiss(number, of: call.program)
            answer(call.number, [])
        }
    }

    /// Answers a call, unless it was answered or its caller has left.
    func answer(_ number: UInt64, _ values: [BusValue]) { answer(number, .success(values)) }

    private func answer(_ number: UInt64, _ result: Result<[BusValue], SecretError>) {
        guard let call = open.removeValue(forKey: number) else { return }
        switch result {
        case .success(let values): bus.answer(call.incoming, .values(values, signature: call.reply))
        case .failure(let error): bus.answer(call.incoming, .error(name: error.name.rawValue, message: error.message))
        }
    }

    // MARK: - Programs

    private func program(_ name: String) throws(SecretError) -> CallingProgram {
        if let program = programs[name] { return program }
        guard programs.count < Bound.programs else { throw .tooMany }
        let program = CallingProgram(name)
        programs[name] = program
        let rule =
            "type='signal',sender='\(BusNames.bus)',path='\(BusNames.busPath)',interface='\(BusNames.bus)',"
            + "member='NameOwnerChanged',arg0='\(name)'"
        // Before the question who it is: a program that has left by then is an error of that question.
        program.observation = bus.observe(rule) { [weak self] signal in
            if signal.arguments.count == 3, signal.arguments[2].text?.isEmpty == true { self?.left(name) }
        }
        let call = BusCall(
            BusNames.bus, BusNames.busPath, BusNames.bus, "GetConnectionCredentials", [.string(name)])
        bus.call(call, milliseconds: Bound.credentialsMilliseconds) { [weak self] answer in
            self?.identified(name, answer)
        }
        return program
    }

    private func identified(_ name: String, _ answer: Result<[BusValue], BusError>) {
        guard let program = programs[name] else { return }
        guard case .success(let values) = answer, let process = asker(values),
            programs(of: process).count < Bound.programsOfProcess
        else {
            program.identity = .refused
            for job in program.jobs {
                self.answer(
                    job.number,
                    .failure(
                        SecretError(
                            .accessDenied,
                            "The message bus does not say who calls, or the process has too many connections.")))
            }
            return left(name)
        }
        program.identity = .known(process)
        startJobs(of: program)
    }

    /// The process of the answer of `GetConnectionCredentials`; nil for one of another user, and for one that has ended.
    private func asker(_ answer: [BusValue]) -> AskingProcess? {
        var (process, user): (Int32?, UInt32?)
        var handle: BusFile?
        for entry in answer.first?.values ?? [] {
            guard let pair = entry.values, pair.count == 2, let value = pair[1].content else { continue }
            switch pair[0].text {
            case "ProcessID": process = value.number.flatMap { Int32(exactly: $0) }
            case "UnixUserID": user = value.number.flatMap { UInt32(exactly: $0) }
            case "ProcessFD": if case .file(let file) = value { handle = file }
            default: break
            }
        }
        guard let process, user == self.user else { return nil }
        return AskingProcess(process, user: self.user, handle: handle?.descriptor)
    }

    /// The connections of a process.
    private func programs(of process: AskingProcess) -> [CallingProgram] {
        programs.values.filter { $0.process?.name == process.name }
    }

    /// Ends everything of a program that has left the bus.
    private func left(_ name: String) {
        guard let program = programs.removeValue(forKey: name) else { return }
        if let observation = program.observation { bus.ignore(observation) }
        for number in program.jobs.map(\.number) + Array(program.running.keys) { open[number] = nil }
        for cancellation in program.running.values { Self.cancel(cancellation) }
        for prompt in program.prompts.values { prompt.cancellation.map(Self.cancel) }
        program.jobs = []
    }

    /// On a thread of its own: sending to the daemon may wait.
    static func cancel(_ cancellation: CallCancellation) { Processes.detachThread { cancellation.cancel() } }

    /// Items that programs have seen may have changed.
    func forgetSeen() { for program in programs.values { program.forgetSeen() } }

    // MARK: - Work for the daemon

    /// Does `work` off the thread of the bus, after the earlier calls of the program; then calls `then` on the thread of the
    /// bus, and answers the call with what it returns.
    ///
    /// - Parameters:
    ///   - waits: whether it may wait for the person, so that later calls of the program do not wait for it.
    ///   - inOrder: whether they do nevertheless.
    ///   - atOnce: whether the daemon is likely to answer at once: `work` is then tried on the thread of the bus. It has no
    ///     effect until it uses the keeper, and computes little.
    func work<Value: Sendable>(
        _ call: SecretCall, waits: Bool = false, inOrder: Bool = false, atOnce: Bool = false,
        _ work: @escaping @Sendable (any SecretKeeper, AskingProcess, CallCancellation) throws(Failure) -> Value,
        then: @escaping (Value) throws(SecretError) -> [BusValue]
    ) {
        let (number, program) = (call.number, call.program)
        let job = CallingProgram.Job(number: number, waits: waits && !inOrder) { [weak self] process in
            self?.start(number, program, process, waits: waits, atOnce: atOnce, work) { [weak self] result in
                guard let self, programs[program.name] === program else { return }
                program.running[number] = nil
                answer(number, Self.answer(result, then))
                if program.current == number { program.current = nil }
                startJobs(of: program)
            }
        }
        program.jobs.append(job)
        startJobs(of: program)
    }

    private static func answer<Value>(
        _ result: Result<Value, Failure>, _ then: (Value) throws(SecretError) -> [BusValue]
    ) -> Result<[BusValue], SecretError> {
        do throws(SecretError) {
            switch result {
            case .success(let value): return .success(try then(value))
            case .failure(let failure): return .failure(SecretError(failure))
            }
        } catch {
            return .failure(error)
        }
    }

    private func startJobs(of program: CallingProgram) {
        guard let process = program.process else { return }
        while program.current == nil, !program.jobs.isEmpty {
            let job = program.jobs.removeFirst()
            if !job.waits { program.current = job.number }
            job.start(process)
        }
    }

    /// Runs `work` on a thread that does nothing else meanwhile, and `finish` on that of the bus.
    ///
    /// - Parameter atOnce: whether it is tried on the thread of the bus, and `finish` may be called before this returns.
    func start<Value: Sendable>(
        _ number: UInt64, _ program: CallingProgram, _ process: AskingProcess, waits: Bool, atOnce: Bool = false,
        _ work: @escaping @Sendable (any SecretKeeper, AskingProcess, CallCancellation) throws(Failure) -> Value,
        _ finish: @escaping (Result<Value, Failure>) -> Void
    ) {
        let cancellation = CallCancellation()
        program.running[number] = cancellation
        let ofProcess = programs(of: process).reduce(0) { $0 + $1.running.count }
        let limit = waits ? Bound.threads - Bound.threadsForOthers : Bound.threads
        guard threads < limit, ofProcess <= Bound.waitingOfProcess else {
            return later(finish, .failure(Failure(.limitExceeded, "Too many calls wait for an answer.")))
        }
        var keeper = self.keeper
        if atOnce {
            let attempt = FirstAttempt(keeper)
            let result = Self.result(of: work, attempt, process, cancellation)
            guard attempt.isUnfinished else { return finish(result) }
            keeper = attempt
        }
        threads += 1
        let finish = Confined(finish)
        let isStarted = workers.run { [bus, keeper] in
            let result = Self.result(of: work, keeper, process, cancellation)
            bus.run { [weak self] in
                self?.threads -= 1
                finish.value(result)
            }
        }
        if !isStarted {
            threads -= 1
            later(finish.value, .failure(Failure(.limitExceeded, "The system starts no further thread.")))
        }
    }

    private static func result<Value>(
        of work: (any SecretKeeper, AskingProcess, CallCancellation) throws(Failure) -> Value,
        _ keeper: any SecretKeeper, _ process: AskingProcess, _ cancellation: CallCancellation
    ) -> Result<Value, Failure> {
        do throws(Failure) {
            let value = try work(keeper, process, cancellation)
            // A number of a process that has ended may belong to another program by now.
            guard process.isRunning else { throw Failure(.notPermitted, "The program has ended.") }
            return .success(value)
        } catch {
            return .failure(error)
        }
    }

    /// Not at once: the caller of `start` goes on with what `finish` changes.
    private func later<Value: Sendable>(
        _ finish: @escaping (Result<Value, Failure>) -> Void, _ result: Result<Value, Failure>
    ) { bus.after(milliseconds: 0) { finish(result) } }
}

/// Names of the bus itself.
enum BusNames {
    static let bus = "org.freedesktop.DBus"
    static let busPath = "/org/freedesktop/DBus"
}
