// SPDX-License-Identifier: Apache-2.0

/// A property that a fuzzer checks, by the name of its file and of its folder of inputs.
package enum FuzzProperty: String, CaseIterable, Sendable {
    case agent, backup, certificate, format, frame, `import`, key, pam, pkcs12, proof, query, sensor, service, ssh,
        store, tpm, words

    /// Reads one input and describes how it violates the property; nil when it does not. Every rejection is correct.
    package func complaint(about bytes: [UInt8]) -> String? {
        // The names of the file's own functions are the same.
        switch self {
        case .agent: FuzzProperties.complaint(aboutAgent: bytes)
        case .backup: FuzzProperties.complaint(aboutBackup: bytes)
        case .certificate: FuzzProperties.complaint(aboutCertificate: bytes)
        case .format: FuzzProperties.complaint(aboutFormat: bytes)
        case .frame: FuzzProperties.complaint(aboutFrame: bytes)
        case .import: FuzzedImport.complaint(about: bytes)
        case .key: FuzzProperties.complaint(aboutKey: bytes)
        case .pam: FuzzProperties.complaint(aboutPAM: bytes)
        case .pkcs12: FuzzProperties.complaint(aboutPKCS12: bytes)
        case .proof: FuzzProperties.complaint(aboutProof: bytes)
        case .query: FuzzProperties.complaint(aboutQuery: bytes)
        case .sensor: FuzzProperties.complaint(aboutSensor: bytes)
        case .service: FuzzProperties.complaint(aboutService: bytes)
        case .ssh: FuzzProperties.complaint(aboutSSH: bytes)
        case .store: FuzzedStore.complaint(aboutEdits: bytes)
        case .tpm: FuzzProperties.complaint(aboutTPM: bytes)
        case .words: FuzzProperties.complaint(aboutCatalogue: bytes)
        }
    }
}
