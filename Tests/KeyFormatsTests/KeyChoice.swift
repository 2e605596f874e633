// SPDX-License-Identifier: Apache-2.0

/// The kinds of keys that the tests generate with `openssl`.
enum KeyChoice: CaseIterable {
    case rsa2048, rsa3072, p256, p384, p521

    /// The arguments of `openssl genpkey`, and of `ssh-keygen`.
    var openSSL: (algorithm: String, option: String) {
        switch self {
        case .rsa2048: ("RSA", "rsa_keygen_bits:2048")
        case .rsa3072: ("RSA", "rsa_keygen_bits:3072")
        case .p256: ("EC", "ec_paramgen_curve:P-256")
        case .p384: ("EC", "ec_paramgen_curve:P-384")
        case .p521: ("EC", "ec_paramgen_curve:P-521")
        }
    }

    var bitCount: Int {
        switch self {
        case .rsa2048: 2048
        case .rsa3072: 3072
        case .p256: 256
        case .p384: 384
        case .p521: 521
        }
    }
}
