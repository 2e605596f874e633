// SPDX-License-Identifier: Apache-2.0

// A service that does nothing but answer, for bench_prompt.py: what systemd needs to start a service with the settings of
// Latchkey's units, whatever the service does. It answers the first connection to its socket (descriptor 3 of
// sd_listen_fds(3)) with one byte. With an argument, the path of another socket, it first waits for a byte from there, as
// latchkeyd waits for latchkey-authd.

#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static int other_answers(const char *path) {
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    strncpy(address.sun_path, path, sizeof address.sun_path - 1);
    int other = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    char byte;
    return other >= 0 && connect(other, (struct sockaddr *)&address, sizeof address) == 0 && read(other, &byte, 1) == 1;
}

int main(int count, char **arguments) {
    if (count > 1 && !other_answers(arguments[1])) return 1;
    int caller = accept(3, NULL, NULL);
    if (caller < 0 || write(caller, "!", 1) != 1) return 1;
    pause();
}
