// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeyClient
import LatchkeyModel

/// Evaluates a policy with the given texts, `--times` in succession, and prints each result and its duration.
struct Evaluator {
    private var policy = Policy.deviceOwnerAuthentication
    private var prompting = Prompting(reason: "")
    private var faceUsage: String?
    private var times = 1

    /// Reads arguments in pairs: an option and its value.
    init(_ arguments: [String]) {
        for (key, value) in zip(arguments, arguments.dropFirst()) {
            switch key {
            case "--policy": policy = UInt8(value).flatMap(Policy.init(rawValue:)) ?? policy
            case "--reason": prompting.reason = value
            case "--fallback": prompting.fallbackTitle = value
            case "--cancel": prompting.cancelTitle = value
            case "--face": faceUsage = value
            case "--times": times = Int(value) ?? 1
            default: break
            }
        }
    }

    func run() {
        let client = Client(ofDaemonFor: Client.applicationName, faceUsage: faceUsage)
        for _ in 0..<times {
            let start = ContinuousClock.now
            do throws(Failure) {
                let handle = try client.call(Request.CreateContext())
                _ = try client.call(Request.Evaluate(context: handle, policy: policy, prompting: prompting))
                print("granted \((ContinuousClock.now - start) / .microseconds(1))")
            } catch {
                print("\(error.status)")
            }
            fflush(nil)
        }
    }
}
