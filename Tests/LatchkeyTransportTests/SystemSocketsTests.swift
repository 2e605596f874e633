// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyModel
import LatchkeySystem
import TestSupport
import Testing

/// Sockets of a system with wrong owners and modes, which neither a program nor `latchkeyd` uses.
@Suite(.needs(.root)) struct SystemSocketsTests {
    /// A user id without an account.
    private static let other: uid_t = 64_321
    private let root: RootFolder
    private var folder: String { root.path + "/run" }
    private var sockets: SystemSockets { SystemSockets(folder) }

    init() throws {
        root = try RootFolder()
        for path in [folder, sockets.publicFolder] {
            try #require(mkdir(path, 0o755) == 0 && chmod(path, 0o755) == 0)
        }
        try root.write("run/public/keychain.sock", "")
    }

    @Test func withoutTheSocketThereIsNoSystemKeychain() throws {
        Files.remove(sockets.keychain)
        #expect(try sockets.storeUser() == nil)
    }

    @Test(arguments: [0, other]) func theOwnerOfThePublicFolderIsTheUserOfTheService(owner: uid_t) throws {
        try #require(chown(sockets.publicFolder, owner, owner) == 0)
        #expect(try sockets.storeUser() == owner)
    }

    @Test(arguments: ["", "/public"], [0o775, 0o757, 0o777, 0o1777] as [mode_t])
    func aFolderThatOthersCanChangeIsRefused(below: String, mode: mode_t) throws {
        try #require(chmod(folder + below, mode) == 0)
        expectRefusal("\(folder + below) can be changed by others than root") { () throws(Failure) in
            _ = try sockets.storeUser()
        }
    }

    @Test func aFolderAboveThePublicOneBelongsToRoot() throws {
        try #require(chown(folder, Self.other, Self.other) == 0)
        expectRefusal("\(folder) can be changed by others than root") { () throws(Failure) in
            _ = try sockets.storeUser()
        }
    }

    @Test(arguments: ["", "/public"]) func aLinkInPlaceOfAFolderIsRefused(below: String) throws {
        let path = folder + below
        try #require(rename(path, root.path + "/elsewhere") == 0)
        try #require(symlink(root.path + "/elsewhere", path) == 0)
        expectRefusal("\(path) can be changed by others than root") { () throws(Failure) in
            _ = try sockets.storeUser()
        }
    }

    @Test func theListenerIsRootOrTheUserOfTheService() throws {
        let path = folder + "/authd.sock"
        let byRoot = try Sockets.listen(path)
        for user in [0, Self.other] { _ = try SystemSockets.connect(path, servedBy: user) }
        withExtendedLifetime(byRoot) {}
        let byOther = try listenAsOther(path)
        _ = try SystemSockets.connect(path, servedBy: Self.other)
        for user in [0, Self.other + 1] {
            expectRefusal("The socket \(path) belongs to user \(Self.other).") { () throws(Failure) in
                _ = try SystemSockets.connect(path, servedBy: user)
            }
        }
        withExtendedLifetime(byOther) {}
    }

    /// Listens at `path`; for the kernel another user does, who calls listen(2) last.
    private func listenAsOther(_ path: String) throws -> Descriptor {
        let socket = try Sockets.listen(path)
        let listener = try Processes.spawn(
            "/usr/bin/setpriv",
            [
                "--reuid=\(Self.other)", "--regid=\(Self.other)", "--clear-groups", "/usr/bin/perl", "-e",
                "open(my $socket, '+<&=', 0) or exit 1; listen($socket, 8) or exit 2;",
            ], descriptors: [socket])
        try #require(Processes.wait(listener) == 0)
        return socket
    }

    private func expectRefusal(
        _ message: String, sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws(Failure) -> Void
    ) {
        do throws(Failure) {
            try body()
            Issue.record("it was not refused", sourceLocation: sourceLocation)
        } catch {
            #expect(error.status == .peerNotTrusted, sourceLocation: sourceLocation)
            #expect(error.message.hasPrefix(message), "\(error.message)", sourceLocation: sourceLocation)
            #expect(error.hint.contains("latchkey doctor"), sourceLocation: sourceLocation)
        }
    }
}
