// SPDX-License-Identifier: Apache-2.0

package import RelyingPartyHTTP

/// One method of one path, and what answers it.
package struct Route<Owner: Sendable>: Sendable {
    /// Answers a request; throws `RelyingPartyError`. The network of the client is nil if it is not known.
    package typealias Answer = @Sendable (Owner, HTTPRequest, _ network: [UInt8]?) throws -> HTTPResponse

    /// What a body has to be.
    package enum Body: Sendable {
        case none, json, form

        /// The media type without parameters, which have no meaning (RFC 8259, section 11).
        var mediaType: String? {
            switch self {
            case .none: nil
            case .json: "application/json"
            case .form: "application/x-www-form-urlencoded"
            }
        }
    }

    let method: String
    let path: String
    let body: Body
    /// Whether the answer may wait for the database.
    let mayWait: Bool
    package let answer: Answer

    package init(
        _ method: String, _ path: String, body: Body = .none, mayWait: Bool = true, _ answer: @escaping Answer
    ) {
        (self.method, self.path, self.body) = (method, path, body)
        (self.mayWait, self.answer) = (mayWait, answer)
    }

    /// The response to a request whose header `Content-Type` is not that of the body; nil for any other.
    package func refusal(of request: HTTPRequest) -> HTTPResponse? {
        guard let mediaType = body.mediaType else { return nil }
        let name = request.contentType?.prefix { $0 != ";" && $0 != " " && $0 != "\t" }
        return name?.lowercased() == mediaType ? nil : Problem.response(415)
    }
}

/// The paths of an owner, each with its methods: everything else about paths and methods is asked of it.
package struct Routes<Owner: Sendable>: Sendable {
    private let byPath: [String: [Route<Owner>]]

    package init(_ routes: [Route<Owner>]) { byPath = Dictionary(grouping: routes, by: \.path) }

    /// The paths, for metrics and tests.
    package var paths: Set<String> { Set(byPath.keys) }

    /// The methods of a path, for tests.
    package func methods(of path: String) -> [String] { byPath[path]?.map(\.method) ?? [] }

    /// The route of a request, or the response to one that has none.
    package func find(_ request: HTTPRequest) -> Result<Route<Owner>, Refusal> {
        guard let routes = byPath[request.path] else { return .failure(Refusal(Problem.response(404))) }
        guard let route = routes.first(where: { $0.method == request.method }) else {
            let allowed = routes.map(\.method).joined(separator: ", ")
            return .failure(Refusal(Problem.response(405, headers: [("Allow", allowed)])))
        }
        return .success(route)
    }

    /// Whether the answer to a request may wait for the database.
    package func mayWait(_ request: HTTPRequest) -> Bool {
        byPath[request.path]?.contains { $0.method == request.method && $0.mayWait } ?? false
    }

    /// The response to a request that no route answers.
    package struct Refusal: Error, Sendable {
        package let response: HTTPResponse

        init(_ response: HTTPResponse) { self.response = response }
    }
}
