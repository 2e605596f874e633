// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel

/// Decides which connections a daemon accepts, so that no process and no program can lock the others out.
///
/// Up to `total - reserved` connections, only the limits per process and per program apply. The reserved connections
/// are for programs that have fewer than `few`. A program without connections is therefore accepted as long as fewer
/// than `reserved / few` programs are connected: all others together have at most `total - reserved + few * (reserved
/// / few - 1)` connections.
package struct ConnectionCaps: Sendable {
    package struct Bounds: Sendable {
        package var total = Limits.connections
        package var process = Limits.connectionsOfProcess
        package var program = Limits.connectionsOfProgram
        package var reserved = Limits.reservedConnections
        package var few = Limits.fewConnections

        package init() {}
    }

    private let bounds: Bounds
    private var total = 0
    private var ofProcess: [Int32: Int] = [:]
    /// Programs that cannot be determined share one count, so that a process gains nothing by hiding its executable.
    private var ofProgram: [ClientProgram: Int] = [:]

    package init(_ bounds: Bounds) { self.bounds = bounds }

    /// Counts one more connection, or returns why it is refused.
    package mutating func admit(process: Int32, program: ClientProgram) -> Failure? {
        let (inProcess, inProgram) = (ofProcess[process, default: 0], ofProgram[program, default: 0])
        if inProcess >= bounds.process {
            return Failure(
                .limitExceeded,
                "This process has \(inProcess) connections to the daemon; one process has at most "
                    + "\(bounds.process).",
                hint: "One connection serves any number of threads; close those that are not needed.")
        }
        if inProgram >= bounds.program {
            return Failure(
                .limitExceeded,
                "The processes of this program have \(inProgram) connections to the daemon; one program "
                    + "has at most \(bounds.program).",
                hint: "End processes of this program that are not needed.")
        }
        guard total < bounds.total else {
            return Failure(
                .limitExceeded, "The daemon has \(total) connections, and has at most \(bounds.total).",
                hint: "End programs that use the keychain and are not needed.")
        }
        guard total < bounds.total - bounds.reserved || inProgram < bounds.few else {
            return Failure(
                .limitExceeded,
                "The daemon has \(total) connections; the last \(bounds.reserved) are for programs "
                    + "with fewer than \(bounds.few), and this program has \(inProgram).",
                hint: "End programs that use the keychain and are not needed.")
        }
        total += 1
        ofProcess[process] = inProcess + 1
        ofProgram[program] = inProgram + 1
        return nil
    }

    package mutating func leave(process: Int32, program: ClientProgram) {
        total -= 1
        let (inProcess, inProgram) = (ofProcess[process, default: 1] - 1, ofProgram[program, default: 1] - 1)
        ofProcess[process] = inProcess == 0 ? nil : inProcess
        ofProgram[program] = inProgram == 0 ? nil : inProgram
    }
}
