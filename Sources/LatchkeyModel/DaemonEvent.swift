// SPDX-License-Identifier: Apache-2.0

/// What a daemon writes down about itself: what no caller is told of, and what explains why it is not there.
///
/// A closed set, so that no text of a caller gets into the log; a `Failure` says what the system answered.
package enum DaemonEvent: String, CaseIterable, Sendable {
    case started
    case stopped
    /// The daemon could not serve.
    case failed
    case storeUnusable
    case memoryNotLocked
    /// Failed tries could not be kept durably.
    case countersNotKept
    /// The audit trail does not tell of a failed try, or of the lockout that it caused.
    case tryNotRecorded
    case facePermissionsNotKept
    /// That the keychain is locked or unlocked could not be kept durably.
    case lockNotKept
    case damagedRowsNotMoved
    case refusalNotRecorded
    /// A typed passcode could not be compared; it counts as wrong.
    case passcodeNotChecked
    case rollbackNotAccepted
    /// A record could not be read when the daemon started; the safe value stands in its place.
    case recordNotRead
    case promptNotStarted
    /// Another enrolment set could not be made durable; biometry is not available meanwhile.
    case enrolmentNotFollowed
    /// The store generation could not be moved.
    case anchorNotMoved
    /// The rows are not those that were stored, or could not be compared.
    case rowsChanged
    case rowsNotChecked

    /// How urgent it is, with the numbers of syslog(3).
    package enum Severity: UInt8, Sendable {
        case error = 3
        case warning = 4
        case notice = 5

        /// The word that the log uses.
        package var name: String {
            switch self {
            case .error: "error"
            case .warning: "warning"
            case .notice: "notice"
            }
        }
    }

    /// How urgent it is.
    package var severity: Severity {
        switch self {
        case .started, .stopped: .notice
        case .failed, .storeUnusable, .countersNotKept, .passcodeNotChecked, .enrolmentNotFollowed, .rowsChanged: .error
        case .memoryNotLocked, .facePermissionsNotKept, .lockNotKept, .damagedRowsNotMoved, .refusalNotRecorded,
            .rollbackNotAccepted, .recordNotRead, .promptNotStarted, .anchorNotMoved, .rowsNotChecked,
            .tryNotRecorded:
            .warning
        }
    }
}

/// One line of a daemon's log. The words are those of the daemon that wrote it, which may be of another version.
package struct DaemonLogLine: Equatable, Sendable {
    /// Characters of a message or a hint that are kept.
    private static let longest = 512

    /// Microseconds since 1970-01-01 00:00 UTC.
    package var time: Int64
    package var processID: Int32
    package var severity: String
    package var event: String
    /// The status of the failure, its message and its hint; empty where there was none.
    package var status = ""
    package var message = ""
    package var hint = ""
    /// Where the daemon's source made the failure, and the error below it that it translates; empty where there was none.
    package var source = ""

    /// Makes the line of an event.
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

    /// Reads a line as `text` writes it; nil when it is not one.
    package init?(_ text: String) {
        let fields = text.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
        guard fields.count == 8, let time = Int64(fields[0]), let processID = Int32(fields[1]) else { return nil }
        self.time = time
        self.processID = processID
        (severity, event, status) = (fields[2], fields[3], fields[4])
        (message, hint, source) = (fields[5], fields[6], fields[7])
    }

    /// Eight fields with tabs between them, without the end of the line.
    package var text: String {
        "\(time)\t\(processID)\t\(severity)\t\(event)\t\(status)\t\(message)\t\(hint)\t\(source)"
    }

    /// One line, without what could move a terminal's cursor.
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
