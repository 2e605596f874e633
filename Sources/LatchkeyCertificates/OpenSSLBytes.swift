// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// Copies data out of libcrypto's objects.
enum OpenSSLBytes {
    /// The output of one of libcrypto's `i2d` functions (DER); nil when it fails.
    static func encode(_ function: (UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?) -> Int32) -> [UInt8]? {
        let count = Int(function(nil))
        guard count > 0 else { return nil }
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, written in
            var position = buffer.baseAddress
            written = Int(function(&position)) == count ? count : 0
        }
        return bytes.count == count ? bytes : nil
    }

    /// The contents of an ASN.1 string.
    static func contents(_ string: UnsafePointer<ASN1_STRING>) -> [UInt8] {
        Array(UnsafeBufferPointer(start: ASN1_STRING_get0_data(string), count: Int(max(0, ASN1_STRING_length(string)))))
    }

    /// An ASN.1 string of any type converted to text; nil when it cannot be decoded.
    static func text(_ string: UnsafePointer<ASN1_STRING>?) -> String? {
        var bytes: UnsafeMutablePointer<UInt8>?
        let count = ASN1_STRING_to_UTF8(&bytes, string)
        guard count >= 0, let bytes else { return nil }
        defer { latchkey_openssl_free(bytes) }
        return String(validating: UnsafeBufferPointer(start: bytes, count: Int(count)), as: UTF8.self)
    }

    /// An object identifier in dotted form; empty when it is longer than 79 characters.
    static func identifier(_ object: OpaquePointer?) -> String {
        var text = [CChar](repeating: 0, count: 80)
        let count = Int(OBJ_obj2txt(&text, Int32(text.count), object, 1))
        guard count > 0, count < text.count else { return "" }
        return String(decoding: text[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
