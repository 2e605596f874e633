/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LATCHKEY_LINUX_MESSAGE_H
#define LATCHKEY_LINUX_MESSAGE_H

/* Short messages with at most one descriptor, on a socket that keeps their borders (SOCK_SEQPACKET, unix(7)). The macros of
   control messages (cmsg(3)) are not available in Swift. */

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

union latchkey_one_descriptor {
    char bytes[CMSG_SPACE(sizeof(int))];
    struct cmsghdr alignment;
};

/* Sends `count` bytes, and a descriptor unless it is -1. Never blocks. Returns 0, or -1 with errno. */
static inline int latchkey_send_message(int socket, const void *bytes, size_t count, int descriptor) {
    struct iovec data = {(void *)bytes, count};
    union latchkey_one_descriptor control;
    memset(&control, 0, sizeof control);
    struct msghdr message = {.msg_iov = &data, .msg_iovlen = 1};
    if (descriptor >= 0) {
        message.msg_control = &control;
        message.msg_controllen = sizeof control;
        struct cmsghdr *header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
    }
    ssize_t sent;
    do sent = sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    while (sent < 0 && errno == EINTR);
    return sent < 0 ? -1 : 0;
}

/* Receives a message of at most `count` bytes; `descriptor` is -1 unless the message has one. Returns the number of bytes, 0 at
   the end of the stream, -1 with errno; EMFILE also when the descriptor of a message could not be received. */
static inline ssize_t latchkey_receive_message(int socket, void *bytes, size_t count, int flags, int *descriptor) {
    struct iovec data = {bytes, count};
    union latchkey_one_descriptor control;
    struct msghdr message = {.msg_iov = &data, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    *descriptor = -1;
    ssize_t received;
    do received = recvmsg(socket, &message, MSG_CMSG_CLOEXEC | flags);
    while (received < 0 && errno == EINTR);
    if (received <= 0) return received;
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    if (header && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS
        && header->cmsg_len == CMSG_LEN(sizeof(int)))
        memcpy(descriptor, CMSG_DATA(header), sizeof *descriptor);
    if (message.msg_flags & MSG_CTRUNC && *descriptor < 0) {
        errno = EMFILE;
        return -1;
    }
    return received;
}

#endif
