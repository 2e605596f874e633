// SPDX-License-Identifier: Apache-2.0

internal import RelyingPartyHTTP

/// The files of the page, which the program contains.
enum Page {
    /// The responses by their paths. They may not be stored, so that nothing of the page is there after signing out, and a new
    /// version of the server has no page of an old one.
    static let files: [String: HTTPResponse] = [
        "/admin": file("text/html; charset=utf-8", page),
        "/admin/icon.svg": file("image/svg+xml", text(PackageResources.icon_svg)),
        "/admin/admin.js": script(PackageResources.admin_js),
        "/admin/audit.js": script(PackageResources.audit_js),
        "/admin/bytes.js": script(PackageResources.bytes_js),
        "/admin/chain.js": script(PackageResources.chain_js),
        "/admin/dom.js": script(PackageResources.dom_js),
        "/admin/lists.js": script(PackageResources.lists_js),
        "/admin/passkey.js": script(PackageResources.passkey_js),
        "/admin/server.js": script(PackageResources.server_js),
        "/admin/sign-in.js": script(PackageResources.sign_in_js),
        "/admin/user.js": script(PackageResources.user_js),
    ]

    /// The style sheet is in the page, because the first paint would wait for another request otherwise.
    private static let style = text(PackageResources.admin_css)
    private static let headers = Headers.forPage(style: style)
    private static let page = text(PackageResources.index_html).replacing(
        #"<link rel="stylesheet" href="admin.css">"#, with: "<style>\(style)</style>")

    private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    private static func script(_ bytes: [UInt8]) -> HTTPResponse { file("text/javascript; charset=utf-8", text(bytes)) }

    private static func file(_ type: String, _ text: String) -> HTTPResponse {
        HTTPResponse(200, type, text, headers: headers)
    }
}
