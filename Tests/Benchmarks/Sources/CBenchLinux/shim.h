/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LATCHKEY_BENCH_LINUX_H
#define LATCHKEY_BENCH_LINUX_H

#include <sys/syscall.h>
#include <unistd.h>

/* Swift cannot call the variadic `syscall`, and glibc has `pidfd_open` only since 2.36. */
static inline int bench_pidfd_open(int process) {
    return (int)syscall(SYS_pidfd_open, process, 0);
}

enum { BENCH_MASK_WORDS = 128 };

/* Returns the number of the first core after `previous` that this thread may use; -1 when there is none. glibc handles
   CPU sets with macros that need _GNU_SOURCE, which a module cannot set. */
static inline int bench_next_core(int previous) {
    unsigned long mask[BENCH_MASK_WORDS] = {0};
    const int bits = 8 * (int)sizeof(mask[0]);
    if (syscall(SYS_sched_getaffinity, 0, sizeof(mask), mask) < 0) return -1;
    for (int core = previous + 1; core < BENCH_MASK_WORDS * bits; core++) {
        if (mask[core / bits] >> (core % bits) & 1) return core;
    }
    return -1;
}

/* Binds a thread, given by its number (0: the calling thread), and all threads that it starts later to one core. */
static inline int bench_stay_on_core(int thread, int core) {
    unsigned long mask[BENCH_MASK_WORDS] = {0};
    const int bits = 8 * (int)sizeof(mask[0]);
    if (core < 0 || core >= BENCH_MASK_WORDS * bits) return -1;
    mask[core / bits] |= 1UL << (core % bits);
    return (int)syscall(SYS_sched_setaffinity, thread, sizeof(mask), mask);
}

#endif
