/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LATCHKEY_SERVER_POSTGRESQL_SHIM_H
#define LATCHKEY_SERVER_POSTGRESQL_SHIM_H

#include <libpq-fe.h>
#include <string.h>

/* The last keyword wins, so these replace what the connection string says; `dbname` is expanded to all of its values. */
static inline PGconn *latchkey_server_pg_connect(const char *conninfo, const char *seconds) {
    const char *keywords[] = {"dbname", "client_encoding", "connect_timeout", "fallback_application_name", NULL};
    const char *values[] = {conninfo, "UTF8", seconds, "latchkey-server", NULL};
    return PQconnectdbParams(keywords, values, 1);
}

/* Begins to connect, and sends nothing: the first message is sent by PQconnectPoll. */
static inline PGconn *latchkey_server_pg_start(const char *conninfo, const char *seconds) {
    const char *keywords[] = {"dbname", "connect_timeout", NULL};
    const char *values[] = {conninfo, seconds, NULL};
    return PQconnectStartParams(keywords, values, 1);
}

/* The value of an option in a list of libpq, or NULL. */
static inline const char *latchkey_server_pg_option(const PQconninfoOption *options, const char *keyword) {
    for (; options && options->keyword; options++)
        if (strcmp(options->keyword, keyword) == 0) return options->val;
    return NULL;
}

/* What the server says besides results: counted, and never written to standard error, which is the log. */
static inline void latchkey_server_pg_noticed(void *count, const PGresult *notice) {
    const char *severity = PQresultErrorField(notice, PG_DIAG_SEVERITY_NONLOCALIZED);
    if (severity && strcmp(severity, "WARNING") == 0) ++*(int *)count;
}
static inline void latchkey_server_pg_count_warnings(PGconn *connection, int *count) {
    PQsetNoticeReceiver(connection, latchkey_server_pg_noticed, count);
}

#endif
