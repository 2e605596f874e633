/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LATCHKEY_LINUX_SHIM_H
#define LATCHKEY_LINUX_SHIM_H

/* _GNU_SOURCE is not defined: it would change types of Swift's own Glibc module (fd_set). What it would declare is
   declared below, with the values of the kernel's interface. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <spawn.h>
#include <stddef.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <termios.h>
#include <unistd.h>

extern int accept4(int fd, struct sockaddr *address, socklen_t *length, int flags);
extern int pipe2(int ends[2], int flags);
extern int pthread_getattr_np(pthread_t thread, pthread_attr_t *attributes);
extern int sem_clockwait(sem_t *semaphore, clockid_t clock, const struct timespec *until);

extern int posix_openpt(int flags);
extern int grantpt(int fd);
extern int unlockpt(int fd);
extern int ptsname_r(int fd, char *name, size_t length);

/* `struct ucred`, unix(7). */
struct latchkey_ucred {
    pid_t pid;
    uid_t uid;
    gid_t gid;
};
static inline int latchkey_peer_credentials(int fd, pid_t *pid, uid_t *uid, gid_t *gid) {
    struct latchkey_ucred credentials;
    socklen_t length = sizeof credentials;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &length) != 0) return errno;
    *pid = credentials.pid;
    *uid = credentials.uid;
    *gid = credentials.gid;
    return 0;
}

/* SO_PEERPIDFD (Linux 6.5): a pidfd of the process that connected; -1 where the kernel does not support it. */
static inline int latchkey_peer_pidfd(int fd) {
    int pidfd = -1;
    socklen_t length = sizeof pidfd;
    if (getsockopt(fd, SOL_SOCKET, 77, &pidfd, &length) != 0) return -1;
    return pidfd;
}

/* GNU extensions of posix_spawn(3): close from a number on, and POSIX_SPAWN_SETSID. */
static inline int latchkey_spawn_close_from(posix_spawn_file_actions_t *actions, int from) {
    return posix_spawn_file_actions_addclosefrom_np(actions, from);
}
static inline short latchkey_spawn_setsid_flag(void) { return 0x80; }

/* glibc 2.36 has no wrapper in every header; `syscall` is variadic. The number is the same on every architecture. */
extern long syscall(long number, ...);
static inline int latchkey_pidfd_open(pid_t process) { return (int)syscall(434, (long)process, 0L); }

/* memfd_create(2) and the seals of fcntl(2), which glibc declares for _GNU_SOURCE only. */
extern int latchkey_memory_file(const char *name, unsigned int flags) __asm__("memfd_create");
static inline int latchkey_seal(int fd) { return fcntl(fd, 1033 /* F_ADD_SEALS */, 0xf /* seal, shrink, grow, write */); }

/* setfsuid(2), <sys/fsuid.h>, which is not in every Glibc module. It changes the calling thread alone. */
extern int latchkey_set_file_user(uid_t user) __asm__("setfsuid");

/* Open-file-description locks, fcntl(2): unlike flock, F_OFD_GETLK tests for a lock without taking it. */
static inline int latchkey_lock(int fd) {
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    return fcntl(fd, 37, &lock);
}
static inline int latchkey_is_locked(int fd) {
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    return fcntl(fd, 36, &lock) != 0 || lock.l_type != F_UNLCK;
}

/* `open` and `ioctl` are variadic. */
static inline int latchkey_open(const char *path, int flags, mode_t mode) { return open(path, flags, mode); }
static inline int latchkey_open_below(int folder, const char *path, int flags) { return openat(folder, path, flags); }
static inline int latchkey_path_flag(void) { return 010000000; /* O_PATH, for _GNU_SOURCE only */ }
static inline int latchkey_window_size(int fd, unsigned short *rows, unsigned short *columns) {
    struct winsize size;
    if (ioctl(fd, TIOCGWINSZ, &size) != 0) return errno;
    *rows = size.ws_row;
    *columns = size.ws_col;
    return 0;
}
static inline int latchkey_set_window_size(int fd, unsigned short rows, unsigned short columns) {
    struct winsize size = {rows, columns, 0, 0};
    return ioctl(fd, TIOCSWINSZ, &size);
}
static inline int latchkey_accept(int fd) { return accept4(fd, 0, 0, SOCK_CLOEXEC | SOCK_NONBLOCK); }

/* `prctl` is variadic, and <sys/prctl.h> and <malloc.h> are not in every Glibc module. */
extern int prctl(int option, ...);
extern int mallopt(int parameter, int value);
extern int malloc_trim(__SIZE_TYPE__ kept);
static inline int latchkey_adopt_orphans(void) { return prctl(36 /* PR_SET_CHILD_SUBREAPER */, 1L, 0L, 0L, 0L); }
/* PR_SET_NAME, what ps and pgrep show; at most 15 bytes. */
static inline int latchkey_name_process(const char *name) { return prctl(15, (unsigned long)name, 0L, 0L, 0L); }
static inline int latchkey_set_undumpable(void) { return prctl(4 /* PR_SET_DUMPABLE */, 0L, 0L, 0L, 0L); }

/* M_MMAP_THRESHOLD, mallopt(3): setting it also disables glibc's dynamic adjustment of the threshold. */
static inline int latchkey_map_large_blocks(int bytes) { return mallopt(-3, bytes); }

/* mlock2(2) with MLOCK_ONFAULT: a page is locked when it is used for the first time. */
extern int mlock2(const void *start, size_t length, unsigned int flags);
static inline int latchkey_lock_on_first_use(void *start, size_t length) { return mlock2(start, length, 1); }

/* malloc_trim(3): the free pages of every arena. */
static inline void latchkey_return_freed_memory(void) { (void)malloc_trim(0); }

/* AT_SECURE: whether this program runs with more privileges than its caller, getauxval(3). */
static inline int latchkey_runs_privileged(void) { return getauxval(AT_SECURE) != 0; }

/* dladdr(3), which dlfcn.h declares for _GNU_SOURCE only: the file that holds an address of this process. */
struct latchkey_symbol { const char *file; void *base; const char *name; void *address; };
int latchkey_dladdr(const void *address, struct latchkey_symbol *found) __asm__("dladdr");

/* `major` and `minor` are macros; numbers of terminals need them. */
static inline unsigned latchkey_major(dev_t device) { return major(device); }
static inline unsigned latchkey_minor(dev_t device) { return minor(device); }

/* `struct statx`, statx(2), which sys/stat.h declares for _GNU_SOURCE only; <linux/stat.h> declares S_IFMT once more.
   Only the fields below have names. `device` is the number that stat(2) reports as st_dev. */
struct latchkey_statx {
    unsigned mask, block_size;
    unsigned long long attributes;
    unsigned links, owner, group;
    unsigned short mode, padding;
    unsigned long long inode, size, blocks, attributes_mask, times[8];
    unsigned special_major, special_minor, device_major, device_minor;
    unsigned long long mount, rest[13];
};
_Static_assert(sizeof(struct latchkey_statx) == 256, "struct statx has 256 bytes");
_Static_assert(offsetof(struct latchkey_statx, mount) == 144, "stx_mnt_id is at offset 144");
extern int latchkey_statx(int folder, const char *path, int flags, unsigned mask, struct latchkey_statx *status)
    __asm__("statx");
struct latchkey_status {
    unsigned mode;
    unsigned owner;
    unsigned links;
    unsigned long long inode;
    unsigned long long device;
    unsigned long long mount;
};
/* AT_EMPTY_PATH | AT_STATX_DONT_SYNC: answers from what the kernel holds, without a request to the server of a file
   system. Returns ENOSYS where the kernel does not report the mount (STATX_MNT_ID, Linux 5.8). */
static inline int latchkey_cached_status(int fd, struct latchkey_status *found) {
    const unsigned basic = 0x7ff, mount = 0x1000;
    struct latchkey_statx status;
    if (latchkey_statx(fd, "", 0x1000 | 0x4000, basic | mount, &status) != 0) return errno;
    if (!(status.mask & mount)) return ENOSYS;
    found->mode = status.mode;
    found->owner = status.owner;
    found->links = status.links;
    found->inode = status.inode;
    found->device = makedev(status.device_major, status.device_minor);
    found->mount = status.mount;
    return 0;
}

/* Stable layout of an inotify record, read by offset in Swift. */
_Static_assert(sizeof(struct inotify_event) == 16, "inotify_event header is 16 bytes");
static inline unsigned latchkey_epoll_data(struct epoll_event event) { return event.data.u32; }
static inline int latchkey_epoll_control(int epoll, int operation, int fd, unsigned events, unsigned data) {
    struct epoll_event event;
    memset(&event, 0, sizeof event);
    event.events = events;
    event.data.u32 = data;
    return epoll_ctl(epoll, operation, fd, &event);
}
#endif
