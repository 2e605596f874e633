/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LATCHKEY_OPENSSL_SHIM_H
#define LATCHKEY_OPENSSL_SHIM_H

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/kdf.h>
#include <openssl/obj_mac.h>
#include <openssl/param_build.h>
#include <openssl/params.h>
#include <openssl/pkcs12.h>
#include <openssl/provider.h>
#include <openssl/rand.h>
#include <openssl/rsa.h>
#include <openssl/sha.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

/* Macros defined by other macros, which Swift does not import. */
static inline int latchkey_pkey_public_key(void) { return EVP_PKEY_PUBLIC_KEY; }
static inline int latchkey_pkey_keypair(void) { return EVP_PKEY_KEYPAIR; }

/* The functions of typed stacks are macros, which Swift cannot call. */
static inline int latchkey_general_name_count(const GENERAL_NAMES *names) { return sk_GENERAL_NAME_num(names); }
static inline const GENERAL_NAME *latchkey_general_name_at(const GENERAL_NAMES *names, int index) {
    return sk_GENERAL_NAME_value(names, index);
}
static inline int latchkey_pkcs7_count(const STACK_OF(PKCS7) *parts) { return sk_PKCS7_num(parts); }
static inline PKCS7 *latchkey_pkcs7_at(const STACK_OF(PKCS7) *parts, int index) { return sk_PKCS7_value(parts, index); }
static inline void latchkey_pkcs7_free(STACK_OF(PKCS7) *parts) { sk_PKCS7_pop_free(parts, PKCS7_free); }
static inline int latchkey_safe_bag_count(const STACK_OF(PKCS12_SAFEBAG) *bags) { return sk_PKCS12_SAFEBAG_num(bags); }
static inline PKCS12_SAFEBAG *latchkey_safe_bag_at(const STACK_OF(PKCS12_SAFEBAG) *bags, int index) {
    return sk_PKCS12_SAFEBAG_value(bags, index);
}
static inline void latchkey_safe_bag_free(STACK_OF(PKCS12_SAFEBAG) *bags) {
    sk_PKCS12_SAFEBAG_pop_free(bags, PKCS12_SAFEBAG_free);
}
/* Signs or agrees with a private scalar for one call. EVP_PKEY_fromdata creates the curve anew for each key, which costs most of
   a signature (12 us and 17 us); EC_KEY copies a group that exists. Its functions are deprecated since OpenSSL 3.0 and still part
   of it, so they are called in this place only. EC_KEY_free overwrites the scalar. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
static inline EC_KEY *latchkey_ec_key(const EC_GROUP *group, const BIGNUM *scalar) {
    EC_KEY *key = EC_KEY_new();
    if (key && EC_KEY_set_group(key, group) == 1 && EC_KEY_set_private_key(key, scalar) == 1) return key;
    EC_KEY_free(key);
    return NULL;
}
/* NULL on failure; the caller frees the signature with ECDSA_SIG_free. */
static inline ECDSA_SIG *latchkey_ecdsa_sign(
    const EC_GROUP *group, const BIGNUM *scalar, const unsigned char *digest, int count) {
    EC_KEY *key = latchkey_ec_key(group, scalar);
    ECDSA_SIG *signature = key ? ECDSA_do_sign(digest, count, key) : NULL;
    EC_KEY_free(key);
    return signature;
}
/* The number of bytes written to `secret`; at most 0 on failure. */
static inline int latchkey_ecdh(
    const EC_GROUP *group, const BIGNUM *scalar, const EC_POINT *point, void *secret, size_t count) {
    EC_KEY *key = latchkey_ec_key(group, scalar);
    int written = key ? ECDH_compute_key(secret, count, point, key, NULL) : 0;
    EC_KEY_free(key);
    return written;
}
/* Writes an RSA key as PKCS#1 RSAPrivateKey into `memory`, or only returns its length if that is NULL; at most 0 on failure.
   i2d_PrivateKey writes it into memory of libcrypto first, which is freed without being overwritten. The copy of the numbers that
   EVP_PKEY_get0_RSA makes is overwritten together with the key's own. */
static inline int latchkey_rsa_private_key(EVP_PKEY *key, unsigned char *memory) {
    const RSA *rsa = EVP_PKEY_get0_RSA(key);
    return rsa ? i2d_RSAPrivateKey(rsa, memory ? &memory : NULL) : 0;
}
#pragma GCC diagnostic pop
/* OPENSSL_free is a macro, too. */
static inline void latchkey_openssl_free(void *memory) { OPENSSL_free(memory); }
#endif
