// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The program that makes software TPMs, with an own certificate authority.
package final class SwtpmMaker: Sendable {
    private let folder: TemporaryFolder
    private let program: OtherProgram

    /// Creates the certificate authority, which makes its keys with the first TPM.
    package init() throws {
        (folder, program) = (try TemporaryFolder(), try OtherProgram())
        try program.write(
            "localca.conf",
            """
            statedir = \(folder.path)
            signingkey = \(folder.path)/signkey.pem
            issuercert = \(folder.path)/issuercert.pem
            certserial = \(folder.path)/certserial

            """)
        try program.write(
            "localca.options", "--platform-manufacturer Test\n--platform-version 1\n--platform-model test\n")
    }

    /// Makes the state of a TPM with an RSA endorsement key and its certificate.
    package func makeState(in state: String) throws {
        let here = String(decoding: try program.run("pwd"), as: UTF8.self)
            .trimmingCharacters(in: .whitespacesAndNewlines)
        try program.write(
            "setup.conf",
            """
            create_certs_tool = /usr/bin/swtpm_localca
            create_certs_tool_config = \(here)/localca.conf
            create_certs_tool_options = \(here)/localca.options
            active_pcr_banks = sha256

            """)
        try program.run(
            "swtpm_setup", "--tpm2", "--tpmstate", state, "--config", "\(here)/setup.conf", "--create-ek-cert",
            "--overwrite")
    }

    /// The file of the certificate with which the authority certifies endorsement keys, in PEM.
    package var issuerFile: String { folder.path + "/issuercert.pem" }

    /// The certificates of the authority in DER: the root, and the issuer below it.
    package func certificates() throws -> (root: [UInt8], issuer: [UInt8]) {
        let der = try ["swtpm-localca-rootca-cert", "issuercert"].map {
            Array(try program.run("openssl", "x509", "-in", "\(folder.path)/\($0).pem", "-outform", "der"))
        }
        return (der[0], der[1])
    }
}
