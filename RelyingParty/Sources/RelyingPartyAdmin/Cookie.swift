// SPDX-License-Identifier: Apache-2.0

internal import RelyingPartyCrypto
internal import RelyingPartyHTTP

/// The cookie that has the token of a browser's session. Its name demands what the values say (RFC 6265bis, section 4.1.3):
/// no other host, no path and no connection without TLS can set it. It ends with the browser.
enum Cookie {
    private static let name = "__Host-latchkey"
    private static let attributes = "; Path=/; Secure; HttpOnly; SameSite=Strict"

    static func setting(_ token: [UInt8]) -> (name: String, value: String) {
        ("Set-Cookie", "\(name)=\(StrictBase64.url.encode(token))\(attributes)")
    }

    static let ending = (name: "Set-Cookie", value: "\(name)=\(attributes); Max-Age=0")

    /// The token of a request; nil for none, more than one, and one of another form.
    static func token(_ request: HTTPRequest) -> [UInt8]? {
        guard let text = request.browser.cookie(name), let token = StrictBase64.url.decode(text.utf8),
            token.count == 32
        else { return nil }
        return token
    }
}
