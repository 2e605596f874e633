// SPDX-License-Identifier: Apache-2.0

internal import CServerHTTP
internal import Glibc

/// The headers of a request, in the order in which they were received. libmicrohttpd accepts headers that another server
/// in front may understand differently; such a request is refused (RFC 9112, section 11.2).
struct RequestHeaders {
    private var fields: [(name: String, value: String)] = []
    /// Whether the headers have one meaning only.
    private(set) var isClear = true
    /// Headers that a request has once at most.
    private static let single: Set<String> = ["host", "content-length", "content-type", "authorization"]

    init(_ connection: OpaquePointer) {
        withUnsafeMutablePointer(to: &self) { pointer in
            _ = MHD_get_connection_values_n(
                connection, .HEADER_KIND,
                { headers, _, name, nameCount, value, valueCount in
                    guard let headers, let name else { return .YES }
                    let bytes = { (start: UnsafePointer<CChar>?, count: Int) in
                        Array(UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : count))
                    }
                    headers.assumingMemoryBound(to: RequestHeaders.self).pointee
                        .add(bytes(name, nameCount), bytes(value, valueCount))
                    return .YES
                }, pointer)
        }
        for name in Self.single where values(name).count > 1 { isClear = false }
    }

    private mutating func add(_ name: [UInt8], _ value: [UInt8]) {
        // A name is a token (RFC 9110, section 5.6.2), and a value has no control characters but tabs.
        let isToken = !name.isEmpty && name.allSatisfy { Self.tokenBytes.contains($0) }
        if !isToken || value.contains(where: { $0 < 0x20 && $0 != 0x09 || $0 == 0x7f }) { isClear = false }
        fields.append((String(decoding: name, as: UTF8.self).lowercased(), String(decoding: value, as: UTF8.self)))
    }

    private static let tokenBytes = Set(
        "!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz".utf8)

    /// The values of all headers of a name in lower case.
    func values(_ name: String) -> [String] { fields.filter { $0.name == name }.map(\.value) }

    /// The value of a header that appears once at most; nil if it does not.
    subscript(_ name: String) -> String? { values(name).first }
}
