/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LATCHKEY_BENCH_SQLITE_H
#define LATCHKEY_BENCH_SQLITE_H

#include <sqlite3.h>

#endif
