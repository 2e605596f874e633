// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyModel
import LatchkeyPrompts
import LatchkeySystem
import Testing

/// An agent whose frames are sent and read by a test.
struct RawAgent {
    let socket: Descriptor

    /// Registers, and expects success.
    init(_ daemon: TestDaemon) throws {
        self.init(socket: try daemon.connect())
        try send(.register)
        #expect(try receive() == .registered)
    }

    init(socket: Descriptor) { self.socket = socket }

    func send(_ frame: AgentFrame) throws { try Frame.send(frame.encoded(), to: socket) }

    func send(_ event: PromptEvent, to prompt: UInt64) throws { try send(.message(prompt: prompt, .event(event))) }

    /// The next frame; nil when the daemon has ended the connection.
    func receive(seconds: Int64 = 20) throws -> AgentFrame? {
        do throws(FrameError) {
            let payload = try Frame.receive(from: socket, until: Uptime.deadline(seconds: seconds))
            return try? AgentFrame(decoding: payload)
        } catch FrameError.closed {
            return nil
        }
    }

    /// The next prompt.
    func shown() throws -> Prompt {
        guard case .message(_, .show(let prompt)) = try receive() else { throw FrameError.closed }
        return prompt
    }

    /// The next content of the prompt.
    func updated() throws -> PromptContent {
        guard case .message(_, .update(let content)) = try receive() else { throw FrameError.closed }
        return content
    }
}

/// A program without a terminal that runs in parallel with the test.
struct RunningProgram {
    let process: pid_t
    private let output: Descriptor

    init(_ daemon: TestDaemon, _ program: String, _ arguments: [String], environment more: [String] = []) throws {
        let (near, far) = try Sockets.pair()
        output = near
        process = try Processes.spawn(
            TestDaemon.programs + "/" + program, arguments, environment: daemon.environment + more,
            descriptors: [nil, far, far])
    }

    /// Reads until a line with this beginning; nil when the program ends or is silent for 20 seconds.
    func line(beginning start: String) throws -> String? {
        var line: [UInt8] = []
        var byte = [UInt8](repeating: 0, count: 1)
        while try output.wait(for: POLLIN, until: Uptime.deadline(seconds: 20)), read(output.number, &byte, 1) == 1 {
            if byte[0] != 0x0a {
                line.append(byte[0])
                continue
            }
            let text = String(decoding: line, as: UTF8.self)
            if text.hasPrefix(start) { return text }
            line = []
        }
        return nil
    }

    /// Reads the rest of its output until it ends, and returns it with the exit code.
    func end() throws -> (output: String, exitCode: CInt) {
        var text: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while try output.wait(for: POLLIN, until: Uptime.deadline(seconds: 20)) {
            let count = read(output.number, &buffer, buffer.count)
            if count <= 0 { break }
            text += buffer[..<count]
        }
        let status = Processes.wait(process, killAfter: 20)
        return (String(decoding: text, as: UTF8.self), status & 0x7f == 0 ? (status >> 8) & 0xff : -(status & 0x7f))
    }
}
