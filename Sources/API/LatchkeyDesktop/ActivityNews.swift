// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyModel
import LatchkeySystem

/// Reads in a process of its own what is new in the audit log.
///
/// The program that shows prompts hides its memory, so the daemon cannot identify it and it must not be a client. It starts
/// itself once more for this, and that process shows no prompt.
public enum ActivityNews {
    /// What a reading found.
    public struct Found: Equatable, Sendable {
        /// The number of the newest entry; 0 for an empty log.
        public let newest: Int64
        /// The notices; none if there was no earlier reading.
        public let notices: [ActivityNotice]
        /// Whether the keychain is locked.
        public let isLocked: Bool
    }

    /// The option of the program that reads the log.
    public static let option = "--activity-after"
    /// Entries that are compared.
    private static let entries = 1024
    /// Longest time in seconds that the program may take to end after its last output.
    static let endSeconds: Int64 = 5
    private static let lineBytes = 4096

    /// Writes what is new to standard output, for `read`. Blocks; shows no prompt, and starts no daemon: one that has ended
    /// after the prompt must not be started again by a message about it.
    ///
    /// - Parameter number: the newest entry that is known; nil if none is.
    /// - Returns: the exit status.
    public static func write(after number: Int64?) -> Int32 {
        let control = KeychainControl(startsDaemon: false)
        guard let entries = try? control.activity(limit: entries), let isLocked = try? control.overview().isLocked
        else { return 69 }
        print("newest\t\(entries.first?.id ?? 0)")
        if isLocked { print("locked") }
        for notice in number.map({ ActivityNotice.all(in: entries, after: $0) }) ?? [] { print(line(notice)) }
        return 0
    }

    /// Starts this program once more, and returns what it has read. Blocks until it ends.
    ///
    /// - Parameter number: the newest entry that is known; nil for the first reading, which finds no notices.
    /// - Returns: nil if the log could not be read.
    public static func read(after number: Int64?) -> Found? {
        guard let (process, output) = try? start([option, number.map { "\($0)" } ?? "-"]) else { return nil }
        var (lines, newest, isLocked): ([ActivityNotice], Int64?, Bool) = ([], nil, false)
        var reader = LineReader(limit: lineBytes)
        while let bytes = try? output.read(atMost: lineBytes), !bytes.isEmpty {
            for fields in reader.lines(after: bytes) {
                if fields.first == "newest", fields.count == 2 { newest = Int64(fields[1]) }
                if fields == ["locked"] { isLocked = true }
                if let notice = notice(fields) { lines.append(notice) }
            }
        }
        guard Processes.wait(process, killAfter: endSeconds) == 0, let newest else { return nil }
        return Found(newest: newest, notices: lines, isLocked: isLocked)
    }

    /// Starts this program. The writing end of the pair is the program's only when this returns.
    static func start(_ arguments: [String]) throws(SystemError) -> (pid_t, Descriptor) {
        guard let program = Environment.executable else { throw SystemError("readlink", code: ENOENT) }
        let (output, input) = try Sockets.pair()
        return (try Processes.spawn(program, arguments, descriptors: [nil, input, nil]), output)
    }

    /// The number of the newest known entry in an argument of the option; nil if it is not one.
    ///
    /// - Parameter argument: a decimal number, or `-` if no entry is known.
    public static func number(_ argument: String) -> Int64?? {
        argument == "-" ? .some(nil) : Int64(argument).map { .some($0) }
    }

    static func line(_ notice: ActivityNotice) -> String {
        switch notice.kind {
        case .lockedOut: "locked-out\t\(notice.count)"
        case .enrollmentChanged: "enrollment-changed\t\(notice.count)"
        // A name is one line without a tab: the daemon cleans it.
        case .firstRead(let app): "first-read\t\(notice.count)\t\(app)"
        case .refusedWhileLocked(let app): "refused-while-locked\t\(notice.count)\t\(app)"
        }
    }

    static func notice(_ fields: [String]) -> ActivityNotice? {
        guard fields.count >= 2, let count = Int(fields[1]) else { return nil }
        switch (fields[0], fields.count) {
        case ("locked-out", 2): return ActivityNotice(.lockedOut, count: count)
        case ("enrollment-changed", 2): return ActivityNotice(.enrollmentChanged, count: count)
        case ("first-read", 3): return ActivityNotice(.firstRead(app: fields[2]), count: count)
        case ("refused-while-locked", 3): return ActivityNotice(.refusedWhileLocked(app: fields[2]), count: count)
        default: return nil
        }
    }
}
