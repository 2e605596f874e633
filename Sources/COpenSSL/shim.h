/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LATCHKEY_OPENSSL_SHIM_H
#define LATCHKEY_OPENSSL_SHIM_H

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
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
/* OPENSSL_free is a macro, too. */
static inline void latchkey_openssl_free(void *memory) { OPENSSL_free(memory); }
#endif
