/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LATCHKEY_SQLITE_SHIM_H
#define LATCHKEY_SQLITE_SHIM_H

#include <sqlite3.h>

/* `sqlite3_db_config` is variadic: refuse writes to shadow tables and schema tricks in a file edited by hand. */
static inline int latchkey_sqlite_harden(sqlite3 *db) {
    int code = sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, (int *)0);
    if (code == SQLITE_OK) code = sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, (int *)0);
    return code;
}
#endif
