// SPDX-License-Identifier: Apache-2.0

// Preloaded into both services by test_services_kernel.py: an older kernel, and a wall clock that root has moved, which
// the machine of the tests cannot have because it shares the host's.

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { PEER_PIDFD = 77 };

// Linux before 6.5 does not know SO_PEERPIDFD.
int getsockopt(int socket, int level, int name, void *value, socklen_t *length) {
    if (level == SOL_SOCKET && name == PEER_PIDFD && access("/run/preloaded/no-pidfd", F_OK) == 0) {
        errno = ENOPROTOOPT;
        return -1;
    }
    return (int)syscall(SYS_getsockopt, socket, level, name, value, length);
}

// The seconds by which the wall clock was moved.
static long moved(void) {
    char text[32] = "";
    int file = open("/run/preloaded/moved", O_RDONLY | O_CLOEXEC);
    if (file < 0) return 0;
    ssize_t count = read(file, text, sizeof text - 1);
    close(file);
    return count > 0 ? atol(text) : 0;
}

int clock_gettime(clockid_t clock, struct timespec *time) {
    int result = (int)syscall(SYS_clock_gettime, clock, time);
    if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) time->tv_sec += moved();
    return result;
}

int gettimeofday(struct timeval *restrict value, void *restrict zone) {
    int result = (int)syscall(SYS_gettimeofday, value, zone);
    if (result == 0) value->tv_sec += moved();
    return result;
}

time_t time(time_t *value) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (value) *value = now.tv_sec;
    return now.tv_sec;
}
