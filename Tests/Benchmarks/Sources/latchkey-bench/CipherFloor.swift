// SPDX-License-Identifier: Apache-2.0

internal import CBenchOpenSSL

/// Floor: decrypting 256 bytes with AES-256-GCM; algorithm and context are created once.
final class CipherFloor {
    private let cipher: OpaquePointer
    private let context: OpaquePointer
    private let key = [UInt8](repeating: 7, count: 32)
    private let nonce = [UInt8](repeating: 9, count: 12)
    private let plaintext = [UInt8](repeating: 0x5a, count: Item.secretBytes)
    private var ciphertext = [UInt8](repeating: 0, count: Item.secretBytes)
    private var tag = [UInt8](repeating: 0, count: 16)
    private var opened = [UInt8](repeating: 0, count: Item.secretBytes)

    init() throws(BenchFailure) {
        guard let cipher = EVP_CIPHER_fetch(nil, "AES-256-GCM", nil), let context = EVP_CIPHER_CTX_new() else {
            throw BenchFailure("libcrypto has no AES-256-GCM.")
        }
        self.cipher = cipher
        self.context = context
        var count: CInt = 0
        guard EVP_EncryptInit_ex2(context, cipher, key, nonce, nil) == 1,
            EVP_EncryptUpdate(context, &ciphertext, &count, plaintext, CInt(plaintext.count)) == 1,
            EVP_EncryptFinal_ex(context, &opened, &count) == 1,
            EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, 16, &tag) == 1
        else { throw BenchFailure("libcrypto could not encrypt.") }
    }

    deinit {
        EVP_CIPHER_CTX_free(context)
        EVP_CIPHER_free(cipher)
    }

    /// Decrypts the bytes once.
    func open(_ samples: inout Samples) throws(BenchFailure) {
        let isGenuine = samples.time { () -> Bool in
            var count: CInt = 0
            var rest: UInt8 = 0
            return EVP_DecryptInit_ex2(context, cipher, key, nonce, nil) == 1
                && EVP_DecryptUpdate(context, &opened, &count, ciphertext, CInt(ciphertext.count)) == 1
                && EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, 16, &tag) == 1
                && EVP_DecryptFinal_ex(context, &rest, &count) == 1
        }
        guard isGenuine, opened == plaintext else { throw BenchFailure("libcrypto could not decrypt.") }
    }
}
