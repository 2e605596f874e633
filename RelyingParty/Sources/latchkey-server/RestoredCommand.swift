// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import RelyingParty
internal import RelyingPartyJSON

/// The command `restored`: what an operator runs after an earlier copy of the database was put in place.
enum RestoredCommand {
    static func run(_ command: Invocation) throws {
        let summary = try command.service().restore()
        waitForTheNextSecond()
        command.write(lines(summary, command.configuration).joined(separator: "\n"), members(summary))
    }

    static func lines(_ summary: RestoreSummary, _ configuration: Configuration) -> [String] {
        let ended = "ended sessions: \(summary.endedSessions)"
        guard configuration.revocationsFile != nil else {
            return [
                ended, "There is no revocations_file: revoke again by hand what was revoked since the backup.",
            ]
        }
        return [
            ended, "keys revoked again: \(summary.revokedKeys)", "keys frozen again: \(summary.frozenKeys)",
            "users deleted again: \(summary.deletedUsers)",
            "administrators removed again: \(summary.removedAdministrators)",
            "services removed again: \(summary.removedServices)",
        ]
    }

    static func members(_ summary: RestoreSummary) -> [(name: String, value: JSONValue)] {
        [
            ("endedSessions", .integer(Int64(summary.endedSessions))),
            ("revokedKeys", .integer(Int64(summary.revokedKeys))),
            ("frozenKeys", .integer(Int64(summary.frozenKeys))),
            ("deletedUsers", .integer(Int64(summary.deletedUsers))),
            ("removedAdministrators", .integer(Int64(summary.removedAdministrators))),
            ("removedServices", .integer(Int64(summary.removedServices))),
        ]
    }

    /// Challenges have whole seconds. A server that was started, replaced and started again within one second would accept
    /// what the first process issued, although the sign-in that spent it is missing in the restored database.
    private static func waitForTheNextSecond() {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        time = timespec(tv_sec: time.tv_sec + 1, tv_nsec: 0)
        // A signal interrupts the wait, which ends the command or goes on.
        while clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &time, nil) == EINTR {}
    }

    /// Refuses to serve an earlier copy of the database, in which revoked keys are active.
    static func requireCurrent(_ service: RelyingPartyService, _ configuration: Configuration) throws {
        let missing = try service.compareWithRevocations()
        guard missing == 0 else {
            throw Usage(
                "the database lacks \(missing) entries of revocations_file, so it is an earlier copy",
                hint: "Run: latchkey-server CONFIGURATION restored")
        }
    }
}
