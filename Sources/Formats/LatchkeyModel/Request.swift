// SPDX-License-Identifier: Apache-2.0

/// A decoded request of a client. `docs/reference/protocol.md` describes the encoding.
///
/// The cases are what a daemon switches over; each has a `ClientRequest` with the parameters, the reply and the traits.
/// So the compiler lists the places that a new request needs, and a client gets the reply in its type. A request says
/// what a program wants. Who sent it is not a part of it: the kernel says that for the connection (`Caller`).
package enum Request: Equatable, Sendable {
    case hello(Hello)
    case status(Status)
    case createContext(CreateContext)
    case invalidateContext(InvalidateContext)
    case canEvaluate(CanEvaluate)
    case evaluate(Evaluate)
    case evaluateAccessControl(EvaluateAccessControl)
    case environment(Environment)
    case addItem(AddItem)
    case copyItems(CopyItems)
    case updateItems(UpdateItems)
    case deleteItems(DeleteItems)
    case listItems(ListItems)
    case listEverything(ListEverything)
    case listNames(ListNames)
    case deleteListed(DeleteListed)
    case passcode(PasscodeChange)
    case facePermissions(FacePermissions)
    case changeFacePermission(FacePermissionChange)
    case lock(Lock)
    case unlock(Unlock)
    case exportItems(ExportItems)
    case importItems(ImportItems)
    case simulate(Simulate)
    case transcript(Transcript)
    case log(Log)
    case check(Check)
    case restoreRows(RestoreRows)
    case acceptStore(AcceptStore)
    case discardProtected(DiscardProtected)
    case discardForgotten(DiscardForgotten)
    case createEnclaveKey(CreateEnclaveKey)
    case useEnclaveKey(UseEnclaveKey)
    case describeEnclaveKey(DescribeEnclaveKey)
    case beginEnrolment(BeginEnrolment)
    case answerEnrolment(AnswerEnrolment)
    case proveKey(ProveKey)
    case beginMigration(BeginMigration)
    case receiveItems(ReceiveItems)
    case mapGroups(MapGroups)
    case migrate(Migrate)
    case useSecrets(UseSecrets)

    /// Numbers of the requests; part of the wire format.
    package enum Operation: UInt8, CaseIterable, Sendable {
        case hello = 1
        case status = 2
        case createContext = 3
        case invalidateContext = 4
        case canEvaluate = 5
        case evaluate = 6
        case evaluateAccessControl = 7
        case environment = 8
        case addItem = 10
        case copyItems = 11
        case updateItems = 12
        case deleteItems = 13
        case listItems = 14
        case listEverything = 15
        case listNames = 16
        case deleteListed = 17
        case passcode = 20
        case facePermissions = 21
        case changeFacePermission = 22
        case lock = 23
        case unlock = 24
        case exportItems = 25
        case importItems = 26
        case simulate = 30
        case transcript = 31
        case log = 40
        case check = 41
        case restoreRows = 42
        case acceptStore = 43
        case discardProtected = 44
        case discardForgotten = 45
        case createEnclaveKey = 50
        case useEnclaveKey = 51
        case describeEnclaveKey = 52
        case beginEnrolment = 53
        case answerEnrolment = 54
        case proveKey = 55
        case beginMigration = 60
        case receiveItems = 61
        case mapGroups = 62
        case migrate = 63
        case useSecrets = 70
    }
}

// MARK: - Connections and contexts

extension Request {
    /// The first request of a connection.
    package struct Hello: ClientRequest {
        package typealias Response = Reply.Welcome
        package static var operation: Operation { .hello }
        package var traits: RequestTraits { .mayBeRepeated }
        package static func response(_ reply: Reply) -> Reply.Welcome? {
            if case .welcome(let welcome) = reply { welcome } else { nil }
        }

        /// The name that the app gives itself; used in tiers `user` and `simulated` only.
        package var application: String
        /// The app's face usage description (`NSFaceIDUsageDescription`); without one, the app may not use Face ID.
        package var faceUsage: String?
        /// The access groups that the app names, its default first (behaviour KC-23); if empty, the group with the
        /// app's name. Used in tiers `user` and `simulated` only.
        package var groups: [String]
        /// The challenge of an earlier reply on this connection; nil in the first request.
        package var challenge: [UInt8]?
        package init(application: String, faceUsage: String? = nil, groups: [String] = [], challenge: [UInt8]? = nil) {
            self.application = application
            self.faceUsage = faceUsage
            self.groups = groups
            self.challenge = challenge
        }

        package static let challengeBytes = 16
    }

    /// The state of the daemon and of its store.
    package struct Status: BareRequest {
        package typealias Response = StatusReport
        package static var operation: Operation { .status }
        package var traits: RequestTraits { .mayBeRepeated }

        package init() {}
    }

    /// Makes a context for proofs.
    package struct CreateContext: BareRequest {
        package typealias Response = ContextHandle
        package static var operation: Operation { .createContext }
        package var traits: RequestTraits { .mayBeRepeated }
        package static func response(_ reply: Reply) -> ContextHandle? {
            if case .context(let handle) = reply { handle } else { nil }
        }

        package init() {}
    }

    /// Ends a context and its evaluations.
    package struct InvalidateContext: ClientRequest {
        package typealias Response = Void
        package static var operation: Operation { .invalidateContext }
        package var traits: RequestTraits { [] }

        package var context: ContextHandle
        package init(_ context: ContextHandle) { self.context = context }
    }

    /// `canEvaluatePolicy`.
    package struct CanEvaluate: ClientRequest {
        package typealias Response = Reply.PolicyAnswer
        package static var operation: Operation { .canEvaluate }
        package var traits: RequestTraits { .mayBeRepeated }
        package static func response(_ reply: Reply) -> Reply.PolicyAnswer? {
            if case .policy(let answer) = reply { answer } else { nil }
        }

        package var policy: Policy
        package init(_ policy: Policy) { self.policy = policy }
    }

    /// Requests an `EnvironmentReport`: at once if the revision is nil or differs from the current one, otherwise after
    /// the next change.
    package struct Environment: ClientRequest {
        package typealias Response = EnvironmentReport
        package static var operation: Operation { .environment }
        package var traits: RequestTraits { revision == nil ? .mayBeRepeated : [.mayBeRepeated, .mayTakeLong] }
        package static func response(_ reply: Reply) -> EnvironmentReport? {
            if case .environment(let report) = reply { report } else { nil }
        }

        package var revision: UInt64?
        package init(unlike revision: UInt64?) { self.revision = revision }
    }

    /// `evaluatePolicy`.
    package struct Evaluate: ClientRequest {
        package typealias Response = Set<AuthenticationMethod>
        package static var operation: Operation { .evaluate }
        package var traits: RequestTraits { .asks }
        package static func response(_ reply: Reply) -> Set<AuthenticationMethod>? {
            if case .proven(let methods) = reply { methods } else { nil }
        }

        package var context: ContextHandle
        package var policy: Policy
        package var prompting: Prompting
        /// Seconds after an unlock by biometry during which it is accepted as proof; values above 300 count as 300.
        package var reuseSeconds: UInt64
        package init(context: ContextHandle, policy: Policy, prompting: Prompting, reuseSeconds: UInt64 = 0) {
            (self.context, self.policy, self.prompting, self.reuseSeconds) = (context, policy, prompting, reuseSeconds)
        }
    }

    /// `evaluateAccessControl`.
    package struct EvaluateAccessControl: ClientRequest {
        package typealias Response = Void
        package static var operation: Operation { .evaluateAccessControl }
        package var traits: RequestTraits { .asks }

        package var context: ContextHandle
        package var accessControl: AccessControl
        package var prompting: Prompting
        /// As in `Evaluate`.
        package var reuseSeconds: UInt64
        package init(
            context: ContextHandle, accessControl: AccessControl, prompting: Prompting, reuseSeconds: UInt64 = 0
        ) {
            self.context = context
            self.accessControl = accessControl
            self.prompting = prompting
            self.reuseSeconds = reuseSeconds
        }
    }
}
