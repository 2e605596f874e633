// SPDX-License-Identifier: Apache-2.0

import TestPromises
import Testing

@testable import SSHAgent

@Suite struct SigningPurposeTests {
    private let host: TestHost
    private let other: TestHost
    private static let key: [UInt8] = [4, 2]
    private static let session = [UInt8](repeating: 1, count: 32)
    private static let hostbound = "publickey-hostbound-v00@openssh.com"

    init() throws { (host, other) = (try TestHost(.p256), try TestHost(.p256)) }

    private func content(_ data: [UInt8]) throws(SSHFormatError) -> SignedContent {
        try SignedContent(data, key: Self.key)
    }

    private func login(_ method: String = "publickey", host: [UInt8]? = nil) throws -> SignedContent {
        try content(SSHBytes.login(session: Self.session, key: Self.key, method: method, host: host))
    }

    private func bound(_ binds: SessionBind...) -> SessionBindings {
        var bindings = SessionBindings()
        for bind in binds {
            let isBound = bindings.add(bind)
            #expect(isBound)
        }
        return bindings
    }

    private func isRefused(_ content: SignedContent, _ bindings: SessionBindings, allowsUnbound: Bool) -> Bool {
        (try? SigningPurpose(content, bindings, allowsUnbound: allowsUnbound)) == nil
    }

    // MARK: - Shapes

    @Test func bothShapesAreRead() throws {
        #expect(try content(SSHBytes.message("git")) == .message(namespace: "git"))
        #expect(
            try content(SSHBytes.message("file", algorithm: "sha256", digestBytes: 32)) == .message(namespace: "file"))
        guard case .login(let login) = try login(Self.hostbound, host: host.blob) else {
            Issue.record("not a login")
            return
        }
        #expect(login.user == "ada" && login.sessionID == Self.session && login.hostKey == host.blob)
    }

    @Test(.promise("ssh.login")) func everyOtherShapeIsRefused() throws {
        let key = Self.key
        let shapes: [[UInt8]] = [
            [], Array("SSHSIG".utf8), Array("hello".utf8), [UInt8](repeating: 0, count: 64),
            SSHBytes.message(""), SSHBytes.message("git", reserved: [1]), SSHBytes.message("git", digestBytes: 32),
            SSHBytes.message("git", algorithm: "sha1", digestBytes: 20), SSHBytes.message("git") + [0],
            SSHBytes.login(session: Self.session, key: [9]), SSHBytes.login(session: [], key: key),
            SSHBytes.login(session: [UInt8](repeating: 1, count: 129), key: key),
            SSHBytes.login(session: Self.session, key: key, method: "hostbased"),
            SSHBytes.login(session: Self.session, key: key, host: host.blob),
            SSHBytes.login(session: Self.session, key: key, method: Self.hostbound),
            SSHBytes.login(session: Self.session, key: key, service: "ssh-userauth"),
            SSHBytes.login(session: Self.session, key: key, signs: 0),
            SSHBytes.login(session: Self.session, key: key, algorithm: "ssh-ed25519"),
        ]
        for (number, shape) in shapes.enumerated() {
            #expect(throws: SSHFormatError.self, "shape \(number)") { try content(shape) }
        }
    }

    @Test func truncatedAndExtendedDataIsRefused() throws {
        for data in [
            SSHBytes.message("git"), SSHBytes.login(session: Self.session, key: Self.key),
            SSHBytes.login(session: Self.session, key: Self.key, method: Self.hostbound, host: host.blob),
        ] {
            for count in 0..<data.count {
                #expect(throws: SSHFormatError.self, "cut at \(count)") { try content(Array(data[..<count])) }
            }
            #expect(throws: SSHFormatError.self) { try content(data + [0]) }
        }
    }

    // MARK: - Logins

    @Test func boundLoginNamesItsHost() throws {
        let bindings = bound(try host.bind(Self.session))
        for content in [try login(), try login(Self.hostbound, host: host.blob)] {
            let purpose = try SigningPurpose(content, bindings, allowsUnbound: false)
            #expect(purpose == .login(user: "ada", host: try HostKey(host.blob), through: []))
        }
    }

    @Test(.promise("ssh.login"), arguments: [false, true]) func loginToAnotherSessionIsRefused(
        allowsUnbound: Bool
    ) throws {
        let bindings = bound(try host.bind([UInt8](repeating: 2, count: 32)))
        #expect(isRefused(try login(), bindings, allowsUnbound: allowsUnbound))
    }

    @Test(arguments: [false, true]) func loginWithTheKeyOfAnotherHostIsRefused(allowsUnbound: Bool) throws {
        let bindings = bound(try host.bind(Self.session))
        #expect(isRefused(try login(Self.hostbound, host: other.blob), bindings, allowsUnbound: allowsUnbound))
    }

    @Test(.promise("ssh.login")) func unboundLoginIsRefusedUnlessAllowed() throws {
        #expect(isRefused(try login(), SessionBindings(), allowsUnbound: false))
        let purpose = try SigningPurpose(try login(), SessionBindings(), allowsUnbound: true)
        #expect(purpose == .login(user: "ada", host: nil, through: []))
    }

    @Test func loginOverAForwardedConnectionNeedsItsOwnSession() throws {
        let forwarded = bound(try host.bind(Self.session, forwarding: true))
        #expect(isRefused(try login(), forwarded, allowsUnbound: false), "the session of the way is not the login's")
        let allowed = try SigningPurpose(try login(), forwarded, allowsUnbound: true)
        #expect(allowed == .login(user: "ada", host: nil, through: [try HostKey(host.blob)]))
        let both = bound(
            try other.bind([UInt8](repeating: 9, count: 32), forwarding: true), try host.bind(Self.session))
        let content = try login(Self.hostbound, host: host.blob)
        let purpose = try SigningPurpose(content, both, allowsUnbound: false)
        #expect(purpose == .login(user: "ada", host: try HostKey(host.blob), through: [try HostKey(other.blob)]))
    }

    /// A server on the way signs the identifier of its session with a third server and binds it under its own name.
    @Test(.promise("ssh.login")) func serverOnTheWayCannotPassALoginToAnotherServerForOneToItself() throws {
        let near = try other.bind([UInt8](repeating: 9, count: 32), forwarding: true)
        let claimed = bound(near, try other.bind(Self.session))
        #expect(isRefused(try login(), claimed, allowsUnbound: false))
        let allowed = try SigningPurpose(try login(), claimed, allowsUnbound: true)
        #expect(allowed == .login(user: "ada", host: nil, through: [try HostKey(other.blob)]))
        #expect(isRefused(try login(Self.hostbound, host: host.blob), claimed, allowsUnbound: true))
    }

    @Test(.promise("ssh.bind"), arguments: [false, true]) func afterAFailedBindNothingIsSigned(
        allowsUnbound: Bool
    ) throws {
        var bindings = SessionBindings()
        bindings.fail()
        #expect(isRefused(try login(), bindings, allowsUnbound: allowsUnbound))
        #expect(isRefused(.message(namespace: "git"), bindings, allowsUnbound: allowsUnbound))
    }

    // MARK: - Messages

    @Test func messageIsSignedExceptOnAConnectionThatLogsIn() throws {
        let message = SignedContent.message(namespace: "git")
        let local = try SigningPurpose(message, SessionBindings(), allowsUnbound: false)
        #expect(local == .message(namespace: "git", through: []))
        let forwarded = bound(try host.bind(Self.session, forwarding: true))
        let remote = try SigningPurpose(message, forwarded, allowsUnbound: false)
        #expect(remote == .message(namespace: "git", through: [try HostKey(host.blob)]))
        #expect(isRefused(message, bound(try host.bind(Self.session)), allowsUnbound: true))
    }
}
