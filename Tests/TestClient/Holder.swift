// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeyClient
import LatchkeyModel

/// Requests many evaluations at once, each on a separate thread, and prints how refused ones ended.
struct Holder {
    private let count: Int

    init(_ count: String) { self.count = Int(count) ?? 0 }

    func run() {
        var handles: [ContextHandle] = []
        for _ in 0..<count {
            guard let handle = try? Client.daemon.call(Request.CreateContext()) else { exit(1) }
            handles.append(handle)
        }
        for handle in handles {
            let evaluate = Request.Evaluate(
                context: handle, policy: .deviceOwnerAuthentication, prompting: Prompting(reason: "hold"))
            Thread.detachNewThread {
                do throws(Failure) {
                    _ = try Client.daemon.call(evaluate)
                } catch {
                    print("\(error.status) 1")
                    fflush(nil)
                }
            }
        }
        while true { pause() }
    }
}
