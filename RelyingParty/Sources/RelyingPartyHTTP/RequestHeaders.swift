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
    static let single = [
        "host", "content-length", "content-type", "authorization", "cookie", "origin", "sec-fetch-site",
        BrowserHeaders.markerName,
    ]

    init(_ connection: OpaquePointer) {
        withUnsafeMutablePointer(to: &self) { pointer in
            _ = MHD_get_connection_values_n(
                connection, .HEADER_KIND,
                { headers, _, name, nameCount, value, valueCount in
                    guard let headers, let name else { return .YES }
                    headers.assumingMemoryBound(to: RequestHeaders.self).pointee.add(
                        UnsafeRawBufferPointer(start: name, count: nameCount),
                        UnsafeRawBufferPointer(start: value, count: value == nil ? 0 : valueCount))
                    return .YES
                }, pointer)
        }
        checkSingle()
    }

    /// The same of headers that libmicrohttpd did not read.
    init(_ fields: [(name: [UInt8], value: [UInt8])]) {
        for (name, value) in fields {
            name.withUnsafeBytes { name in value.withUnsafeBytes { add(name, $0) } }
        }
        checkSingle()
    }

    private mutating func checkSingle() {
        for name in Self.single where fields.lazy.filter({ $0.name == name }).count > 1 { isClear = false }
    }

    private mutating func add(_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
        // A name is a token (RFC 9110, section 5.6.2), and a value has no control characters but tabs.
        if name.isEmpty || !name.allSatisfy({ Self.isToken[Int($0)] }) { isClear = false }
        if value.contains(where: { $0 < 0x20 && $0 != 0x09 || $0 == 0x7f }) { isClear = false }
        // The names that are looked for are ASCII.
        let lower = name.map { $0 >= 0x41 && $0 <= 0x5a ? $0 | 0x20 : $0 }
        fields.append((String(decoding: lower, as: UTF8.self), String(decoding: value, as: UTF8.self)))
    }

    /// By byte: whether a token may contain it.
    private static let isToken: [Bool] = {
        let bytes = Set("!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz".utf8)
        return (0...255).map(bytes.contains)
    }()

    /// The values of all headers of a name in lower case.
    func values(_ name: String) -> [String] { fields.filter { $0.name == name }.map(\.value) }

    /// The value of a header that appears once at most; nil if it does not.
    subscript(_ name: String) -> String? { fields.first { $0.name == name }?.value }
}
