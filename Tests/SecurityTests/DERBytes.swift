// SPDX-License-Identifier: Apache-2.0

/// Encodes one DER element with its tag and length.
func der(_ tag: UInt8, _ contents: [UInt8]...) -> [UInt8] {
    let bytes = contents.flatMap(\.self)
    guard bytes.count >= 0x80 else { return [tag, UInt8(bytes.count)] + bytes }
    var length: [UInt8] = []
    var rest = bytes.count
    while rest > 0 {
        length.insert(UInt8(rest & 0xff), at: 0)
        rest >>= 8
    }
    return [tag, 0x80 | UInt8(length.count)] + length + bytes
}

/// An unencrypted PKCS#12 file with these safe bags and without a MAC.
func pkcs12(bags: [[UInt8]]) -> [UInt8] {
    let data: [UInt8] = [0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x07, 0x01]
    let contents = der(0x30, bags.flatMap(\.self))
    let part = der(0x30, data, der(0xa0, der(0x04, contents)))
    return der(0x30, [0x02, 0x01, 0x03], der(0x30, data, der(0xa0, der(0x04, der(0x30, part)))))
}

/// A safe bag of one of the six types of RFC 7292, section 4.2.
func safeBag(_ kind: UInt8, _ contents: [UInt8]) -> [UInt8] {
    der(0x30, [0x06, 0x0b, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x0c, 0x0a, 0x01, kind], der(0xa0, contents))
}

/// A safe bag with a certificate.
func certificateBag(_ certificate: [UInt8]) -> [UInt8] {
    let x509: [UInt8] = [0x06, 0x0a, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x09, 0x16, 0x01]
    return safeBag(3, der(0x30, x509, der(0xa0, der(0x04, certificate))))
}
