// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyModel
import LatchkeySystem
import LatchkeyWire
import Synchronization
import TestSupport
import Testing

@testable import LatchkeyDesktop

@Suite struct BackupTransferTests {
    /// A daemon that answers each request with the next of these results.
    private final class ScriptedDaemon: RequestCaller {
        let requests = Recorder<Request>()
        private let answers: Mutex<[Result<Reply, Failure>]>

        init(_ answers: Result<Reply, Failure>...) { self.answers = Mutex(answers) }

        func call<Call: ClientRequest & WireValue>(_ request: Call) throws(Failure) -> Call.Response {
            // Decoded again, so that requests of different types are in one list.
            guard case .request(_, let sent)? = try? Message(decoding: Message.encoded(request, id: 1)) else {
                throw Failure(.internalFailure)
            }
            requests.add(sent)
            let answer = answers.withLock { $0.isEmpty ? .failure(Failure(.internalFailure)) : $0.removeFirst() }
            return try Call.contents(of: answer.get())
        }
    }

    private static func cursor(_ byte: UInt8) -> [UInt8] { Array(repeating: byte, count: 16) }

    private static func exported(_ text: String, _ count: UInt64, cursor: UInt8?) -> Result<Reply, Failure> {
        .success(
            .exported(
                .init(bytes: Array(text.utf8), count: count, skipped: SkippedItems(), cursor: cursor.map(Self.cursor))))
    }

    @Test func exportJoinsThePagesAndReportsEachCount() throws {
        let folder = try TemporaryFolder()
        let daemon = ScriptedDaemon(Self.exported("one,", 1, cursor: 1), Self.exported("two", 2, cursor: nil))
        var counts: [Int] = []
        let result = try BackupTransfer(daemon).export(to: FilePath(folder.path + "/backup")) { counts.append($0) }
        #expect(result.count == 2 && counts == [1, 2])
        #expect(try Files.read(folder.path + "/backup", limit: 100)?.copyBytes() == Array("one,two".utf8))
        #expect(
            daemon.requests.all == [
                .exportItems(.init(cursor: nil)), .exportItems(.init(cursor: Self.cursor(1))),
            ])
    }

    @Test func aFileWhoseNameIsNoTextIsWrittenAndRead() throws {
        let folder = try TemporaryFolder()
        let path = FilePath(bytes: Array((folder.path + "/caf").utf8) + [0xe9])
        let daemon = ScriptedDaemon(
            Self.exported("one", 1, cursor: nil),
            .success(.imported(.init(wantsStart: false, added: 1, present: 0, skipped: SkippedItems(), cursor: nil))))
        _ = try BackupTransfer(daemon).export(to: path) { _ in }
        #expect(
            try Descriptor.open(folder.path, O_RDONLY | O_DIRECTORY).names(limit: 10).map(\.bytes) == [
                Array("caf".utf8) + [0xe9]
            ])
        _ = try BackupTransfer(daemon).restore(from: path) { _ in }
        #expect(
            daemon.requests.all.last
                == .importItems(.init(cursor: nil, bytes: Array("one".utf8), isLast: true)))
    }

    @Test func anExportThatFailsLeavesNoFile() throws {
        let folder = try TemporaryFolder()
        let daemon = ScriptedDaemon(Self.exported("one,", 1, cursor: 1), .failure(Failure(.userCancel)))
        #expect(throws: Failure(.userCancel)) {
            _ = try BackupTransfer(daemon).export(to: FilePath(folder.path + "/backup")) { _ in }
        }
        #expect(!Files.exists(folder.path + "/backup") && !Files.exists(folder.path + "/backup.partial"))
    }

    @Test func restoreSendsTheFileAgainAfterItWasVerified() throws {
        let folder = try TemporaryFolder()
        let file = try NewFile(FilePath(folder.path + "/backup"))
        try file.write(Array("items".utf8))
        try file.finish()
        func imported(wantsStart: Bool, _ added: UInt64, cursor: UInt8?) -> Result<Reply, Failure> {
            .success(
                .imported(
                    .init(
                        wantsStart: wantsStart, added: added, present: 1, skipped: SkippedItems(),
                        cursor: cursor.map(Self.cursor))))
        }
        let daemon = ScriptedDaemon(
            imported(wantsStart: true, 0, cursor: 9), imported(wantsStart: false, 4, cursor: nil))
        let result = try BackupTransfer(daemon).restore(from: FilePath(folder.path + "/backup")) { _ in }
        #expect(result.count == 4 && result.present == 1)
        let bytes = Array("items".utf8)
        #expect(
            daemon.requests.all == [
                .importItems(.init(cursor: nil, bytes: bytes, isLast: true)),
                .importItems(.init(cursor: Self.cursor(9), bytes: bytes, isLast: true)),
            ])
    }
}
