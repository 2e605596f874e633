// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyModel
import LatchkeySystem
import TPMProtocol
import TestSupport
import Testing

/// A minimal way of sending commands to a software TPM.
final class RawTPM {
    private let tpm: SoftwareTPM
    private let connection: Descriptor

    init() throws {
        tpm = try SoftwareTPM()
        connection = try Sockets.connect(tpm.path)
    }

    /// A session with which a command is sent.
    struct Use {
        var session: TPMHandle
        var nonce: [UInt8] = []
        var attributes: UInt8 = 1
        var code: [UInt8] = []

        /// The empty password.
        static let emptyPassword = Use(session: .password)
    }

    /// A successful response.
    struct Response {
        var handle: TPMHandle?
        var parameters: [UInt8]
        /// The nonce, the attributes and the code of the first session; empty without sessions.
        var nonce: [UInt8] = []
        var attributes: UInt8 = 0
        var code: [UInt8] = []
    }

    /// A response with a code that is not success.
    struct Refusal: Error, Equatable { var code: TPMResponseCode }

    /// Sends a command and returns the response; throws `Refusal` for a code that is not success.
    func send(
        _ command: TPMCommand, handles: [TPMHandle] = [], _ parameters: [UInt8] = [], _ uses: [Use] = [],
        returnsHandle: Bool = false
    ) throws -> Response {
        try send(
            number: command.rawValue, handles: handles, parameters, uses, returnsHandle: returnsHandle)
    }

    /// The same for the number of any command.
    func send(
        number: UInt32, handles: [TPMHandle], _ parameters: [UInt8], _ uses: [Use], returnsHandle: Bool = false
    ) throws -> Response {
        var body = TPMWriter()
        for handle in handles { body.add(handle) }
        if !uses.isEmpty {
            var area = TPMWriter()
            for use in uses {
                area.add(use.session)
                try area.add(sized: use.nonce)
                area.add(use.attributes)
                try area.add(sized: use.code)
            }
            body.add(UInt32(area.bytes.count))
            body.add(area.bytes)
        }
        body.add(parameters)
        var frame = TPMWriter()
        frame.add(UInt16(uses.isEmpty ? 0x8001 : 0x8002))
        frame.add(UInt32(10 + body.bytes.count))
        frame.add(number)
        frame.add(body.bytes)
        try frame.bytes.withUnsafeBytes { try connection.write(all: $0) }
        return try response(hasSessions: !uses.isEmpty, returnsHandle: returnsHandle)
    }

    private func response(hasSessions: Bool, returnsHandle: Bool) throws -> Response {
        var header = TPMReader(try read(10))
        _ = try header.uint16()
        let count = Int(try header.uint32())
        let code = TPMResponseCode(try header.uint32())
        try #require(count >= 10 && count <= 4096)
        var reader = TPMReader(try read(count - 10))
        guard code == .success else { throw Refusal(code: code) }
        var response = Response(parameters: [])
        if returnsHandle { response.handle = TPMHandle(try reader.uint32()) }
        response.parameters = try reader.bytes(
            hasSessions ? Int(try reader.uint32()) : count - 10 - (returnsHandle ? 4 : 0))
        if hasSessions {
            response.nonce = try reader.sized(limit: 64)
            response.attributes = try reader.uint8()
            response.code = try reader.sized(limit: 64)
        }
        return response
    }

    private func read(_ count: Int) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var end = 0
        while end < count {
            let step = try bytes.withUnsafeMutableBytes {
                try connection.read(into: UnsafeMutableRawBufferPointer(rebasing: $0[end...]))
            }
            try #require(step > 0, "swtpm ended")
            end += step
        }
        return bytes
    }
}
