// SPDX-License-Identifier: Apache-2.0

import LatchkeySimulator
import LocalAuthentication
import Synchronization

/// How an evaluation ended, as its reply told.
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

/// An evaluation under way.
struct Evaluation: Sendable {
    private let endings: AsyncStream<Ending>

    /// Starts an evaluation; it has been asked for when this returns.
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

    /// Waits for the reply; a test whose time is up gets none.
    var end: Ending {
        get async {
            for await ending in endings { return ending }
            return Ending(isProven: false, domain: "no reply")
        }
    }
}

/// Evaluates in the form with a reply and waits for it.
func ending(_ policy: LAPolicy, _ context: LAContext = LAContext()) async -> Ending {
    await Evaluation(context, policy).end
}

extension LAPolicy {
    /// Biometry alone.
    static var biometry: LAPolicy { .deviceOwnerAuthenticationWithBiometrics }
    /// Biometry or the passcode.
    static var owner: LAPolicy { .deviceOwnerAuthentication }
}
