/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LATCHKEY_SERVER_OPENSSL_SHIM_H
#define LATCHKEY_SERVER_OPENSSL_SHIM_H

#include <openssl/bio.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/sha.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#endif
