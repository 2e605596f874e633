// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
package import LatchkeySeams
package import LatchkeySystem
import LatchkeyWire
import Synchronization

/// The connections of the processes that use the sensors: one in `latchkey-authd --user`, one for each user in the process of
/// a system's sensors.
package final class SensorHosts: Sendable {
    /// Seconds in which a change of login sessions must take effect in all processes. Sleep, for instance, is not delayed
    /// longer for the sake of one that does not answer.
    private static let effectSeconds: Int64 = 3
    private let clock: any Clock
    private let events: any EventLog
    private let hosts = Mutex<[ObjectIdentifier: SensorHost]>([:])

    /// - Parameter log: what the drivers log is written to it, and sent to every process.
    package init(clock: any Clock, log: any EventLog) {
        self.clock = clock
        events = log
    }

    package var log: any EventLog { SharedLog(self) }

    private final class SharedLog: EventLog {
        private let hosts: SensorHosts
        init(_ hosts: SensorHosts) { self.hosts = hosts }
        func record(_ event: DaemonEvent, _ failure: Failure?) {
            hosts.events.record(event, failure)
            for host in hosts.all { host.log.record(event, failure) }
        }
    }

    private var all: [SensorHost] { hosts.withLock { Array($0.values) } }

    /// Passes on what sensor and sessions report from now on. Called once.
    package func observe(_ reader: any BiometricReader, _ sessions: any SessionMonitor) {
        reader.observe { [self] in for host in all { host.sensorChanged(reader) } }
        sessions.observeSession { [self] event, done in
            let all = all
            let effect = Effect(of: all.count, done)
            effect.set(clock.alarm(after: Self.effectSeconds) { effect.end() })
            for host in all { host.sessionsChanged(event, sessions) { effect.one() } }
            if all.isEmpty { effect.end() }
        }
    }

    /// Serves a process until its connection ends. Blocks.
    package func serve(
        _ socket: Descriptor, user: UInt32, _ reader: any BiometricReader, _ sessions: any SessionMonitor
    ) {
        // Without its limits the connection is not served.
        guard let host = try? SensorHost(socket, user: user) else { return }
        hosts.withLock { $0[ObjectIdentifier(host)] = host }
        host.serve(reader, sessions)
        hosts.withLock { $0[ObjectIdentifier(host)] = nil }
    }

    /// Calls a function once: when a number of processes has applied a change, or too late.
    private final class Effect: Sendable {
        private struct State {
            var count: Int
            var done: (@Sendable () -> Void)?
            /// Released, it would be cancelled.
            var alarm: (any Alarm)?
        }
        private let state: Mutex<State>

        init(of count: Int, _ done: @escaping @Sendable () -> Void) { state = Mutex(State(count: count, done: done)) }

        func set(_ alarm: any Alarm) { state.withLock { if $0.done != nil { $0.alarm = alarm } } }

        func one() {
            let isLast = state.withLock { state in
                state.count -= 1
                return state.count == 0
            }
            if isLast { end() }
        }

        func end() {
            let (done, alarm) = state.withLock { state in
                defer { (state.done, state.alarm) = (nil, nil) }
                return (state.done, state.alarm)
            }
            alarm?.cancel()
            done?()
        }
    }
}
