// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
package import LatchkeyWire

extension Request {
    /// The typed request of this case. By reflection, so that a new request needs no line here.
    package var contents: any ClientRequest & WireValue {
        guard let contents = Mirror(reflecting: self).children.first?.value as? any ClientRequest & WireValue else {
            fatalError("\(self) does not carry a request")
        }
        return contents
    }

    /// The number of the request.
    package var operation: Operation { type(of: contents).operation }
}

extension Message {
    /// The payload's bytes.
    package func encoded() -> SecretBytes {
        switch self {
        case .request(let id, let request): Message.encoded(request.contents, id: id)
        case .reply(let id, let reply): Message.encoded(reply, id: id)
        case .cancel(let id): Message.encodedCancel(id: id)
        }
    }
}

// MARK: - Decoded requests in short

extension Request {
    package static var status: Request { .status(Status()) }
    package static var createContext: Request { .createContext(CreateContext()) }
    package static var listEverything: Request { .listEverything(ListEverything()) }
    package static var listNames: Request { .listNames(ListNames()) }
    package static var facePermissions: Request { .facePermissions(FacePermissions()) }
    package static var lock: Request { .lock(Lock()) }
    package static var transcript: Request { .transcript(Transcript()) }
    package static var check: Request { .check(Check()) }
    package static var restoreRows: Request { .restoreRows(RestoreRows()) }
    package static var acceptStore: Request { .acceptStore(AcceptStore()) }
    package static var discardProtected: Request { .discardProtected(DiscardProtected()) }
    package static var discardForgotten: Request { .discardForgotten(DiscardForgotten()) }
    package static var beginMigration: Request { .beginMigration(BeginMigration()) }

    package static func invalidateContext(_ handle: ContextHandle) -> Request {
        .invalidateContext(InvalidateContext(handle))
    }
    package static func canEvaluate(_ policy: Policy) -> Request { .canEvaluate(CanEvaluate(policy)) }
    package static func environment(unlike revision: UInt64?) -> Request {
        .environment(Environment(unlike: revision))
    }
    package static func deleteItems(_ query: ItemQuery) -> Request { .deleteItems(DeleteItems(query)) }
    package static func listItems(_ query: ItemQuery) -> Request { .listItems(ListItems(query)) }
    package static func unlock(_ prompting: Prompting) -> Request { .unlock(Unlock(prompting)) }
    package static func simulate(_ command: SimulatorCommand) -> Request { .simulate(Simulate(command)) }
    package static func describeEnclaveKey(_ name: EnclaveKeyName) -> Request {
        .describeEnclaveKey(DescribeEnclaveKey(name))
    }
    package static func mapGroups(_ groups: [String]) -> Request { .mapGroups(MapGroups(groups)) }
}
