// SPDX-License-Identifier: Apache-2.0

import Glibc
package import LatchkeyModel
package import LatchkeySeams
import TPMProtocol

/// A TPM whose commands another process passes on.
package struct CarriedTPM: TPMConnecting {
    private let carrier: any CommandCarrier
    private let purpose: CarriedPurpose

    /// Creates a place; sends nothing.
    package init(_ carrier: any CommandCarrier, for purpose: CarriedPurpose = .passcode) {
        (self.carrier, self.purpose) = (carrier, purpose)
    }

    /// The connection is that of the other process, and not opened here.
    package func connect() throws(Failure) -> any TPMTransport { Transport(carrier: carrier, purpose: purpose) }

    private struct Transport: TPMTransport {
        let carrier: any CommandCarrier
        let purpose: CarriedPurpose

        /// The other process removes what remains in the TPM.
        var isExclusive: Bool { false }

        func exchange(_ command: [UInt8]) throws(Failure) -> [UInt8] { try carrier.carry(command, for: purpose) }

        func pause(milliseconds: Int) { _ = poll(nil, 0, CInt(clamping: milliseconds)) }
    }
}

extension TPMChip: CommandCarrier {
    package func carry(_ command: [UInt8], for purpose: CarriedPurpose) throws(Failure) -> [UInt8] {
        // The header has the size at its third byte. A device would wait for the rest of a command that is too short.
        guard (TPMFrame.headerBytes...TPMFrame.responseLimit).contains(command.count),
            command[2..<6].reduce(0, { $0 << 8 | Int($1) }) == command.count
        else { throw Failure(.malformedRequest, "A carried command does not have the size that it states.") }
        return try useAll { (state) throws(TPMError) in
            switch purpose {
            case .proof: break
            // On a connection of its own, so that a resource manager does not load and save with each of these commands what
            // is there for keys. Without one all share the connection.
            case .passcode, .preparation:
                guard try state.client.isExclusive() else { return try state.passcodes.carry(command, naming: nil) }
                guard purpose == .passcode else { throw .failed(Self.cannotPrepare) }
                // A use that is begun or prepared needs its key and its session soon. Otherwise their places are free.
                if !state.client.hasBegunUses, !state.isPrepared { state.memory.releaseAll(&state.client) }
            }
            let session = command.policySession
            if let session { try state.client.loadSession(session) }
            return try state.client.carry(command, naming: session)
        }
    }

    private static let cannotPrepare = Failure(
        .vaultUnavailable, "Nothing is prepared in a TPM that has no resource manager.")

    package func endCarrying() {
        // If a connection cannot be used, nothing remains in it.
        try? useAll { (state) throws(TPMError) in
            state.passcodes.disconnect()
            state.client.endCarrying()
        }
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
