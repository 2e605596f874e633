/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LATCHKEY_LINUX_CAPABILITY_H
#define LATCHKEY_LINUX_CAPABILITY_H

/* Capabilities of the calling thread, capset(2) and prctl(2). */

#include <linux/capability.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

extern long syscall(long number, ...);

/* Whether the bounding set contains a capability; negative for numbers that the kernel does not know. */
static inline int latchkey_is_bounding(int capability) {
    return prctl(PR_CAPBSET_READ, (unsigned long)capability, 0UL, 0UL, 0UL);
}

static inline int latchkey_drop_bounding(int capability) {
    return prctl(PR_CAPBSET_DROP, (unsigned long)capability, 0UL, 0UL, 0UL);
}

static inline int latchkey_clear_ambient(void) {
    return prctl(PR_CAP_AMBIENT, (unsigned long)PR_CAP_AMBIENT_CLEAR_ALL, 0UL, 0UL, 0UL);
}

/* Sets permitted and effective to `mask`, and inheritable to nothing. */
static inline int latchkey_set_capabilities(uint64_t mask) {
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct data[2] = {
        {(uint32_t)mask, (uint32_t)mask, 0},
        {(uint32_t)(mask >> 32), (uint32_t)(mask >> 32), 0},
    };
    return (int)syscall(SYS_capset, &header, data);
}

static inline int latchkey_forbid_new_privileges(void) { return prctl(PR_SET_NO_NEW_PRIVS, 1UL, 0UL, 0UL, 0UL); }

#endif
