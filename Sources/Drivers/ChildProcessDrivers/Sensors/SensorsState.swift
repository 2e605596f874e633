// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams
import LatchkeySystem
import LatchkeyWire
import Synchronization

/// The state of `ProcessSensors`.
struct SensorsState: Sendable {
    struct Scan: Sendable {
        let evaluation: UInt64
        let events: @Sendable (SensorEvent) -> Void
    }

    /// The connected process; nil while none runs.
    var link: Link?
    /// Whether the program cannot run on this machine.
    var isUnusable = false
    var isStopped = false
    /// What the process has reported; nil before.
    var sensor: SensorState?
    var sessions: SessionState?
    var awaitingSensor: [ReplyBox<SensorState>] = []
    var awaitingSessions: [ReplyBox<SessionState>] = []
    /// The scans, by the number under which the process knows them.
    var scans: [UInt64: Scan] = [:]
    var lastNumber: UInt64 = 0
    /// The deadlines of requests that the process has not confirmed.
    var unconfirmed: [UInt64: any Alarm] = [:]
    var unapplied = 0
    /// The number of lines that were written for this process, and those since it had a sensor.
    var logLines = 0
    var loggedTexts: Set<String> = []
    /// Seconds until the next process is started.
    var pause: Int64
    var retry: (any Alarm)?
    var observers: [@Sendable () -> Void] = []
    var reports: [@Sendable (SessionEvent, @escaping @Sendable () -> Void) -> Void] = []

    init(pause: Int64) { self.pause = pause }

    /// A number that no request and no scan has had, also none of an earlier process.
    mutating func next() -> UInt64 {
        lastNumber += 1
        return lastNumber
    }

    /// Forgets a process that has ended, and returns its scans.
    mutating func lose(_ link: Link, exitCode: CInt?) -> [Scan] {
        guard self.link === link else { return [] }
        defer {
            (self.link, sensor, sessions) = (nil, nil, nil)
            (scans, unconfirmed, unapplied) = ([:], [:], 0)
            (logLines, loggedTexts) = (0, [])
            (awaitingSensor, awaitingSessions) = ([], [])
        }
        // Before its first message only the installation can be the cause: an earlier version does not know its option
        // (EX_USAGE, sysexits.h), or a library is missing (127, and 126 for a file that is no program).
        isUnusable = sensor == nil && sessions == nil && exitCode.map { [64, 126, 127].contains($0) } == true
        for alarm in unconfirmed.values { alarm.cancel() }
        for answer in awaitingSensor { answer.put(.absent) }
        let unknown = isUnusable ? SessionState.absent : SessionState(isLocked: true, biometry: .only([]))
        for answer in awaitingSessions { answer.put(unknown) }
        return scans.sorted { $0.key < $1.key }.map(\.value)
    }
}

extension SessionState {
    /// A machine without login sessions: nothing is locked, and biometry is refused.
    static let absent = SessionState(isLocked: false, biometry: .only([]))
}

/// The connection to one process.
final class Link: Sendable {
    let process: SensorProcess
    let startedAt: Int64
    var socket: Descriptor { process.socket }
    private let sending = Mutex<Void>(())

    init(_ process: SensorProcess, startedAt: Int64) { (self.process, self.startedAt) = (process, startedAt) }

    /// Sends a message. If the process does not read it, the connection ends, which the thread that receives notices.
    func send(_ message: SensorMessage) {
        sending.withLock { _ in
            do throws(FrameError) { try Frame.send(message.encoded(), to: socket) } catch { shutDown() }
        }
    }

    func shutDown() { Sockets.shutDown(socket) }
}
