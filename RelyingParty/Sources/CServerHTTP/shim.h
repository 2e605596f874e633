/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LATCHKEY_SERVER_HTTP_SHIM_H
#define LATCHKEY_SERVER_HTTP_SHIM_H

#include <microhttpd.h>
#include <stdint.h>
#include <string.h>

/* Paths have no escapes: a decoded zero would end the text before its end. */
static inline size_t latchkey_server_keep(void *context, struct MHD_Connection *connection, char *text) {
    (void)context;
    (void)connection;
    return strlen(text);
}

/* `MHD_start_daemon` is variadic, and the values of an option item are integers and pointers alike. */
static inline struct MHD_Daemon *latchkey_server_start(
    int listening, unsigned threads, unsigned connections, unsigned seconds, unsigned memory,
    MHD_AccessHandlerCallback handler, MHD_RequestCompletedCallback completed,
    MHD_NotifyConnectionCallback connection, void *context) {
    struct MHD_OptionItem options[] = {
        {MHD_OPTION_LISTEN_SOCKET, listening, NULL},
        {threads > 1 ? MHD_OPTION_THREAD_POOL_SIZE : MHD_OPTION_STRICT_FOR_CLIENT, threads > 1 ? threads : 1, NULL},
        {MHD_OPTION_CONNECTION_LIMIT, connections, NULL},
        {MHD_OPTION_CONNECTION_TIMEOUT, seconds, NULL},
        {MHD_OPTION_CONNECTION_MEMORY_LIMIT, memory, NULL},
        {MHD_OPTION_STRICT_FOR_CLIENT, 1, NULL},
        {MHD_OPTION_UNESCAPE_CALLBACK, (intptr_t)latchkey_server_keep, NULL},
        {MHD_OPTION_NOTIFY_COMPLETED, (intptr_t)completed, context},
        {MHD_OPTION_NOTIFY_CONNECTION, (intptr_t)connection, context},
        {MHD_OPTION_END, 0, NULL},
    };
    return MHD_start_daemon(
        MHD_USE_EPOLL_INTERNAL_THREAD, 0, NULL, NULL, handler, context, MHD_OPTION_ARRAY, options, MHD_OPTION_END);
}

/* The function that returns these is variadic, too. */
static inline int latchkey_server_socket(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info ? info->connect_fd : -1;
}
/* Swift shortens the names of this enumeration's cases differently from those of the others. */
static inline int latchkey_server_started(enum MHD_ConnectionNotificationCode code) {
    return code == MHD_CONNECTION_NOTIFY_STARTED;
}

#endif
