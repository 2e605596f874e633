// SPDX-License-Identifier: Apache-2.0

import Glibc
package import LatchkeyModel
package import LatchkeySeams
import TPMProtocol

/// A TPM whose commands another process passes on.
package struct CarriedTPM: TPMConnecting {
    private let carrier: any CommandCarrier

    /// Creates a place; sends nothing.
    package init(_ carrier: any CommandCarrier) { self.carrier = carrier }

    /// The connection is that of the other process, and not opened here.
    package func connect() throws(Failure) -> any TPMTransport { Transport(carrier: carrier) }

    private struct Transport: TPMTransport {
        let carrier: any CommandCarrier

        /// The other process removes what remains in the TPM.
        var isExclusive: Bool { false }

        func exchange(_ command: [UInt8]) throws(Failure) -> [UInt8] { try carrier.carry(command) }

        func pause(milliseconds: Int) { _ = poll(nil, 0, CInt(clamping: milliseconds)) }
    }
}

extension TPMChip: CommandCarrier {
    package func carry(_ command: [UInt8]) throws(Failure) -> [UInt8] {
        // The header has the size at its third byte. A device would wait for the rest of a command that is too short.
        guard (TPMFrame.headerBytes...TPMFrame.responseLimit).contains(command.count),
            command[2..<6].reduce(0, { $0 << 8 | Int($1) }) == command.count
        else { throw Failure(.malformedRequest, "A carried command does not have the size that it states.") }
        return try use { (memory, client) throws(TPMError) in
            // A use that is begun needs its key and its session right after this command, which most often proves the
            // passcode to it. Otherwise nothing is needed soon, and a resource manager would load and save it with each of
            // the commands that follow.
            if !client.hasBegunUses { memory.releaseAll(&client) }
            let session = command.policySession
            if let session { try client.loadSession(session) }
            return try client.carry(command, naming: session)
        }
    }

    package func endCarrying() {
        // If the connection cannot be used, nothing remains in it.
        try? use { (_, client) throws(TPMError) in client.endCarrying() }
    }
}

extension [UInt8] {
    /// The session to which a command proves a passcode (`TPM2_PolicySecret`, whose second handle it is); nil for any
    /// other command.
    fileprivate var policySession: TPMHandle? {
        func number(at position: Int) -> UInt32 { self[position..<position + 4].reduce(0) { $0 << 8 | UInt32($1) } }
        guard count >= TPMFrame.headerBytes + 8, number(at: 6) == TPMCommand.policySecret.rawValue else { return nil }
        return TPMHandle(number(at: TPMFrame.headerBytes + 4))
    }
}
