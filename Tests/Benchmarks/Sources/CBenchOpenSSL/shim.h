/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LATCHKEY_BENCH_OPENSSL_H
#define LATCHKEY_BENCH_OPENSSL_H

#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/rsa.h>

#endif
