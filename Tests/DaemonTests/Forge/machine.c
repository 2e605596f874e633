/* SPDX-License-Identifier: Apache-2.0 */

/* Preloaded into a daemon, this library simulates a restart of the machine and changes of its clock: it adds seconds
   from the environment to the wall clock and the boot clock, and substitutes another file for the kernel's boot
   identifier. The machine that runs the tests is not changed. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int clock_gettime(clockid_t clock, struct timespec *time) {
    static int (*real)(clockid_t, struct timespec *);
    if (!real) real = dlsym(RTLD_NEXT, "clock_gettime");
    int result = real(clock, time);
    const char *moved = NULL;
    if (clock == CLOCK_REALTIME) moved = getenv("MOVED_WALL_SECONDS");
    if (clock == CLOCK_BOOTTIME) moved = getenv("MOVED_BOOT_SECONDS");
    if (result == 0 && moved) time->tv_sec += atoll(moved);
    return result;
}

int open(const char *path, int flags, ...) {
    static int (*real)(const char *, int, ...);
    if (!real) real = dlsym(RTLD_NEXT, "open");
    va_list more;
    va_start(more, flags);
    mode_t mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(more, mode_t) : 0;
    va_end(more);
    const char *boot = getenv("MOVED_BOOT_ID");
    if (boot && !strcmp(path, "/proc/sys/kernel/random/boot_id")) path = boot;
    return real(path, flags, mode);
}
