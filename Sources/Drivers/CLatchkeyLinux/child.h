/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LATCHKEY_LINUX_CHILD_H
#define LATCHKEY_LINUX_CHILD_H

/* Starts a program in a child, also as another user and on a terminal of that user; signals and reaps a child through
   its pidfd.

   `fork` is unavailable in Swift. In the child of a process with threads only async-signal-safe functions may be called
   until it executes a program (signal-safety(7)), which Swift code does not guarantee. User and groups are set by system
   calls and not by glibc's functions, which signal the other threads of the process: the child has none of them. */

#include "message.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

extern long syscall(long number, ...);

/* On 32-bit systems the calls below have other numbers for 32-bit user identifiers. */
_Static_assert(sizeof(long) == 8, "a 64-bit system");

/* Numbers of system calls that older headers lack; the same on every architecture. */
#define LATCHKEY_PIDFD_SEND_SIGNAL 424L
#define LATCHKEY_CLOSE_RANGE 436L

/* The descriptors that a program can be given. */
#define LATCHKEY_DESCRIPTORS 8

struct latchkey_start {
    const char *path;
    char *const *arguments;
    char *const *environment;
    /* The descriptors that become 0, 1, ..., at most LATCHKEY_DESCRIPTORS; -1 stands for /dev/null. */
    const int *descriptors;
    int count;
    /* The path and the device number of a terminal that takes the places of descriptors 0 and 1; null for none. */
    const char *terminal;
    dev_t device;
    /* Whether the child becomes this user, without supplementary groups and without a way back. */
    int becomes_user;
    uid_t user;
    gid_t group;
    /* The child's end of a socket, on which it waits for one byte before it does anything, and sends `latchkey_report`; and
       the parent's end. */
    int report;
    int parent;
};

/* What a child sends. With the open terminal it is sent before the program is executed, else only if a step failed: the
   stream ends when the program runs. */
struct latchkey_report {
    int code;
    struct termios modes;
};

/* Sends a report, with a descriptor if it is not -1. */
static inline int latchkey_send_report(int socket, const struct latchkey_report *report, int descriptor) {
    return latchkey_send_message(socket, report, sizeof *report, descriptor);
}

/* Receives a report without waiting: 1 with one, and its descriptor or -1; 0 at the end of the stream; -1 for anything
   else. */
static inline int latchkey_receive_report(int socket, struct latchkey_report *report, int *descriptor) {
    ssize_t received = latchkey_receive_message(socket, report, sizeof *report, descriptor);
    return received == (ssize_t)sizeof *report ? 1 : received == 0 ? 0 : -1;
}

static inline int latchkey_become_user(uid_t user, gid_t group) {
    if (syscall(SYS_setgroups, 0L, 0L) != 0) return errno;
    if (syscall(SYS_setresgid, (long)group, (long)group, (long)group) != 0) return errno;
    if (syscall(SYS_setresuid, (long)user, (long)user, (long)user) != 0) return errno;
    /* Neither this program nor one that it executes may get the privileges back. */
    if (user != 0 && syscall(SYS_setresuid, -1L, 0L, -1L) == 0) return EPERM;
    return syscall(SYS_prctl, 38L /* PR_SET_NO_NEW_PRIVS */, 1L, 0L, 0L, 0L) != 0 ? errno : 0;
}

/* The child's part; returns only if a step failed, with its errno and the number of its end of the report. Every check comes
   before the program runs. */
static inline int latchkey_run_child(const struct latchkey_start *start, int *report) {
    /* The copy of the other end, without which the stream ends if the parent gives no permission. */
    (void)close(start->parent);
    char permission;
    ssize_t count;
    do count = read(start->report, &permission, 1);
    while (count < 0 && errno == EINTR);
    if (count != 1) return ECANCELED;

    /* First of all only the descriptors of the program remain: a child that its user stops later must hold none of other
       children and connections. They are moved out of the way of the numbers that they get. */
    if (start->count < 0 || start->count > LATCHKEY_DESCRIPTORS) return EINVAL;
    int moved[LATCHKEY_DESCRIPTORS + 1];
    for (int index = 0; index <= start->count; index++) {
        int descriptor = index == start->count ? start->report : start->descriptors[index];
        if (descriptor < 0) descriptor = open("/dev/null", O_RDWR | O_CLOEXEC);
        if (descriptor < 0) return errno;
        moved[index] = fcntl(descriptor, F_DUPFD_CLOEXEC, 16);
        if (moved[index] < 0) return errno;
    }
    *report = moved[start->count];
    for (int index = 0; index < start->count; index++) {
        if (dup2(moved[index], index) != index) return errno;
    }
    /* Closed when the program is executed. */
    if (syscall(SYS_dup3, (long)*report, (long)start->count, (long)O_CLOEXEC) < 0) return errno;
    *report = start->count;
    if (syscall(LATCHKEY_CLOSE_RANGE, (long)start->count + 1, (long)~0U, 0L) != 0) return errno;

    /* A session of its own: no terminal may become the controlling one. */
    if (setsid() < 0) return errno;
    if (start->becomes_user) {
        int code = latchkey_become_user(start->user, start->group);
        if (code != 0) return code;
    }
    if (start->terminal) {
        /* Opened as the user: a path that only the service may open cannot be opened for it. */
        struct latchkey_report opened;
        struct stat status;
        memset(&opened, 0, sizeof opened);
        int terminal = open(start->terminal, O_RDWR | O_NOCTTY | O_NOFOLLOW | O_CLOEXEC);
        if (terminal < 0) return errno;
        if (fstat(terminal, &status) != 0) return errno;
        if (!S_ISCHR(status.st_mode) || status.st_uid != start->user || status.st_rdev != start->device) return EACCES;
        if (tcgetattr(terminal, &opened.modes) != 0) return errno;
        if (latchkey_send_report(*report, &opened, terminal) != 0) return ECANCELED;
        if (dup2(terminal, 0) != 0 || dup2(terminal, 1) != 1) return errno;
        (void)close(terminal);
    }
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = SIG_DFL;
    /* Fails for the signals that have no action. */
    for (int number = 1; number < 65; number++) (void)sigaction(number, &action, 0);
    sigset_t none;
    sigemptyset(&none);
    if (sigprocmask(SIG_SETMASK, &none, 0) != 0) return errno;
    execve(start->path, start->arguments, start->environment);
    return errno;
}

/* fork(2) with all signals blocked in the child: a signal action of this process must not run in it. */
static inline pid_t latchkey_fork(void) {
    sigset_t all, before;
    sigfillset(&all);
    int code = pthread_sigmask(SIG_SETMASK, &all, &before);
    if (code != 0) {
        errno = code;
        return -1;
    }
    pid_t child = fork();
    if (child == 0) return 0;
    code = errno;
    pthread_sigmask(SIG_SETMASK, &before, 0);
    errno = code;
    return child;
}

/* Returns the child's process ID; -1 with errno if there is none. The child waits for a byte on its end of the socket, so
   that the parent can take a pidfd of it first: until then it has the parent's user, and a process of another user can
   neither stop nor end it. */
static inline pid_t latchkey_start_child(const struct latchkey_start *start) {
    pid_t child = latchkey_fork();
    if (child != 0) return child;
    int report = start->report;
    struct latchkey_report failure;
    memset(&failure, 0, sizeof failure);
    failure.code = latchkey_run_child(start, &report);
    (void)latchkey_send_report(report, &failure, -1);
    _exit(127);
}

/* Returns the process ID of a child that has all descriptors of this process, and exits when the other end of `reading` is
   closed here; -1 with errno if there is none. */
static inline pid_t latchkey_start_holder(int reading, int writing) {
    pid_t child = latchkey_fork();
    if (child != 0) return child;
    char none;
    (void)close(writing);
    ssize_t count;
    do count = read(reading, &none, 1);
    while (count < 0 && errno == EINTR);
    _exit(0);
}

/* pidfd_send_signal(2): the signal goes to the process of the pidfd, or nowhere when that has been reaped. */
static inline int latchkey_pidfd_signal(int pidfd, int number) {
    return (int)syscall(LATCHKEY_PIDFD_SEND_SIGNAL, (long)pidfd, (long)number, 0L, 0L);
}

/* Reaps the child of a pidfd without waiting, waitid(2) with P_PIDFD: 1 and how it ended, 0 while it runs, -1 with errno.
   `keeps` leaves it to be reaped later. */
static inline int latchkey_reap(int pidfd, int keeps, int *was_signalled, int *value) {
    siginfo_t found;
    memset(&found, 0, sizeof found);
    long code;
    do code = syscall(SYS_waitid, 3L /* P_PIDFD */, (long)pidfd, &found, (long)(WEXITED | WNOHANG | (keeps ? WNOWAIT : 0)), 0L);
    while (code != 0 && errno == EINTR);
    if (code != 0) return -1;
    if (found.si_pid == 0) return 0;
    *was_signalled = found.si_code != CLD_EXITED;
    *value = found.si_status;
    return 1;
}

#endif
