// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams
import SimulatedDriver
import Synchronization
import SystemDriver
import TestSupport

@testable import LatchkeyService

/// A callback that runs once, at a defined point of another operation.
final class Interruption: Sendable {
    private let body = Mutex<(@Sendable () -> Void)?>(nil)

    func set(_ body: @escaping @Sendable () -> Void) { self.body.withLock { $0 = body } }

    func happen() {
        body.withLock { body in
            defer { body = nil }
            return body
        }?()
    }
}

/// A prompter that runs an interruption while a prompt is dismissed, as if it happened on another thread.
private final class SlowPrompter: Prompter {
    private let whileGoing: Interruption

    init(whileGoing: Interruption) { self.whileGoing = whileGoing }

    func show(_ prompt: Prompt, events: @escaping @Sendable (PromptEvent) -> Void) { events(.visible) }
    func update(_ id: UInt64, _ content: PromptContent) {}
    func dismiss(_ id: UInt64) { whileGoing.happen() }
}

/// An authority with an interruption that runs when a passcode has been verified and the authority has not received
/// the result.
private final class InterruptedAuthority: AuthorityDecorator {
    let authority: any AuthenticationAuthority
    let service = ServiceReference()
    private let whileChecking: Interruption

    init(_ authority: any AuthenticationAuthority, whileChecking: Interruption) {
        self.authority = authority
        self.whileChecking = whileChecking
    }

    func open(_ passcode: SecretBytes) throws(Failure) -> PasscodeVerdict {
        let verdict = try forward(passcode)
        whileChecking.happen()
        return verdict
    }
}

extension RequestHandler {
    /// Creates a context.
    func context(id: UInt64 = 1) throws -> ContextHandle {
        let reply = InterruptedService.answers(self, .createContext, id: id)().first
        guard case .context(let handle)? = reply else {
            throw Failure(.internalFailure, "\(String(describing: reply))")
        }
        return handle
    }
}

/// A simulated service with interruptions that run while a prompt is dismissed or a passcode is verified.
struct InterruptedService {
    let simulated: SimulatedService
    let session: any RequestHandler
    let whilePromptGoes = Interruption()
    let whilePasscodeIsChecked = Interruption()

    var world: SimulatedWorld { simulated.world }

    init(
        _ state: WorldState = WorldState(sensor: .touchID, enrolment: [1]), faceUsage: String? = nil,
        work: any WorkQueue, stretching: any StretchQueue = ImmediateWorkQueue()
    ) throws {
        let (going, checking) = (whilePromptGoes, whilePasscodeIsChecked)
        simulated = try SimulatedService(state) { parts, world in
            parts.sessions = world
            parts.prompter = ScriptedPrompter(SlowPrompter(whileGoing: going), world: world)
            parts.wrap = { InterruptedAuthority($0, whileChecking: checking) }
            parts.work = work
            parts.stretching = stretching
        }
        session = simulated.handler(Request.Hello(application: "app", faceUsage: faceUsage))
    }

    /// Sends a request.
    ///
    /// - Returns: a function that returns its replies so far.
    @discardableResult
    static func answers(_ session: any RequestHandler, _ request: Request, id: UInt64 = 1) -> () -> [Reply] {
        let replies = Recorder<Reply>()
        session.handle(id, request, replies.add)
        return { replies.all }
    }

    @discardableResult
    func answers(_ request: Request, id: UInt64 = 1) -> () -> [Reply] { Self.answers(session, request, id: id) }

    func context() throws -> ContextHandle { try session.context() }

    /// Returns a request that evaluates a policy on a context.
    static func evaluation(_ context: ContextHandle, _ policy: Policy, mayAsk: Bool = true) -> Request {
        var prompting = Prompting(reason: "test")
        prompting.interactionAllowed = mayAsk
        return .evaluate(Request.Evaluate(context: context, policy: policy, prompting: prompting))
    }
}
