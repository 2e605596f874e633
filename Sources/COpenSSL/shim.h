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
#include <openssl/rand.h>
#include <openssl/rsa.h>
#include <openssl/sha.h>

/* Macros over other macros, which Swift does not import. */
static inline int latchkey_pkey_public_key(void) { return EVP_PKEY_PUBLIC_KEY; }
static inline int latchkey_pkey_keypair(void) { return EVP_PKEY_KEYPAIR; }
#endif
