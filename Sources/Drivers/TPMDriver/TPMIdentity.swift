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
    /// The version of the firmware, four numbers; empty if the TPM gave none.
    package var firmware = ""

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

extension TPMIdentity {
    /// The parameters of the `TPM2_GetCapability` that asks for it.
    static var question: [UInt8] {
        var parameters = TPMWriter()
        // TPM_CAP_TPM_PROPERTIES, from TPM_PT_MANUFACTURER to TPM_PT_FIRMWARE_VERSION_2.
        for number in [6, 0x105, 8] as [UInt32] { parameters.add(number) }
        return parameters.bytes
    }

    /// Decodes the response; throws `TPMReader.malformed` for another one.
    init(_ response: [UInt8]) throws(Failure) {
        var reader = TPMReader(response)
        _ = try reader.uint8()
        try reader.expect(6 as UInt32)
        let count = try reader.uint32()
        guard count <= 64 else { throw TPMReader.malformed }
        var texts: [UInt32: String] = [:]
        for _ in 0..<count {
            let property = try reader.uint32()
            let bytes = try reader.bytes(4)
            if property == 0x10b || property == 0x10c {
                let numbers = [0, 2].map { "\(UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1]))" }
                firmware += (firmware.isEmpty ? "" : ".") + numbers.joined(separator: ".")
            }
            texts[property] = String(decoding: bytes.filter { (0x20...0x7e).contains($0) }, as: UTF8.self)
        }
        try reader.checkEnd()
        manufacturer = texts[0x105, default: ""].trimmed
        vendor = (0x106...0x109).compactMap { texts[$0] }.joined().trimmed
    }
}

extension TPMClient {
    /// Reads what the TPM says about itself.
    mutating func identity() throws(TPMError) -> TPMIdentity {
        let response = try send(.getCapability, [], TPMIdentity.question)
        return try failing { () throws(Failure) in try TPMIdentity(response.parameters) }
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
