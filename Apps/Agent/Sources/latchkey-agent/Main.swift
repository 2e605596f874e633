// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Glibc
import LatchkeyDesktop
import Widgets

/// Shows the prompts of the user's daemon in windows until the session ends.
///
/// It has no access to policy, keys or items; the daemon accepts from it only the user's answers to prompts.
@main
enum Main {
    private static let help = """
        usage: latchkey-agent

        Shows prompts in a window: which program asks for your fingerprint or your passcode,
        and why. Started with the graphical session. Programs in a terminal show their
        prompts there. One agent runs for each user.

          --help        show this text
          --version     show the version

        Exit status: 64 unknown option, 69 no display, 75 another agent is registered.

        """

    @MainActor private static var shown: PromptWindow? {
        didSet { raisable?.process = shown?.processID ?? 0 }
    }
    /// Another program that waits for its prompt, such as the settings, may bring it to the front, and do no more.
    @MainActor private static var raisable: RaisableWindow?

    @MainActor static func main() {
        let arguments = AgentLink.beginProgram()
        switch arguments.first {
        case nil: break
        case "--help", "-h":
            print(help, terminator: "")
            exit(0)
        case "--version":
            print("latchkey-agent \(AgentLink.version)")
            exit(0)
        case ActivityNews.option?:
            // This process shows no prompt, and does not hide itself from the daemon.
            guard arguments.count == 2, let known = ActivityNews.number(arguments[1]) else {
                exit(64)
            }
            exit(ActivityNews.write(after: known))
        case KeychainUnlock.option?:
            guard arguments.count == 1 else { exit(64) }
            exit(KeychainUnlock.run())
        case let argument?:
            say("error: unknown option \(argument)", hint: "See: latchkey-agent --help")
            exit(64)
        }
        // Hiding /proc entries is possible here, because the daemon does not identify the agent's program.
        MainLoop.hideMemory()
        guard MainLoop.start(identifier: "org.latchkey.Agent", name: "Latchkey") else {
            say("error: there is no display to show prompts on", hint: "Start it within a graphical session.")
            exit(69)
        }
        raisable = RaisableWindow(name: "org.latchkey.Agent") { startup in shown?.raise(startup: startup) }
        // Runs until the process ends.
        DispatchQueue(label: "latchkey-agent.link").async { follow() }
        MainLoop.run()
    }

    /// Keeps the agent registered. When the daemon has ended, reconnects, which starts a new daemon; first waits with
    /// back-off if the connection failed or ended within ten seconds. A daemon started by another program ends the wait.
    private static func follow() {
        var pause: Int64 = 0
        var last: AgentLink?
        while true {
            AgentLink.waitForDaemon(after: last, seconds: pause)
            let start = ContinuousClock.now
            do throws(AgentFailure) {
                let link = try AgentLink()
                last = link
                ServiceManager.tellReady()
                Notices.look()
                while let order = link.next() { DispatchQueue.main.async { obey(order, link) } }
                DispatchQueue.main.async { clear() }
            } catch {
                // The daemon that is running now is the one that failed.
                last = nil
                say("error: \(error.message)", hint: error.hint)
                switch error.code {
                case .taken, .notUnderstood: MainLoop.end(75)
                case .unreachable: break
                }
            }
            pause = ContinuousClock.now - start > .seconds(10) ? 0 : min(60, max(1, pause * 2))
        }
    }

    @MainActor private static func obey(_ order: AgentLink.Order, _ link: AgentLink) {
        switch order {
        case .show(let prompt):
            clear()
            shown = PromptWindow(prompt, link: link)
        case .update(let prompt): if shown?.number == prompt.number { shown?.show(prompt) }
        case .dismiss(let number):
            if let shown, shown.number == number { end(shown) }
            Notices.look()
        case .news: Notices.look()
        }
    }

    /// How long a prompt that is over is shown, shorter than the shortest delay that it names.
    private static let lingerMilliseconds: UInt32 = 4000

    /// Removes a prompt that was dismissed, at once or after the person could read why it is over.
    @MainActor private static func end(_ window: PromptWindow) {
        guard window.isOver else { return clear() }
        raisable?.process = 0
        let close: @MainActor () -> Void = { [weak window] in if let window, shown === window { clear() } }
        window.linger(close)
        _ = MainLoop.after(milliseconds: lingerMilliseconds, close)
    }

    @MainActor private static func clear() {
        shown?.close()
        shown = nil
    }

    private static func say(_ message: String, hint: String) {
        let text = Array((hint.isEmpty ? "\(message)\n" : "\(message)\nhint: \(hint)\n").utf8)
        _ = write(STDERR_FILENO, text, text.count)
    }
}
