// SPDX-License-Identifier: Apache-2.0

import LatchkeySimulator
import LocalAuthentication
import Synchronization

/// How an evaluation ended, as its reply reported.
struct Ending: Equatable, Sendable {
    var isProven: Bool
    var code: LAError.Code?
    var domain: String?
    var wasOnMainThread: Bool

    static let success = Ending(isProven: true)

    static func failure(_ code: LAError.Code) -> Ending {
        Ending(isProven: false, code: code, domain: "com.apple.LocalAuthentication")
    }

    init(isProven: Bool, code: LAError.Code? = nil, domain: String? = nil, wasOnMainThread: Bool = false) {
        self.isProven = isProven
        self.code = code
        self.domain = domain
        self.wasOnMainThread = wasOnMainThread
    }
}

/// A running evaluation.
struct Evaluation: Sendable {
    private let endings: AsyncStream<Ending>

    /// Starts an evaluation; the call has returned when this returns.
    init(_ context: LAContext, _ policy: LAPolicy, reason: String = "test") {
        let (stream, continuation) = AsyncStream.makeStream(of: Ending.self)
        context.evaluatePolicy(policy, localizedReason: reason) { isProven, error in
            let error = error as NSError?
            continuation.yield(
                Ending(
                    isProven: isProven, code: error.flatMap { LAError.Code(rawValue: $0.code) },
                    domain: error?.domain, wasOnMainThread: Thread.isMainThread))
            continuation.finish()
        }
        endings = stream
    }

    /// Waits for the reply; without a reply until the time limit, the domain is "no reply".
    var end: Ending {
        get async {
            for await ending in endings { return ending }
            return Ending(isProven: false, domain: "no reply")
        }
    }
}

/// Evaluates with the callback form and waits for the reply.
func ending(_ policy: LAPolicy, _ context: LAContext = LAContext()) async -> Ending {
    await Evaluation(context, policy).end
}

extension LAPolicy {
    /// The policy for biometry alone.
    static var biometry: LAPolicy { .deviceOwnerAuthenticationWithBiometrics }
    /// The policy for biometry or the passcode.
    static var owner: LAPolicy { .deviceOwnerAuthentication }
}
