// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// The proxy of the environment, which libcurl uses for the requests of each `URLSession`.
enum HTTPProxy {
    /// Whether a proxy gets requests by `http` for a host, and so reads them. One for `https` passes on what it cannot read.
    ///
    /// libcurl reads these variables (`man curl`, ENVIRONMENT; it ignores `HTTP_PROXY`). Its versions differ in how they read
    /// spaces and patterns in `no_proxy`, so an exception counts only when it is the host itself, or `*` for all hosts.
    ///
    /// - Parameters:
    ///   - host: in lower case; an address of IPv6 without brackets.
    ///   - environment: the variables.
    static func reads(requestsFor host: String, in environment: [String: String]) -> Bool {
        func value(_ names: String...) -> String? { names.compactMap { environment[$0] }.first { !$0.isEmpty } }
        guard value("http_proxy", "all_proxy", "ALL_PROXY") != nil else { return false }
        guard let exceptions = value("no_proxy", "NO_PROXY") else { return true }
        guard exceptions != "*" else { return false }
        let hosts = exceptions.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces).lowercased() }
        // Some versions stop reading at a space between two hosts.
        guard !hosts.contains(where: { $0.contains(where: \.isWhitespace) }) else { return true }
        return !hosts.contains(host)
    }
}
