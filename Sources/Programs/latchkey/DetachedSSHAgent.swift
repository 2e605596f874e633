// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyDesktop
import LatchkeyModel
import LatchkeySystem

/// Starts and ends an agent that runs in the background, as ssh-agent(1) does.
///
/// The agent is this program again, with `--foreground`, in a session of its own. A fork would not be enough: threads of a
/// library would be missing in the copy.
struct DetachedSSHAgent {
    private static let startSeconds: Int64 = 20
    private static let endSeconds: Int64 = 10

    let place: SSHAgentPlace
    let shell: SSHAgentShell

    /// Writes the variables of the agent that runs, or of one that is started now.
    ///
    /// - Parameter options: the options of the agent; nothing says which ones an agent has that runs already.
    func start(_ options: [String]) throws(Failure) {
        if let server = try place.server() {
            guard options.isEmpty else {
                throw Failure(
                    .duplicateItem, "Another agent serves \(place.socket), perhaps with other options.",
                    hint: "End it first: latchkey ssh-agent --kill")
            }
            return Output.write(variables(server))
        }
        let process = try spawn(options)
        guard let server = try place.server() else {
            throw Failure(.daemonUnavailable, "The agent at \(place.socket) ended when it had started.")
        }
        Output.write(variables(server))
        if server.processID == process { advise() }
    }

    private func variables(_ server: SSHAgentPlace.Server) -> String {
        let socket = shell.set("SSH_AUTH_SOCK", place.socket)
        // ssh-agent -k would end a service manager that listens there.
        guard server.isAgent, server.processID > 0 else { return socket }
        return socket + shell.set("SSH_AGENT_PID", String(server.processID)) + "echo Agent pid \(server.processID);\n"
    }

    // MARK: - Starting

    /// Starts the program and waits until it serves the socket, or until another agent does, which was quicker.
    private func spawn(_ options: [String]) throws(Failure) -> pid_t {
        guard let program = Environment.executable else {
            throw Failure(.internalFailure, "The path of latchkey cannot be read from /proc.")
        }
        // The agent must not keep a medium mounted.
        _ = chdir("/")
        let process: pid_t
        let said: (output: [UInt8], errors: [UInt8])
        do throws(SystemError) {
            let (child, output, errors) = try Self.spawn(program, ["ssh-agent", "--foreground", "--sh"] + options)
            process = child
            said = try Self.read(output, errors, until: Uptime.deadline(seconds: Self.startSeconds))
        } catch {
            throw Failure(error, "\(program) cannot be started")
        }
        if said.output.contains(0x0a) { return process }
        kill(process, SIGKILL)
        let status = Processes.wait(process)
        // Another agent was started at the same time. Its options are not known.
        if status == Status.duplicateItem.exitCode << 8, options.isEmpty { return process }
        guard status & 0x7f == 0, status != 0 else {
            throw Failure(.daemonUnavailable, "The agent did not start within \(Self.startSeconds) seconds.")
        }
        Output.writeError(SecretBytes(said.errors))
        ProgramEnd.now(status >> 8)
    }

    /// Closes this process's copies of the agent's streams on return, so that they end with the agent.
    private static func spawn(
        _ program: String, _ arguments: [String]
    ) throws(SystemError) -> (pid_t, Descriptor, Descriptor) {
        let (output, outputEnd) = try Sockets.pair()
        let (errors, errorsEnd) = try Sockets.pair()
        let process = try Processes.spawn(
            program, arguments, descriptors: [nil, outputEnd, errorsEnd], newSession: true)
        return (process, output, errors)
    }

    /// What the agent writes until its first line of output, or until it ends.
    private static func read(
        _ output: Descriptor, _ errors: Descriptor, until deadline: Int64
    ) throws(SystemError) -> (output: [UInt8], errors: [UInt8]) {
        var (lines, complaints) = ([UInt8](), [UInt8]())
        var open = [output, errors]
        while !open.isEmpty, !lines.contains(0x0a) {
            let ready = zip(open, try Descriptor.waitForInput(open, until: deadline)).filter(\.1).map(\.0)
            guard !ready.isEmpty else { break }
            for stream in ready {
                let bytes = try stream.read(atMost: 4096)
                if bytes.isEmpty { open.removeAll { $0 === stream } }
                if stream === output { lines += bytes } else { complaints += bytes }
            }
        }
        return (lines, complaints)
    }

    /// Says where the prompts of the agent appear: for a program without a terminal they need the window.
    private func advise() {
        let text =
            AgentFacts(MachinePlaces()).process != nil
            ? localized(
                "The prompts of this agent appear on the terminal of the program that asks, and without one in the window of latchkey-agent."
            )
            : localized(
                "The prompts of this agent appear on the terminal of the program that asks. No latchkey-agent runs, so a program without a terminal gets none."
            )
        Output.writeError(localized("hint:") + " " + text + "\n")
    }

    // MARK: - Ending

    /// Ends the agent, waits until it has ended, and writes lines that remove its variables.
    func end() throws(Failure) {
        guard let server = try place.server() else {
            throw Failure(.itemNotFound, "No agent serves \(place.socket).")
        }
        guard server.isAgent, server.processID > 0 else {
            throw Failure(
                .notPermitted, "The process \(server.processID) listens at \(place.socket), and it is no agent.",
                hint: "See what it is: ps -p \(server.processID)")
        }
        do throws(SystemError) {
            try ProcessHandle.end(server.processID, within: Self.endSeconds) {
                (try? place.server())??.processID == server.processID
            }
        } catch {
            throw Failure(error, "The agent, process \(server.processID), cannot be ended")
        }
        Output.write(
            shell.unset("SSH_AUTH_SOCK") + shell.unset("SSH_AGENT_PID")
                + "echo Agent pid \(server.processID) killed;\n")
    }
}
