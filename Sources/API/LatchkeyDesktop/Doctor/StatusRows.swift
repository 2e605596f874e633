// SPDX-License-Identifier: Apache-2.0

import Glibc
package import LatchkeyModel

// Rows about what only the daemon knows: each takes its status, or nil if it does not answer.

/// How many bytes a process may lock in memory (RLIMIT_MEMLOCK).
package struct LockLimits: Equatable, Sendable {
    /// Bytes of the smallest memory in which a daemon holds secrets.
    static let needed: UInt64 = 64 << 10
    /// Bytes of a sufficient limit, the default of the kernel.
    private static let usual: UInt64 = 8 << 20

    package var soft: UInt64
    /// The maximum to which a process may raise its own limit.
    package var hard: UInt64

    /// Raises the limit of the shell in which the command is run.
    var raise: DoctorRow.Hint {
        hard >= Self.usual
            ? DoctorRow.Hint("ulimit -S -l \(Self.usual >> 10)")
            : DoctorRow.Hint("prlimit --memlock=\(Self.usual):\(Self.usual) --pid $$", needsRoot: true)
    }
}

extension LockLimits {
    package init() {
        var limit = rlimit()
        // RLIMIT_MEMLOCK is 8 on Linux; it is not in every Glibc module. If the call failed, no memory could be locked.
        let isKnown = getrlimit(__rlimit_resource_t(8), &limit) == 0
        self.init(soft: isKnown ? UInt64(limit.rlim_cur) : 0, hard: isKnown ? UInt64(limit.rlim_max) : 0)
    }
}

extension DoctorRow {
    /// Ends a user's own daemon; the next call starts it again.
    private static let restart = "latchkey restart"

    static func unknown(_ name: String) -> DoctorRow {
        DoctorRow(name, .absent, "not known, because latchkeyd does not answer")
    }

    /// Whether the memory of secrets cannot be swapped out.
    ///
    /// - Parameter limits: what a daemon that starts now may lock; the running daemon's own report comes first.
    package static func memory(
        _ report: StatusReport?, isSystem: Bool, limits: LockLimits = LockLimits(), isRoot: Bool = geteuid() == 0
    ) -> DoctorRow {
        let name = "memory"
        if let reason = report?.unlockedMemory {
            let found: Phrase = "secrets may be swapped out: \(reason)"
            if isSystem {
                return DoctorRow(
                    name, .attention, found,
                    .init("systemctl revert latchkeyd && systemctl restart latchkeyd", needsRoot: true))
            }
            // The next daemon inherits the limit of the shell that starts it.
            let raise = limits.raise
            return DoctorRow(
                name, .attention, found,
                .init("\(raise.command) && \(Self.restart)", needsRoot: raise.needsRoot))
        }
        if report != nil { return DoctorRow(name, .ok, "secrets are locked in memory") }
        // The system's daemon has a limit of its own.
        if isSystem { return unknown(name) }
        guard isRoot || limits.soft >= LockLimits.needed else {
            return DoctorRow(
                name, .attention, "a program may lock \(limits.soft) bytes; the daemon needs \(LockLimits.needed)",
                limits.raise)
        }
        return DoctorRow(name, .ok, "the daemon may lock its secrets in memory")
    }

    /// Whether a passcode is set: without one, no protected item can be stored.
    ///
    /// - Parameter isNew: whether there is no store yet, so that no passcode can be set.
    package static func passcode(_ report: StatusReport?, isNew: Bool = false) -> DoctorRow {
        let missing = DoctorRow(
            "passcode", .attention, "not set, so no protected item can be stored", .init("latchkey passcode set"))
        guard let report else { return isNew ? missing : unknown("passcode") }
        guard report.problem == nil else { return DoctorRow("passcode", .absent, "not known, see the row store") }
        guard report.isPasscodeSet else { return missing }
        guard report.passcodeKind == .account else { return DoctorRow("passcode", .ok, "set") }
        guard report.canBeGuessedWithoutTPM else {
            return DoctorRow("passcode", .ok, "set, the password of your account")
        }
        return DoctorRow(
            "passcode", .ok,
            "set, the password of your account, as strong as /etc/shadow: a thief of the disk can guess it without the TPM"
        )
    }

    /// Writes of one index that the non-volatile memory of a TPM bears, as makers state it.
    private static let endurance = 100_000
    /// Years for which it is to last.
    private static let years = 10

    /// How often Latchkey writes to the non-volatile memory of the TPM, which wears out.
    ///
    /// - Parameter report: the status of the daemon; nil if it does not answer.
    package static func trustedModuleWrites(_ report: StatusReport?) -> DoctorRow {
        let name = "TPM writes"
        guard let report else { return unknown(name) }
        guard report.tier == .tpm else {
            return DoctorRow(name, .absent, "none in daily use: only tier tpm has counters and a passcode in the TPM")
        }
        return DoctorRow(
            name, .ok,
            """
            each user's counter at most \(Limits.timedMovesPerDay) a day by a timer, one at a start and with another \
            passcode or finger; each user's passcode one with a wrong entry and with the right one after it; items and \
            keys none. An index bears some \(endurance), \(endurance / (years * 365)) a day for \(years) years
            """)
    }

    /// The implementation of the Secure Enclave.
    ///
    /// - Parameter configuration: the file that chooses it.
    package static func enclave(_ report: StatusReport?, isSystem: Bool, configuration: String) -> DoctorRow {
        let name = "enclave"
        guard let report else { return unknown(name) }
        switch report.enclave {
        case .software: return DoctorRow(name, .ok, "software; private keys are in the daemon's memory during a use")
        case .tpm:
            if let problem = report.deviceProblem {
                // The failure names the file that root corrects; then both services read it again.
                return DoctorRow(
                    name, .attention, problem.message,
                    .init("systemctl restart latchkey-authd latchkeyd", needsRoot: true))
            }
            switch report.enclaveDevice {
            case .chip: return DoctorRow(name, .ok, "TPM 2.0")
            case .program:
                return DoctorRow(name, .attention, "TPM 2.0, virtual: a program, whose administrator can copy the keys")
            case nil:
                return DoctorRow(
                    name, .attention, "TPM 2.0, not known whether it is virtual, because it does not answer",
                    isSystem
                        ? .init("systemctl restart latchkey-authd latchkeyd", needsRoot: true)
                        : .init(Self.restart))
            }
        case nil:
            let restart = isSystem ? "systemctl restart latchkeyd" : Self.restart
            return DoctorRow(
                name, .absent, "none is configured",
                .init(
                    "echo 'enclave = software' >> \(ShellWord.quoted(configuration)) && \(restart)",
                    needsRoot: isSystem))
        }
    }
}
