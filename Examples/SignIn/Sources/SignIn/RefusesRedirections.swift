// SPDX-License-Identifier: Apache-2.0

import Foundation
import FoundationNetworking

/// A delegate of a `URLSession` for requests with a token. FoundationNetworking would send the token to wherever a
/// redirection leads. It has to be the delegate of the session: that of `data(for:delegate:)` is not asked.
final class RefusesRedirections: NSObject, URLSessionTaskDelegate {
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) { completionHandler(nil) }
}
