// SPDX-License-Identifier: Apache-2.0

internal import RelyingPartyCrypto
internal import RelyingPartyHTTP

/// Headers that tell a browser how little the page needs.
enum Headers {
    /// Nothing from other origins, no script in the text of the page, no style but one, no frame around it, and no text that
    /// becomes markup (Content Security Policy Level 3; Trusted Types).
    private static func pagePolicy(style: String) -> String {
        // A digest that cannot be computed permits no style, and the page is shown without any.
        let digest = (try? LibCrypto.sha256(Array(style.utf8))).map { "'sha256-\(StrictBase64.standard.encode($0))'" }
        return [
            "default-src 'none'", "script-src 'self'", "style-src \(digest ?? "'none'")", "connect-src 'self'",
            "img-src 'self'", "form-action 'none'", "base-uri 'none'", "frame-ancestors 'none'",
            "require-trusted-types-for 'script'", "trusted-types 'none'",
        ].joined(separator: "; ")
    }

    private static let features = [
        "accelerometer", "camera", "display-capture", "geolocation", "gyroscope", "magnetometer", "microphone", "midi",
        "payment", "screen-wake-lock", "serial", "usb", "xr-spatial-tracking",
    ].map { "\($0)=()" }

    private static let common = [
        ("Referrer-Policy", "no-referrer"), ("Cross-Origin-Opener-Policy", "same-origin"),
        ("Cross-Origin-Resource-Policy", "same-origin"), ("Cross-Origin-Embedder-Policy", "require-corp"),
        ("X-Frame-Options", "DENY"),
    ]

    /// - Parameter style: the text of the only style sheet, which is part of the page.
    static func forPage(style: String) -> [(name: String, value: String)] {
        [
            ("Content-Security-Policy", pagePolicy(style: style)),
            (
                "Permissions-Policy",
                (features + ["publickey-credentials-create=(self)", "publickey-credentials-get=(self)"])
                    .joined(separator: ", ")
            ),
        ] + common
    }

    /// A reply that is opened as a page shows nothing and runs nothing.
    static func forData(_ response: HTTPResponse) -> HTTPResponse {
        var reply = HTTPResponse(
            response.status, response.contentType, response.body, reason: response.reason,
            headers: response.headers + [("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")]
                + common)
        reply.key = response.key
        return reply
    }
}
