/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LATCHKEY_LINUX_USER_H
#define LATCHKEY_LINUX_USER_H

/* Starts a program as another user, on a terminal of that user.

   `fork` is unavailable in Swift. In the child of a process with threads only async-signal-safe functions may be called
   until it executes a program (signal-safety(7)), which Swift code does not guarantee. User and groups are set by system
   calls and not by glibc's functions, which signal the other threads of the process: the child has none of them. */

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

extern long syscall(long number, ...);

/* On 32-bit systems the calls below have other numbers for 32-bit user identifiers. */
_Static_assert(sizeof(long) == 8, "a 64-bit system");

struct latchkey_user_start {
    const char *path;
    char *const *arguments;
    char *const *environment;
    /* Path and device number of the terminal, which becomes descriptors 0 and 1. */
    const char *terminal;
    dev_t device;
    uid_t user;
    gid_t group;
    /* Becomes descriptor 3. */
    int channel;
    /* The socket on which the child sends the open terminal. */
    int report;
};

/* Sends a descriptor on a socket, unix(7). */
static inline int latchkey_send_descriptor(int socket, int descriptor) {
    char byte = 0;
    struct iovec data = {&byte, 1};
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr alignment;
    } control;
    memset(&control, 0, sizeof control);
    struct msghdr message = {.msg_iov = &data, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
    ssize_t sent;
    do sent = sendmsg(socket, &message, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    return sent == 1 ? 0 : -1;
}

/* Receives a descriptor from a socket; -1 at the end of the stream or for any other message. */
static inline int latchkey_receive_descriptor(int socket) {
    char byte;
    struct iovec data = {&byte, 1};
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr alignment;
    } control;
    struct msghdr message = {.msg_iov = &data, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    ssize_t received;
    do received = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    while (received < 0 && errno == EINTR);
    struct cmsghdr *header = received == 1 ? CMSG_FIRSTHDR(&message) : 0;
    if (!header || header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS
        || header->cmsg_len != CMSG_LEN(sizeof(int)))
        return -1;
    int descriptor;
    memcpy(&descriptor, CMSG_DATA(header), sizeof descriptor);
    return descriptor;
}

/* The child's part; returns only if a step failed. Every check comes before the program runs. */
static inline void latchkey_become_user_and_run(const struct latchkey_user_start *start) {
    /* A session of its own: the terminal must not become the controlling one. */
    if (setsid() < 0) return;
    if (syscall(SYS_setgroups, 0L, 0L) != 0) return;
    if (syscall(SYS_setresgid, (long)start->group, (long)start->group, (long)start->group) != 0) return;
    if (syscall(SYS_setresuid, (long)start->user, (long)start->user, (long)start->user) != 0) return;
    /* Neither this program nor one that it executes may get the privileges back. */
    if (start->user != 0 && syscall(SYS_setresuid, -1L, 0L, -1L) == 0) return;
    if (syscall(SYS_prctl, 38L /* PR_SET_NO_NEW_PRIVS */, 1L, 0L, 0L, 0L) != 0) return;

    /* Opened as the user: a path that only the service may open cannot be opened for it. */
    int terminal = open(start->terminal, O_RDWR | O_NOCTTY | O_NOFOLLOW | O_CLOEXEC);
    if (terminal < 0) return;
    struct stat status;
    if (fstat(terminal, &status) != 0 || !S_ISCHR(status.st_mode) || status.st_uid != start->user
        || status.st_rdev != start->device || !isatty(terminal))
        return;
    if (latchkey_send_descriptor(start->report, terminal) != 0) return;

    /* Moved out of the way of the numbers that they get. */
    terminal = fcntl(terminal, F_DUPFD_CLOEXEC, 16);
    int channel = fcntl(start->channel, F_DUPFD_CLOEXEC, 16);
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (terminal < 0 || channel < 0 || null < 0) return;
    if (dup2(terminal, 0) != 0 || dup2(terminal, 1) != 1 || dup2(null, 2) != 2 || dup2(channel, 3) != 3) return;
    /* `dup2` does nothing to a descriptor that has the number already, which then keeps its flag. */
    if (null == 2 && fcntl(2, F_SETFD, 0) != 0) return;
    if (syscall(436L /* close_range */, 4L, (long)~0U, 0L) != 0) return;

    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = SIG_DFL;
    /* Fails for the signals that have no action. */
    for (int number = 1; number < 65; number++) (void)sigaction(number, &action, 0);
    sigset_t none;
    sigemptyset(&none);
    if (sigprocmask(SIG_SETMASK, &none, 0) != 0) return;
    execve(start->path, start->arguments, start->environment);
}

/* Returns the child's process ID; -1 with errno if there is none. A child that cannot start the program exits with
   status 127, having sent no terminal unless the program itself cannot be executed. */
static inline pid_t latchkey_start_as_user(const struct latchkey_user_start *start) {
    sigset_t all, before;
    sigfillset(&all);
    /* A signal action of this process must not run in the child. */
    int code = pthread_sigmask(SIG_SETMASK, &all, &before);
    if (code != 0) {
        errno = code;
        return -1;
    }
    pid_t child = fork();
    if (child == 0) {
        latchkey_become_user_and_run(start);
        _exit(127);
    }
    code = errno;
    pthread_sigmask(SIG_SETMASK, &before, 0);
    errno = code;
    return child;
}

#endif
