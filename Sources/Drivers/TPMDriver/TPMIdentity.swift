// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
import TPMProtocol

/// What a TPM says about itself (Part 2, section 6.13). It is not authenticated: a relying party verifies the certificate
/// of the endorsement key instead.
package struct TPMIdentity: Equatable, Sendable {
    /// The manufacturer's code of the TCG, such as `INTC`, without trailing spaces.
    package var manufacturer: String
    /// The manufacturer's text, such as `SW   TPM`.
    package var vendor: String

    /// Whether the TPM is a program: swtpm and the simulator of the TCG's code, or the one of a hypervisor.
    package var isVirtual: Bool {
        ["MSFT", "VMW", "GOOG", "AMZN", "XCG"].contains(manufacturer)
            || manufacturer == "IBM" && vendor.contains("SW")
    }

    /// - Parameter configuration: the file in which root can allow a TPM that is a program.
    func checkHardware(_ configuration: String) throws(TPMError) {
        guard isVirtual else { return }
        throw .failed(
            Failure(
                .enclaveUnavailable,
                "The TPM is a program (\(manufacturer) \(vendor)), so its keys could be copied.",
                hint: "To use it all the same, root adds a line to \(configuration): allow-virtual-hardware = yes"))
    }
}

extension TPMClient {
    /// Reads manufacturer and vendor.
    mutating func identity() throws(TPMError) -> TPMIdentity {
        var parameters = TPMWriter()
        // TPM_CAP_TPM_PROPERTIES, from TPM_PT_MANUFACTURER to TPM_PT_VENDOR_STRING_4.
        for number in [6, 0x105, 5] as [UInt32] { parameters.add(number) }
        let response = try send(.getCapability, [], parameters.bytes)
        return try failing { () throws(Failure) in
            var reader = TPMReader(response.parameters)
            _ = try reader.uint8()
            try reader.expect(6 as UInt32)
            let count = try reader.uint32()
            guard count <= 64 else { throw TPMReader.malformed }
            var texts: [UInt32: String] = [:]
            for _ in 0..<count {
                let property = try reader.uint32()
                let bytes = try reader.bytes(4).filter { (0x20...0x7e).contains($0) }
                texts[property] = String(decoding: bytes, as: UTF8.self)
            }
            try reader.checkEnd()
            let vendor = (0x106...0x109).compactMap { texts[$0] }.joined()
            return TPMIdentity(manufacturer: texts[0x105, default: ""].trimmed, vendor: vendor.trimmed)
        }
    }
}

extension TPMChip {
    /// Throws `enclaveUnavailable` if the TPM is a program. Blocks.
    ///
    /// - Parameter configuration: the file in which root can allow that; the failure names it.
    package func checkHardware(_ configuration: String) throws(Failure) {
        try use { (_, client) throws(TPMError) in try client.identity().checkHardware(configuration) }
    }
}

extension String {
    fileprivate var trimmed: String {
        var text = self[...]
        while text.first == " " { text.removeFirst() }
        while text.last == " " { text.removeLast() }
        return String(text)
    }
}
