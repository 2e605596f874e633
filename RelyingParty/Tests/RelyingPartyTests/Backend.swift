// SPDX-License-Identifier: Apache-2.0

import Foundation
import RelyingPartySQLite
import Synchronization
import Testing

@testable import RelyingParty
@testable import RelyingPartyPostgreSQL

/// The databases on which the tests of the storage run.
enum Backend: Sendable, CaseIterable {
    case sqlite, postgresql

    /// Both, or SQLite only where PostgreSQL is not installed, unless CI demands both.
    static let all = Cluster.isWanted ? allCases : [.sqlite]
}

/// A cluster of PostgreSQL, which the script `postgresql` runs until this process ends.
final class Cluster: Sendable {
    static let isWanted =
        FileManager.default.isExecutableFile(atPath: "/usr/lib/postgresql/15/bin/initdb")
        || ProcessInfo.processInfo.environment["CI"] == "true"
    /// The cluster of the tests that do not end it.
    static let shared = Result { try Cluster() }

    /// The connection string.
    let address: String
    private let commands: FileHandle
    private let replies: FileHandle
    private let counter = Mutex(0)

    init() throws {
        let script = Process()
        let (input, output) = (Pipe(), Pipe())
        script.executableURL = URL(filePath: #filePath).deletingLastPathComponent().appending(
            path: "../ServerTests/postgresql")
        (script.standardInput, script.standardOutput) = (input, output)
        try script.run()
        (commands, replies) = (input.fileHandleForWriting, output.fileHandleForReading)
        address = try Self.line(replies)
    }

    private static func line(_ replies: FileHandle) throws -> String {
        var bytes = Data()
        while let byte = try replies.read(upToCount: 1), byte.first != 0x0a { bytes += byte }
        return try #require(bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self), "PostgreSQL does not start")
    }

    /// Runs a command of the script and returns its reply.
    @discardableResult func command(_ name: String) throws -> String {
        try commands.write(contentsOf: Data("\(name)\n".utf8))
        return try Self.line(replies)
    }

    /// The connection string of an empty schema.
    func schema() throws -> String {
        let number = counter.withLock { count in
            count += 1
            return count
        }
        let name = "test\(number)"
        _ = try PostgreSQLConnection(address, node: "").run("CREATE SCHEMA \(name)", [])
        return "\(address) options='-csearch_path=\(name)'"
    }
}
