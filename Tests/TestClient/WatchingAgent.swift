// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeyAgent

/// An agent without a window: says on standard output what it is to show, and that it can be seen.
enum WatchingAgent {
    /// - Parameter comesBack: whether it registers with the next daemon that someone else starts, within an hour.
    static func run(comesBack: Bool) -> Never {
        let link = serve()
        if comesBack {
            // Starting one is an error from now on.
            setenv("LATCHKEY_DAEMON", "/nowhere/latchkeyd", 1)
            AgentLink.waitForDaemon(after: link, seconds: 3600)
            _ = serve()
        }
        exit(0)
    }

    private static func serve() -> AgentLink {
        let link: AgentLink
        do throws(AgentFailure) {
            link = try AgentLink()
        } catch {
            say("refused: \(error.message)")
            exit(75)
        }
        say("registered")
        while let order = link.next() {
            switch order {
            case .show(let prompt):
                say("show \(prompt.question)")
                link.send(.visible, prompt: prompt.number)
            case .update(let prompt): say("update \(prompt.feedback)")
            case .dismiss: say("dismiss")
            }
        }
        say("over")
        return link
    }

    private static func say(_ line: String) {
        print(line)
        fflush(nil)
    }
}
