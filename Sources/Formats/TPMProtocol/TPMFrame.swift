// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel

/// The authorization of one handle of a command by a session or by the empty password (`TPMS_AUTH_COMMAND`, Part 2,
/// section 10.13.2).
package struct TPMAuthorization: Sendable {
    package var session: TPMHandle
    package var nonce: [UInt8]
    package var attributes: TPMSessionAttributes
    package var code: [UInt8]

    package init(
        session: TPMHandle, nonce: [UInt8] = [], attributes: TPMSessionAttributes = .continues, code: [UInt8] = []
    ) {
        (self.session, self.nonce, self.attributes, self.code) = (session, nonce, attributes, code)
    }

    package static let emptyPassword = TPMAuthorization(session: .password)
}

/// A complete command (Part 1, section 18).
package enum TPMFrame {
    /// Bytes of the header of a command or response: tag, size, code.
    package static let headerBytes = 10
    /// Maximum bytes of a response. The specification allows 4096 bytes in the profile for PCs.
    package static let responseLimit = 4096

    private static let tagWithoutSessions: UInt16 = 0x8001
    private static let tagWithSessions: UInt16 = 0x8002

    package static func encode(
        _ command: TPMCommand, handles: [TPMHandle], _ authorizations: [TPMAuthorization], parameters: [UInt8]
    ) throws(Failure) -> [UInt8] {
        var body = TPMWriter()
        for handle in handles { body.add(handle) }
        if !authorizations.isEmpty {
            var area = TPMWriter()
            for authorization in authorizations {
                area.add(authorization.session)
                try area.add(sized: authorization.nonce)
                area.add(authorization.attributes.rawValue)
                try area.add(sized: authorization.code)
            }
            body.add(UInt32(area.bytes.count))
            body.add(area.bytes)
        }
        body.add(parameters)
        var frame = TPMWriter()
        frame.add(authorizations.isEmpty ? tagWithoutSessions : tagWithSessions)
        frame.add(UInt32(headerBytes + body.bytes.count))
        frame.add(command.rawValue)
        frame.add(body.bytes)
        return frame.bytes
    }

    /// Returns the size of the response that begins with `header`; throws `TPMReader.malformed` for an impossible one.
    package static func size(ofResponseWith header: [UInt8]) throws(Failure) -> Int {
        var reader = TPMReader(header)
        _ = try reader.uint16()
        let size = Int(try reader.uint32())
        guard size >= headerBytes, size <= responseLimit else { throw TPMReader.malformed }
        return size
    }

    /// Returns the code of a response; throws `TPMReader.malformed` if it is shorter than a header.
    package static func code(ofResponse response: [UInt8]) throws(Failure) -> TPMResponseCode {
        var reader = TPMReader(response)
        _ = try reader.bytes(6)
        return TPMResponseCode(try reader.uint32())
    }
}

package struct TPMResponse: Sendable {
    package let code: TPMResponseCode
    /// The first handle, for a command that returns one.
    package let handle: TPMHandle?
    package let parameters: [UInt8]
    package let authorizations: [TPMAuthorization]

    /// Decodes a response. Throws `TPMReader.malformed` unless all bytes follow the specification.
    ///
    /// - Parameters:
    ///   - command: the command that it answers.
    ///   - authorizations: the authorizations of that command.
    package init(
        decoding bytes: [UInt8], to command: TPMCommand, _ authorizations: [TPMAuthorization]
    ) throws(Failure) {
        guard try TPMFrame.size(ofResponseWith: bytes) == bytes.count else { throw TPMReader.malformed }
        var reader = TPMReader(bytes)
        let tag = try reader.uint16()
        _ = try reader.uint32()
        code = TPMResponseCode(try reader.uint32())
        guard code == .success else {
            // A refusal has no contents; one with contents is as good as no response.
            try reader.checkEnd()
            (handle, parameters, self.authorizations) = (nil, [], [])
            return
        }
        guard tag == (authorizations.isEmpty ? 0x8001 : 0x8002) else { throw TPMReader.malformed }
        handle = command.returnsHandle ? TPMHandle(try reader.uint32()) : nil
        guard !authorizations.isEmpty else {
            parameters = try reader.bytes(bytes.count - TPMFrame.headerBytes - (handle == nil ? 0 : 4))
            self.authorizations = []
            return
        }
        parameters = try reader.bytes(Int(try reader.uint32()))
        var answers: [TPMAuthorization] = []
        for authorization in authorizations {
            answers.append(
                TPMAuthorization(
                    session: authorization.session, nonce: try reader.sized(limit: 64),
                    attributes: TPMSessionAttributes(rawValue: try reader.uint8()),
                    code: try reader.sized(limit: 64)))
        }
        try reader.checkEnd()
        self.authorizations = answers
    }
}
