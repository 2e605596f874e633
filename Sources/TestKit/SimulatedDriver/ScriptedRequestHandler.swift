// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
package import LatchkeySeams

/// Handles the requests that exist only in tier `simulated`, and adds what the script says to those of the service.
package final class ScriptedRequestHandler: RequestHandler {
    private let handler: any RequestHandler
    private let world: SimulatedWorld

    /// Wraps the handler of a connection to the machine of `world`.
    package init(_ handler: any RequestHandler, world: SimulatedWorld) { (self.handler, self.world) = (handler, world) }

    package var welcome: Reply { handler.welcome }

    package func handle(_ id: UInt64, _ request: Request, _ answer: @escaping Answer) {
        do throws(Failure) {
            switch request {
            case .simulate(let request): answer(try simulate(request.command))
            case .transcript: answer(.transcript(world.transcript.suffix(Limits.transcriptLines)))
            default:
                if request.isForItems, let failure = world.failureOfItems() { throw failure }
                handler.handle(id, request) { [self] reply in
                    learn(request, reply)
                    answer(explained(reply))
                }
            }
        } catch {
            answer(.failure(error))
        }
    }

    package func cancel(_ id: UInt64) { handler.cancel(id) }

    package func close() { handler.close() }

    private func simulate(_ command: SimulatorCommand) throws(Failure) -> Reply {
        let delivered = try world.apply(command)
        switch command {
        case .touch, .look: return .simulated(delivered: delivered)
        // Allows a script to read the recovery code that a user would read from the prompt; this tier protects no
        // secrets.
        case .reportCode:
            return .transcript(
                world.shownRecoveryCode.map { [$0.withBytes { String(decoding: $0, as: UTF8.self) }] } ?? [])
        default: return .done
        }
    }

    /// Learns the new passcode that a request carried, if it was accepted. A passcode that was entered at a prompt is
    /// learned by `ScriptedAuthority`.
    private func learn(_ request: Request, _ reply: Reply) {
        guard case .passcode(let change) = request, reply == .done else { return }
        switch change {
        case .set(let new), .change(let new): world.passcode.learn(new)
        case .setAtPrompt, .changeAtPrompt, .recoverAtPrompt, .remove: break
        }
    }

    /// Returns the reply, with the problem of the script if that is why no prompt could be shown.
    private func explained(_ reply: Reply) -> Reply {
        guard case .failure(let failure) = reply, failure.status == .notInteractive,
            let problem = world.takeScriptProblem()
        else { return reply }
        return .failure(problem)
    }
}

extension Request {
    /// Whether the request comes from a `SecItem` or `SecKey` function.
    fileprivate var isForItems: Bool {
        switch self {
        case .addItem, .copyItems, .updateItems, .deleteItems, .createEnclaveKey, .useEnclaveKey: true
        default: false
        }
    }
}
