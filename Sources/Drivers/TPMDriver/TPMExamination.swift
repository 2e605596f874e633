// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
package import LatchkeySeams
import TPMProtocol

/// What a TPM says about itself, and how long it takes for ten commands that change nothing: the part of a report from which
/// a maintainer learns how patient people with such a chip have to be. Needs access to the device, and no password.
package struct TPMExamination: Sendable {
    /// A kind of command, and the times of its uses.
    package struct Timing: Equatable, Sendable {
        /// The name of the specification, such as `TPM2_GetRandom`.
        package let command: String
        /// Microseconds of each use, from the first byte sent to the last one received, in ascending order.
        package let microseconds: [Int64]
    }

    package let identity: TPMIdentity
    package let timings: [Timing]

    /// Examines a TPM. Blocks for ten commands.
    ///
    /// - Parameter now: nanoseconds of a clock that does not go back.
    /// - Throws: `enclaveUnavailable` if the device cannot be reached, does not answer, or refuses a command.
    package init(_ place: any TPMConnecting, random: any RandomSource, now: () -> Int64) throws(Failure) {
        let transport = try place.connect()
        var times: [String: [Int64]] = [:]
        func timed(
            _ name: String, _ command: TPMCommand, _ handles: [TPMHandle] = [], _ parameters: [UInt8]
        )
            throws(Failure) -> TPMResponse
        {
            let frame = try TPMFrame.encode(command, handles: handles, [], parameters: parameters)
            let begin = now()
            let response = try transport.exchange(frame)
            times[name, default: []].append((now() - begin) / 1000)
            let decoded = try TPMResponse(decoding: response, to: command, [])
            guard decoded.code == .success else { throw TPMError.refused(decoded.code, command).failure }
            return decoded
        }

        var identity: TPMIdentity?
        for _ in 0..<3 {
            identity = try TPMIdentity(timed("TPM2_GetCapability", .getCapability, [], TPMIdentity.question).parameters)
        }
        for _ in 0..<3 { _ = try timed("TPM2_GetRandom", .getRandom, [], [0, 32]) }
        for _ in 0..<2 { _ = try timed("TPM2_ReadClock", .readClock, [], []) }
        let session = try timed("TPM2_StartAuthSession", .startAuthSession, [.none, .none], Self.session(random))
        guard let identity, let handle = session.handle else { throw TPMReader.malformed }
        var flushed = TPMWriter()
        flushed.add(handle)
        _ = try timed("TPM2_FlushContext", .flushContext, [], flushed.bytes)

        self.identity = identity
        timings = times.sorted { $0.key < $1.key }.map { Timing(command: $0.key, microseconds: $0.value.sorted()) }
    }

    /// The parameters that begin a policy session without salt or binding (Part 3, section 11.1).
    private static func session(_ random: any RandomSource) throws(Failure) -> [UInt8] {
        var parameters = TPMWriter()
        try parameters.add(sized: random.bytes(16).copyBytes())
        try parameters.add(sized: [])
        // TPM_SE_POLICY, no symmetric algorithm, SHA-256.
        parameters.add([1])
        parameters.add(TPMAlgorithm.none)
        parameters.add(TPMAlgorithm.sha256)
        return parameters.bytes
    }
}
