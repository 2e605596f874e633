// SPDX-License-Identifier: Apache-2.0

internal import RelyingParty
package import RelyingPartyHTTP
internal import RelyingPartyJSON

/// Responses that report a problem (RFC 9457). Every refused proof has the same one, so a reply does not say which
/// users and keys exist, or which check failed.
package enum Problem {
    /// The response to a refused proof, token, code or credential.
    static func response(refused reason: RefusalReason) -> HTTPResponse {
        switch reason {
        // The person or the service has proven who it is, so this tells nothing to a stranger.
        case .notAdministrator, .serviceRight: response(403, reason: reason.rawValue)
        // RFC 9110, section 15.5.2, and RFC 7617.
        case .unknownService:
            response(401, reason: reason.rawValue, headers: [("WWW-Authenticate", "Basic realm=\"services\"")])
        default: response(401, reason: reason.rawValue, headers: [("WWW-Authenticate", "Bearer")])
        }
    }

    /// The response of a server that can do nothing now.
    package static func unavailable(_ reason: String) -> HTTPResponse {
        response(503, reason: reason, headers: [("Retry-After", "1")])
    }

    package static func response(
        _ status: UInt32, reason: String = "", headers: [(name: String, value: String)] = []
    ) -> HTTPResponse {
        let title =
            switch status {
            case 400: "The request is malformed."
            case 401: "The proof was not accepted."
            case 403: "The request is not permitted."
            case 404: "There is no such resource."
            case 405: "The resource has no such method."
            case 411: "The length of the body is not stated."
            case 413: "The body is too long."
            case 415: "The body has another media type than the resource takes."
            case 414: "The address is too long."
            case 429: "There were too many refused proofs."
            case 431: "The headers are too long."
            case 505: "The version of HTTP is not supported."
            default: "The service is not available."
            }
        let body = JSONValue.object([
            ("type", .string("about:blank")), ("title", .string(title)), ("status", .integer(Int64(status))),
        ])
        return HTTPResponse(status, "application/problem+json", body.encoded, reason: reason, headers: headers)
    }
}
