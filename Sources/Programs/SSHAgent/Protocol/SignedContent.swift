// SPDX-License-Identifier: Apache-2.0

import LatchkeyCrypto

/// What a program asks the agent to sign. Data of any other shape is not signed, since the person could not be told
/// what it means.
package enum SignedContent: Equatable, Sendable {
    /// A login with this key (RFC 4252, section 7; OpenSSH: `PROTOCOL`, section 3.1).
    case login(Login)
    /// A message or a file (OpenSSH: `PROTOCOL.sshsig`), for example a commit of git.
    case message(namespace: String)

    /// The fields of a request to log in.
    package struct Login: Equatable, Sendable {
        package var sessionID: [UInt8]
        package var user: String
        /// The server's key, in the method `publickey-hostbound-v00@openssh.com`; nil in the method `publickey`.
        package var hostKey: [UInt8]?
    }

    private static let preamble = Array("SSHSIG".utf8)
    private static let hostbound = "publickey-hostbound-v00@openssh.com"

    /// Reads the data; throws for any other shape, and for a login with another key.
    ///
    /// - Parameter key: the blob of the key that is to sign.
    package init(_ data: [UInt8], key: [UInt8]) throws(SSHFormatError) {
        // Data of a login begins with a length below 2^18, so the two shapes have no common value.
        if data.starts(with: Self.preamble) {
            var reader = SSHReader(data.dropFirst(Self.preamble.count))
            self = .message(namespace: try Self.namespace(&reader))
        } else {
            var reader = SSHReader(data)
            self = .login(try Self.login(&reader, key))
        }
    }

    private static func namespace(_ reader: inout SSHReader) throws(SSHFormatError) -> String {
        let namespace = try reader.text()
        let (reserved, algorithm, digest) = (try reader.string(), try reader.text(), try reader.string())
        try reader.end()
        let byteCount: Int
        switch algorithm {
        case "sha256": byteCount = DigestAlgorithm.sha256.byteCount
        case "sha512": byteCount = DigestAlgorithm.sha512.byteCount
        default: throw SSHFormatError()
        }
        guard !namespace.isEmpty, reserved.isEmpty, digest.count == byteCount else { throw SSHFormatError() }
        return namespace
    }

    private static func login(_ reader: inout SSHReader, _ key: [UInt8]) throws(SSHFormatError) -> Login {
        let sessionID = try reader.string()
        // SSH_MSG_USERAUTH_REQUEST
        guard try reader.byte() == 50 else { throw SSHFormatError() }
        let (user, service, method) = (try reader.text(), try reader.text(), try reader.text())
        guard service == "ssh-connection", try reader.byte() == 1, try reader.text() == SSHKeyBlob.algorithm,
            try reader.string() == key, (1...SSHAgentLimits.sessionIDBytes).contains(sessionID.count)
        else { throw SSHFormatError() }
        var login = Login(sessionID: sessionID, user: user)
        switch method {
        case "publickey": break
        case hostbound: login.hostKey = try reader.string()
        default: throw SSHFormatError()
        }
        try reader.end()
        return login
    }
}
