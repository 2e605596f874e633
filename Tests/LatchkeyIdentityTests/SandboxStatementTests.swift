// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyModel
import TestPromises
import TestSupport
import Testing

@testable import LatchkeyIdentity
@testable import LatchkeySystem

/// What a sandbox says about the app in it, and what a hostile one has there.
@Suite struct SandboxStatementTests {
    private static let names = ["org.example.App", "a.b.c", "org.example.App.Sub_1", "io.github.a-b.C-d", "_a._b._c"]
    private static let noNames = [
        "", "org", "org.example", "org..App", ".org.example.App", "org.example.App.", "org.example.1App",
        "org.example.App ",
        "org.example.App\u{202e}", "org.exämple.App", "org.example.App\0", "org/example/App", "org.example.←App",
        "a.b." + String(repeating: "c", count: 252),
    ]

    @Test(arguments: names) func theFileOfAFlatpakNamesItsApp(name: String) throws {
        let text =
            "[Application]\nname=\(name)\nruntime=runtime/org.example.Platform/x86_64/1\n\n[Instance]\nname=other\n"
        let app = try #require(SandboxStatement.flatpakApp(Array(text.utf8)))
        #expect(app.name == name && app.kind == .flatpak && app.owner == "flatpak:\(name)")
        #expect(app.label == "\(name) (Flatpak)" && SandboxedApp(owner: app.owner) == app)
    }

    @Test(arguments: noNames) func anotherTextIsNoName(name: String) {
        #expect(SandboxStatement.flatpakApp(Array("[Application]\nname=\(name)\n".utf8)) == nil)
        #expect(SandboxedApp(owner: "flatpak:\(name)") == nil)
    }

    @Test(arguments: [
        "", "name=org.example.App", "[Runtime]\nname=org.example.App", "[Application]",
        "[Application]\nName=org.example.App",
        "[Application]\nname=org.example.App\nname=org.example.Other", "[Application]\nname = org.example.App",
        "[Application]\nname=org.example.App\n[Application]\n", "[Application] \nname=org.example.App",
        "[application]\nname=a.b.c",
    ]) func aFileWithoutExactlyOneNameNamesNone(text: String) {
        #expect(SandboxStatement.flatpakApp(Array(text.utf8)) == nil)
    }

    @Test func bytesThatAreNoTextNameNone() {
        for bytes in [
            [0xff], Array("[Application]\nname=org.example.".utf8) + [0xc3, 0x28], [UInt8](repeating: 0, count: 100),
        ] {
            #expect(SandboxStatement.flatpakApp(bytes) == nil)
        }
    }

    /// Whatever one byte becomes, a name has the letters of a name.
    @Test func eachChangedByteNamesAnAppOrNone() {
        let text = Array("[Application]\nname=org.example.App\n[Instance]\nid=1\n".utf8)
        var names = 0
        for index in text.indices {
            for byte in UInt8.min...UInt8.max {
                var changed = text
                changed[index] = byte
                guard let app = SandboxStatement.flatpakApp(changed) else { continue }
                names += 1
                #expect(app.name.utf8.allSatisfy { "._-".utf8.contains($0) || (0x30...0x7a).contains($0) })
                #expect(SandboxedApp(owner: app.owner) == app)
            }
        }
        #expect(names > text.count)
    }

    @Test(arguments: [
        ("snap.editor.editor (enforce)\n", "snap:editor"),
        ("snap.editor_work.hook.configure (complain)\n", "snap:editor_work"),
        ("snap.a-1.b", "snap:a-1"),
    ]) func theLabelOfASnapNamesIt(label: String, owner: String) throws {
        let app = try #require(SandboxedApp(owner: owner))
        #expect(SandboxStatement.snapApp(Array(label.utf8)) == .app(app) && app.owner == owner)
    }

    @Test func anotherLabelIsThatOfNoSnapOrMalformed() {
        for label in ["", "unconfined\n", "docker-default (enforce)\n", "snapd (enforce)", "/usr/bin/man (enforce)"] {
            #expect(SandboxStatement.snapApp(Array(label.utf8)) == .nothing)
        }
        for label in [
            "snap.", "snap.editor (enforce)", "snap..a", "snap.Editor.a", "snap.a//&snap.b.c", "snap.\u{e9}.a",
        ] {
            #expect(SandboxStatement.snapApp(Array(label.utf8)) == .malformed)
        }
        for owner in ["", "snap:", "snap", "org.example.App", "/usr/bin/a:b", "docker:a.b.c", "Snap:a"] {
            #expect(SandboxedApp(owner: owner) == nil)
        }
    }

    // MARK: - Processes

    /// A process whose root folder is one on tmpfs.
    private final class Sandbox {
        let child: Child
        /// The kernel removes a mount whose folder is removed outside.
        private let folder: TemporaryFolder

        init(_ child: Child, _ folder: TemporaryFolder) { (self.child, self.folder) = (child, folder) }
    }

    /// A process in whose root folder `made` has put a description.
    private func sandboxed(_ made: String) throws -> Sandbox {
        let folder = try TemporaryFolder()
        let script = """
            mount -t tmpfs none '\(folder.path)' && cd '\(folder.path)' && mkdir usr && mount --rbind /usr usr || exit
            for link in bin lib lib32 lib64; do [ ! -e /$link ] || ln -s usr/$link $link; done
            \(made)
            exec chroot . /usr/bin/cat
            """
        let child = try Child("/usr/bin/unshare", ["--user", "--map-root-user", "--mount", "/bin/sh", "-c", script])
        try child.awaitEcho()
        return Sandbox(child, folder)
    }

    private static let description = "printf '[Application]\\nname=org.example.App\\n' >.flatpak-info"

    @Test(.promise("secrets.sandboxes"), .needs(.namespaces)) func aProcessIsTheAppThatItsRootFolderNames() throws {
        let sandbox = try sandboxed(Self.description)
        defer { withExtendedLifetime(sandbox) {} }
        let child = sandbox.child
        let app = try #require(SandboxedApp(owner: "flatpak:org.example.App"))
        #expect(try SandboxStatement(of: child.name()) == .app(app))
        let identity = try child.identity()
        #expect(identity.sandbox == app && identity.groups == ["user:\(getuid())"] && identity.strength == .user)
        let own = try #require(TerminalJob(getpid()))
        let this = ProcessName(processID: getpid(), startTime: own.startTime, userID: getuid())
        #expect(try SandboxStatement(of: this) == .nothing)
        var later = try child.name()
        later.startTime += 1
        #expect(throws: Failure(.peerNotTrusted)) { try SandboxStatement(of: later) }
    }

    @Test(
        .promise("secrets.sandboxes"), .needs(.namespaces),
        arguments: [
            "mkfifo .flatpak-info", "truncate -s 1G .flatpak-info", "head -c 1000 /dev/urandom >.flatpak-info",
            "\(description); mv .flatpak-info info; ln -s info .flatpak-info", "ln -s /etc/passwd .flatpak-info",
            "mkdir .flatpak-info", ": >.flatpak-info",
            // On another file system than the root folder of a sandbox has: one of a user could block.
            "touch .flatpak-info; mount --bind usr/bin/cat .flatpak-info",
        ])
    func whatIsNoDescriptionNamesNoAppAndBlocksNobody(made: String) throws {
        let sandbox = try sandboxed(made)
        defer { withExtendedLifetime(sandbox) {} }
        let child = sandbox.child
        let began = Uptime.nanoseconds
        #expect(try SandboxStatement(of: child.name()) == .malformed)
        let identity = try child.identity()
        #expect(identity.sandbox == nil && identity.groups == ["user:\(getuid())"])
        #expect(Uptime.nanoseconds - began < 2_000_000_000)
    }

    @Test(.needs(.namespaces)) func aRootFolderWithoutADescriptionSaysNothing() throws {
        let sandbox = try sandboxed("true")
        defer { withExtendedLifetime(sandbox) {} }
        #expect(try SandboxStatement(of: sandbox.child.name()) == .nothing)
    }

    @Test(.needs(.namespaces)) func moreMountsThanAreExaminedAreMalformed() throws {
        let calls = SystemCalls { call, path in call == "read" && path == "mountinfo" ? EFBIG : nil }
        let sandbox = try sandboxed(Self.description)
        defer { withExtendedLifetime(sandbox) {} }
        #expect(try SandboxStatement(of: sandbox.child.name(), calls) == .malformed)
    }

    /// Each call fails in turn with errors of exhaustion, which are never an answer.
    @Test(.promise("identity.errors"), .needs(.namespaces)) func whatCannotBeReadNowIsAnError() throws {
        let sandbox = try sandboxed(Self.description)
        defer { withExtendedLifetime(sandbox) {} }
        let name = try sandbox.child.name()
        let made = Recorder<String>()
        _ = try SandboxStatement(
            of: name,
            SystemCalls { call, path in
                made.add("\(call) \(path)")
                return nil
            })
        #expect(made.all.contains { $0.hasPrefix("openat /proc/self/fd/") })
        for index in made.all.indices {
            for code in [EMFILE, ENOMEM, EIO, EINTR, ETIMEDOUT] {
                let count = Recorder<Int>()
                let calls = SystemCalls { _, _ in
                    count.add(0)
                    return count.all.count == index + 1 ? code : nil
                }
                #expect(throws: Failure(.daemonUnavailable), "\(made.all[index])") {
                    try SandboxStatement(of: name, calls)
                }
            }
        }
    }
}
