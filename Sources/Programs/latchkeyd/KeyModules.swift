// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams
import LatchkeySystem
import SoftwareEnclaveDriver
import TPMDriver

/// The implementations of the Secure Enclave that a configuration selects.
struct KeyModules: Sendable {
    /// Makes new keys; nil if none is configured.
    var module: (any KeyModule)?
    /// Uses keys that it made while it was configured.
    var earlier: [any KeyModule] = []

    var needsThread: Bool { ([module].compactMap(\.self) + earlier).contains { !$0.isImmediate } }

    /// - Parameters:
    ///   - chip: the TPM, connected when it is used first; needed for `tpm` only.
    ///   - allowsVirtual: whether keys may be made on a TPM that is a program.
    ///   - configuration: the file in which root can allow that.
    init(
        _ kind: EnclaveKind?, chip: TPMChip?, allowsVirtual: Bool, configuration: String = HardwareConfiguration.path,
        clock: any Clock, random: any RandomSource
    ) {
        let software = SoftwareEnclave(clock: clock, random: random)
        switch (kind, chip) {
        case (.software?, _): module = software
        case (.tpm?, let chip?):
            module = TPMEnclave(chip, clock: clock, allowsVirtual: allowsVirtual, configuration: configuration)
            earlier = [software]
        case (.tpm?, nil), (nil, _): module = nil
        }
    }
}
