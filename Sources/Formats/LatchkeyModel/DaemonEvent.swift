// SPDX-License-Identifier: Apache-2.0

/// The events that a daemon logs about itself: failures that no reply reports, and reasons why the daemon is not
/// running.
///
/// A closed set, so that no text of a caller can enter the log; the accompanying `Failure` describes the system error.
package enum DaemonEvent: String, CaseIterable, Sendable {
    case started
    case stopped
    /// The daemon ended because it could not serve requests.
    case failed
    case storeUnusable
    case memoryNotLocked
    /// The failure counters could not be stored.
    case countersNotKept
    /// A failed try, or the lockout that it caused, could not be recorded in the audit log.
    case tryNotRecorded
    case facePermissionsNotKept
    /// The lock state could not be stored.
    case lockNotKept
    case damagedRowsNotMoved
    case refusalNotRecorded
    /// Reads of items without a protection could not be recorded in the audit log.
    case readsNotRecorded
    /// An entered passcode could not be verified; it counts as wrong.
    case passcodeNotChecked
    /// The password of an account could not be verified through PAM, or the account may not be used.
    case accountNotChecked
    /// The PAM service file was not trusted, or a PAM module broke the rules of the conversation.
    case accountsRefused
    /// A program that wanted to show prompts was refused.
    case agentRefused
    /// The password of an account was changed; the slot of the passcode still has the previous one.
    case accountPasswordChanged
    case rollbackNotAccepted
    /// A token of the authority was not accepted, or could not be issued; the evaluation counts as refused.
    case tokenRefused
    /// The connection to `latchkey-authd` could not be made, or ended.
    case authorityLost
    /// `latchkey-authd` did not accept a change of the keychain.
    case authorityNotTold
    /// A record could not be read when the daemon started; its safe default is used.
    case recordNotRead
    case promptNotStarted
    /// A new enrolment set could not be stored; biometry is unavailable until it is.
    case enrolmentNotFollowed
    /// The store generation could not be advanced.
    case anchorNotMoved
    /// The rows differ from those that were stored.
    case rowsChanged
    /// Newest entries of the audit log were cut off, or the record of its end was changed or removed.
    case trailCut
    /// The rows could not be compared with those that were stored.
    case rowsNotChecked
    /// Items that were added before the passcode was set could not be sealed for it.
    case rowsNotSealed
    /// Copies of rows from before they were sealed under more keys could not be erased from the files yet.
    case oldCopiesNotErased
    /// A key that could not be stored could not be erased from the key module either.
    case unstoredKeyNotErased
    /// An administrator removed the data of a user.
    case userRemoved
    /// A text that was entered as recovery code is not the one of the keychain.
    case recoveryRefused
    /// A recovery code opened the keychain, and the passcode was replaced.
    case recovered
    /// A sensor could not be used.
    case sensorFailed
    /// A message or a service that claims to be a sensor was not trusted.
    case sensorRefused
    /// The login sessions cannot be determined.
    case sessionsUnknown
    /// A message or a service that claims to report login sessions was not trusted.
    case sessionsRefused
    /// The service manager does not wait before sleep until keys are removed from memory.
    case sleepNotDelayed
    /// The TPM refuses the password of its owner hierarchy, or it could not be checked.
    case ownerPasswordRefused

    /// The severity of an event. Raw values are the priorities of syslog(3).
    package enum Severity: UInt8, Sendable {
        case error = 3
        case warning = 4
        case notice = 5

        package var name: String {
            switch self {
            case .error: "error"
            case .warning: "warning"
            case .notice: "notice"
            }
        }
    }

    package var severity: Severity {
        switch self {
        case .started, .stopped, .userRemoved, .accountPasswordChanged, .recovered: .notice
        case .failed, .storeUnusable, .countersNotKept, .passcodeNotChecked, .accountNotChecked,
            .enrolmentNotFollowed, .rowsChanged, .trailCut, .tokenRefused, .authorityLost, .authorityNotTold,
            .sensorRefused,
            .sessionsRefused, .accountsRefused:
            .error
        case .memoryNotLocked, .facePermissionsNotKept, .lockNotKept, .damagedRowsNotMoved, .refusalNotRecorded,
            .readsNotRecorded,
            .rollbackNotAccepted, .recordNotRead, .promptNotStarted, .anchorNotMoved, .rowsNotChecked, .rowsNotSealed,
            .oldCopiesNotErased, .tryNotRecorded, .unstoredKeyNotErased, .sensorFailed, .recoveryRefused,
            .sessionsUnknown, .sleepNotDelayed, .ownerPasswordRefused, .agentRefused:
            .warning
        }
    }
}

/// One line of a daemon's log.
///
/// Severity, event and status are text, since a daemon of another version may have written the line.
package struct DaemonLogLine: Equatable, Sendable {
    /// Maximum Unicode scalars of `message`, of `hint` and of `source`.
    private static let longest = 512

    /// Microseconds since 1970-01-01 00:00 UTC.
    package var time: Int64
    package var processID: Int32
    package var severity: String
    package var event: String
    /// Status, message and hint of the failure; empty if the event has none.
    package var status = ""
    package var message: Phrase = ""
    package var hint: Phrase = ""
    /// The place in the source code that created the failure and, in parentheses, the failure's `cause` if it has one;
    /// empty if the event has no failure.
    package var source = ""

    /// Creates the line of an event. Control characters in `message`, `hint` and `source` are replaced, and long texts
    /// are cut.
    package init(_ event: DaemonEvent, _ failure: Failure?, time: Int64, processID: Int32) {
        self.time = time
        self.processID = processID
        severity = event.severity.name
        self.event = event.rawValue
        guard let failure else { return }
        status = "\(failure.status)"
        message = Self.clean(failure.message)
        hint = Self.clean(failure.hint)
        let cause = failure.cause.map { " (\($0))" } ?? ""
        source = Self.clean("\(failure.source)\(cause)")
    }

    /// Parses a line in the format of `text`; nil if it is malformed.
    package init?(_ text: String) {
        let fields = text.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
        guard fields.count == 8, let time = Int64(fields[0]), let processID = Int32(fields[1]) else { return nil }
        self.time = time
        self.processID = processID
        (severity, event, status) = (fields[2], fields[3], fields[4])
        (message, hint, source) = (Self.phrase(fields[5]), Self.phrase(fields[6]), fields[7])
    }

    /// The eight fields separated by tabs, without a line terminator. The values of a text follow its template, each
    /// after U+001F, so that the text can be translated when it is read.
    package var text: String {
        "\(time)\t\(processID)\t\(severity)\t\(event)\t\(status)\t\(Self.parts(message))\t\(Self.parts(hint))\t\(source)"
    }

    private static func parts(_ phrase: Phrase) -> String {
        ([phrase.template] + phrase.arguments).joined(separator: "\u{1f}")
    }

    private static func phrase(_ parts: String) -> Phrase {
        let parts = parts.split(separator: "\u{1f}", omittingEmptySubsequences: false).map(String.init)
        return Phrase(template: parts[0], arguments: Array(parts.dropFirst()))
    }

    private static func clean(_ phrase: Phrase) -> Phrase {
        Phrase(template: clean(phrase.template), arguments: phrase.arguments.map(clean))
    }

    /// Replaces control, format and separator characters by spaces, so that the text is one line and cannot control a
    /// terminal.
    private static func clean(_ text: String) -> String {
        String(
            text.unicodeScalars.prefix(longest).map { scalar in
                switch scalar.properties.generalCategory {
                case .control, .format, .lineSeparator, .paragraphSeparator: " "
                default: Character(scalar)
                }
            })
    }
}

/// The role that logs events that no reply reports. Logging has no failure result: a failure could not be reported
/// either.
package protocol EventLog: AnyObject, Sendable {
    /// Logs an event and the failure that caused it. May be called on any thread.
    func record(_ event: DaemonEvent, _ failure: Failure?)
}

/// An event log that discards all events, for a service without observers.
package final class UnwatchedLog: EventLog {
    package init() {}
    package func record(_ event: DaemonEvent, _ failure: Failure?) {}
}

extension EventLog {
    /// Runs `body` and logs its failure as `event`, for work whose failure no reply reports.
    ///
    /// - Returns: the result of `body`; nil if it failed.
    @discardableResult
    package func recording<R>(_ event: DaemonEvent, _ body: () throws(Failure) -> R) -> R? {
        do throws(Failure) {
            return try body()
        } catch {
            record(event, error)
            return nil
        }
    }
}

/// What a message, a service or a file was for that was not trusted. Raw values are part of the wire format and never
/// reused.
package enum UntrustedSource: UInt8, CaseIterable, Sendable {
    case sensor = 1
    case sessions = 2
    /// The PAM service file, or a module that PAM has loaded.
    case accounts = 3

    /// The source whose refusal a daemon logs as `event`; nil for other events.
    package init?(_ event: DaemonEvent) {
        switch event {
        case .sensorRefused: self = .sensor
        case .sessionsRefused: self = .sessions
        case .accountsRefused: self = .accounts
        default: return nil
        }
    }

    /// The event of the audit log that records a refusal.
    package var auditEvent: AuditEvent {
        switch self {
        case .sensor: .sensorRefused
        case .sessions: .sessionsRefused
        case .accounts: .accountsRefused
        }
    }
}
