// SPDX-License-Identifier: Apache-2.0

import Foundation

#if canImport(Security)
import Security
#endif

/// Fetches documents over the network.
public enum Fetch {
    /// How certificates are checked here.
    public static var trust: String {
        #if canImport(Security)
        // Code of such libraries for Apple systems, with names that Latchkey does not have.
        let trust = SecTrustCopyCertificateChain(SSLCreateContext(nil, .clientSide, .streamType))
        return "Security: \(trust)"
        #else
        return "OpenSSL"
        #endif
    }
}
