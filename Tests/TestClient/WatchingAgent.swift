// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeyDesktop

/// An agent without a window: prints each order on standard output, and reports each prompt as visible.
enum WatchingAgent {
    /// - Parameter comesBack: whether it registers with the next daemon that another program starts within an hour.
    static func run(comesBack: Bool) -> Never {
        let link = serve()
        if comesBack {
            // From now on, an attempt to start a daemon fails.
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
            case .news: say("news")
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
