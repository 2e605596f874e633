/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LATCHKEY_LINUX_MESSAGE_H
#define LATCHKEY_LINUX_MESSAGE_H

/* Control messages (cmsg(3)) of a socket, unix(7): descriptors and senders. Their macros are not available in Swift. */

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

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

/* Receives a message of at most `count` bytes without waiting; `descriptor` is -1 unless the message has one. Returns the number
   of bytes, 0 at the end of the stream, -1 with errno; EMFILE also when a descriptor of a message could not be received. */
static inline ssize_t latchkey_receive_message(int socket, void *bytes, size_t count, int *descriptor) {
    struct iovec data = {bytes, count};
    union latchkey_one_descriptor control;
    /* Without the padding, in which there is room for a second descriptor. */
    struct msghdr message = {
        .msg_iov = &data, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = CMSG_LEN(sizeof(int))};
    *descriptor = -1;
    ssize_t received;
    do received = recvmsg(socket, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    while (received < 0 && errno == EINTR);
    if (received <= 0) return received;
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    if (header && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS
        && header->cmsg_len == CMSG_LEN(sizeof(int)))
        memcpy(descriptor, CMSG_DATA(header), sizeof *descriptor);
    if (message.msg_flags & MSG_CTRUNC) {
        if (*descriptor >= 0) (void)close(*descriptor);
        *descriptor = -1;
        errno = EMFILE;
        return -1;
    }
    return received;
}

/* `struct ucred` and SCM_CREDENTIALS, which sys/socket.h declares for _GNU_SOURCE only. */
struct latchkey_sender { pid_t process; uid_t user; gid_t group; };
enum { latchkey_scm_credentials = 2, latchkey_so_passcred = 16 };

union latchkey_one_sender {
    char bytes[CMSG_SPACE(sizeof(struct latchkey_sender))];
    struct cmsghdr alignment;
};

/* Has the kernel record the sender of everything that is received on a socket; on a listening socket, also of what is sent to a
   connection before it is accepted. Returns 0, or -1 with errno. */
static inline int latchkey_record_senders(int socket) {
    int on = 1;
    return setsockopt(socket, SOL_SOCKET, latchkey_so_passcred, &on, sizeof on);
}

/* Has the kernel refuse descriptors that are sent to a connection of a listening socket, from its creation on. Returns 0, or -1
   with errno before Linux 6.16. */
static inline int latchkey_refuse_descriptors(int socket) {
    int off = 0;
    return setsockopt(socket, SOL_SOCKET, 83 /* SO_PASSRIGHTS */, &off, sizeof off);
}

/* Reads like read(2) from a stream socket with recorded senders; what is returned is from one of them. `process` is 0 if the kernel
   reports none. Descriptors that a peer sends are closed by the kernel, because there is no room for them. */
static inline ssize_t latchkey_read_from_sender(int socket, void *bytes, size_t count, pid_t *process) {
    struct iovec data = {bytes, count};
    union latchkey_one_sender control;
    struct msghdr message = {.msg_iov = &data, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    *process = 0;
    ssize_t received;
    do received = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    while (received < 0 && errno == EINTR);
    if (received <= 0) return received;
    for (struct cmsghdr *header = CMSG_FIRSTHDR(&message); header; header = CMSG_NXTHDR(&message, header))
        if (header->cmsg_level == SOL_SOCKET && header->cmsg_type == latchkey_scm_credentials
            && header->cmsg_len == CMSG_LEN(sizeof(struct latchkey_sender))) {
            struct latchkey_sender sender;
            memcpy(&sender, CMSG_DATA(header), sizeof sender);
            *process = sender.process;
        }
    return received;
}

#endif
