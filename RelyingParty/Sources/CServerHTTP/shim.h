/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LATCHKEY_SERVER_HTTP_SHIM_H
#define LATCHKEY_SERVER_HTTP_SHIM_H

#include <arpa/inet.h>
#include <gnutls/abstract.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <microhttpd.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

/* Paths have no escapes: a decoded zero would end the text before its end. */
static inline size_t latchkey_server_keep(void *context, struct MHD_Connection *connection, char *text) {
    (void)context;
    (void)connection;
    return strlen(text);
}

/* Only TLS 1.3, and TLS 1.2 with forward secrecy and authenticated encryption (RFC 9325, section 4). */
#define LATCHKEY_SERVER_PRIORITY                                                                                     \
    "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:-KX-ALL:+ECDHE-ECDSA:+ECDHE-RSA:-CIPHER-ALL:+AES-256-GCM:"            \
    "+CHACHA20-POLY1305:+AES-128-GCM:-MAC-ALL:+AEAD:-GROUP-ALL:+GROUP-X25519:+GROUP-SECP256R1:+GROUP-SECP384R1:"       \
    "%SERVER_PRECEDENCE"

/* What is called for each request that libmicrohttpd refuses itself. It has no other hook for this than its messages for a
   log, which do not say whose request it is: the call is made on the thread that handles the connection, before the
   response is made. Swift cannot read a `va_list`. */
struct latchkey_server_observer {
    void (*refused)(void *context, unsigned status);
    void *context;
};
static inline void latchkey_server_logged(void *observer, const char *format, va_list arguments) {
    static const char start[] = "Error processing request (HTTP response code is %u";
    const struct latchkey_server_observer *known = (const struct latchkey_server_observer *)observer;
    if (strncmp(format, start, sizeof start - 1) == 0) known->refused(known->context, va_arg(arguments, unsigned));
}

/* Whether the headers of a request are complete and it has no response yet. While `refused` is called, that holds for the
   request whose complete headers libmicrohttpd refuses, and for no other one that was not given to the handler. */
static inline int latchkey_server_has_unchecked_headers(struct MHD_Connection *connection) {
    return MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE) != NULL &&
           MHD_get_connection_info(connection, MHD_CONNECTION_INFO_HTTP_STATUS) == NULL;
}

/* `MHD_start_daemon` is variadic, and the values of an option item are integers and pointers alike. Without a function
   for certificates there is no TLS. A connection may be suspended while another thread makes the answer. */
static inline struct MHD_Daemon *latchkey_server_start(
    int listening, unsigned threads, unsigned connections, unsigned seconds, unsigned memory,
    MHD_AcceptPolicyCallback accepts, MHD_AccessHandlerCallback handler, MHD_RequestCompletedCallback completed,
    MHD_NotifyConnectionCallback connection, void *(*began)(void *, const char *, struct MHD_Connection *),
    gnutls_certificate_retrieve_function2 *certificate, struct latchkey_server_observer *observer) {
    void *context = observer->context;
    struct MHD_OptionItem options[] = {
        {MHD_OPTION_EXTERNAL_LOGGER, (intptr_t)latchkey_server_logged, observer},
        {MHD_OPTION_LISTEN_SOCKET, listening, NULL},
        {threads > 1 ? MHD_OPTION_THREAD_POOL_SIZE : MHD_OPTION_STRICT_FOR_CLIENT, threads > 1 ? threads : 1, NULL},
        {MHD_OPTION_CONNECTION_LIMIT, connections, NULL},
        {MHD_OPTION_CONNECTION_TIMEOUT, seconds, NULL},
        {MHD_OPTION_CONNECTION_MEMORY_LIMIT, memory, NULL},
        {MHD_OPTION_STRICT_FOR_CLIENT, 1, NULL},
        {MHD_OPTION_UNESCAPE_CALLBACK, (intptr_t)latchkey_server_keep, NULL},
        {MHD_OPTION_URI_LOG_CALLBACK, (intptr_t)began, context},
        {MHD_OPTION_NOTIFY_COMPLETED, (intptr_t)completed, context},
        {MHD_OPTION_NOTIFY_CONNECTION, (intptr_t)connection, context},
        {MHD_OPTION_END, 0, NULL},
    };
    struct MHD_OptionItem secure[] = {
        {MHD_OPTION_HTTPS_PRIORITIES, 0, (void *)LATCHKEY_SERVER_PRIORITY},
        {MHD_OPTION_HTTPS_CERT_CALLBACK, 0, (void *)certificate},
        {MHD_OPTION_END, 0, NULL},
    };
    return MHD_start_daemon(
        MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG | (certificate ? MHD_USE_TLS : 0), 0, accepts, context,
        handler, context, MHD_OPTION_ARRAY, options, certificate ? MHD_OPTION_ARRAY : MHD_OPTION_END, secure,
        MHD_OPTION_END);
}

/* The function that returns these is variadic, too. */
static inline int latchkey_server_socket(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info ? info->connect_fd : -1;
}
static inline gnutls_session_t latchkey_server_session(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_GNUTLS_SESSION);
    return info ? (gnutls_session_t)info->tls_session : NULL;
}

/* Copies the 4 or 16 bytes of an address, and returns how many; 0 for another kind. */
static inline size_t latchkey_server_address(const struct sockaddr *address, unsigned char bytes[16]) {
    if (address && address->sa_family == AF_INET) {
        memcpy(bytes, &((const struct sockaddr_in *)(const void *)address)->sin_addr, 4);
        return 4;
    }
    if (address && address->sa_family == AF_INET6) {
        memcpy(bytes, &((const struct sockaddr_in6 *)(const void *)address)->sin6_addr, 16);
        return 16;
    }
    return 0;
}

static inline const struct sockaddr *latchkey_server_peer(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    return info ? info->client_addr : NULL;
}

/* Swift shortens the names of this enumeration's cases differently from those of the others. */
static inline int latchkey_server_started(enum MHD_ConnectionNotificationCode code) {
    return code == MHD_CONNECTION_NOTIFY_STARTED;
}

#endif
