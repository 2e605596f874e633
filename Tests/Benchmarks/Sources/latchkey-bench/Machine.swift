// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The machine that the numbers were measured on.
struct Machine: Codable, Sendable {
    let processor: String
    let cores: Int
    /// The number of cores that the run was bound to.
    let coresInUse: Int
    let kernel: String
    let fileSystem: String
    /// Load averages of 1, 5 and 15 minutes before the run.
    let loadAverage: String

    init(loadAverage: String, fileSystem: String, coresInUse: Int) {
        processor = Machine.processor
        cores = ProcessInfo.processInfo.activeProcessorCount
        self.coresInUse = coresInUse
        kernel = Machine.text("/proc/sys/kernel/osrelease").trimmingCharacters(in: .whitespacesAndNewlines)
        self.fileSystem = fileSystem
        self.loadAverage = loadAverage
    }

    /// The description in one line.
    var line: String {
        "machine: \(processor), \(coresInUse) of \(cores) cores used, Linux \(kernel), \(fileSystem), "
            + "load average \(loadAverage) at the start"
    }

    /// The current load averages of 1, 5 and 15 minutes.
    static var loadAverage: String {
        text("/proc/loadavg").split(separator: " ").prefix(3).joined(separator: " ")
    }

    private static var processor: String {
        // /proc/cpuinfo has no model name on some architectures.
        field("model name", in: text("/proc/cpuinfo")) ?? "unknown processor"
    }

    /// The value after `name` and a colon in a file of /proc.
    static func field(_ name: String, in text: String) -> String? {
        for line in text.split(separator: "\n") {
            let parts = line.split(separator: ":", maxSplits: 1)
            guard parts.count == 2, parts[0].trimmingCharacters(in: .whitespaces) == name else { continue }
            return parts[1].trimmingCharacters(in: .whitespaces)
        }
        return nil
    }

    /// The text of a file in /proc; empty when it cannot be read.
    static func text(_ path: String) -> String { (try? String(contentsOfFile: path, encoding: .utf8)) ?? "" }
}
