/* A disk that becomes full: `disk_fill(folder, n, room, log)` lets the n-th write below a folder, and all later ones,
 * fail with ENOSPC, except that `room` bytes and the bytes of files deleted since then can still be written. Writes are
 * also new files, links and folders. With n = 0 nothing fails, and `log` lists the path of each write.
 *
 * `clock_shift(seconds)` sets the clock forward or back.
 *
 * Loaded with LD_PRELOAD. SQLite, DuckDB, Rust and Python all write through these functions of the C library.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static char folder[PATH_MAX];
static long first, count, room, shift;
static int list = -1;

#define NEXT(name, ...) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))(__VA_ARGS__)

void disk_fill(const char *below, long n, long spare, const char *log) {
    list = log ? open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;
    first = n, count = 0, room = spare;
    strncpy(folder, below, sizeof folder - 1);
}

/* Whether a write of some bytes to a path fails. */
static int refused(const char *path, size_t bytes) {
    size_t length = strlen(folder);
    if (!length || strncmp(path, folder, length) || path[length] != '/') return 0;
    long number = __sync_add_and_fetch(&count, 1);
    if (list >= 0) {
        char line[PATH_MAX + 1];
        int size = snprintf(line, sizeof line, "%s\n", path + length + 1);
        NEXT(write, list, line, size);
    }
    if (!first || number < first) return 0;
    if (__sync_sub_and_fetch(&room, (long)bytes) >= 0) return 0;
    __sync_add_and_fetch(&room, (long)bytes);
    errno = ENOSPC;
    return 1;
}

static int full(int file, size_t bytes) {
    char link[64], path[PATH_MAX];
    if (!*folder || file == list) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t size = readlink(link, path, sizeof path - 1);
    if (size <= 0) return 0;
    path[size] = 0;
    return refused(path, bytes);
}

static int none_at(int at, const char *path, size_t bytes) {
    char whole[PATH_MAX];
    struct stat there;
    if (!*folder || fstatat(at, path, &there, AT_SYMLINK_NOFOLLOW) == 0) return 0;
    if (path[0] == '/') return refused(path, bytes);
    if (at != AT_FDCWD || !getcwd(whole, sizeof whole)) return 0;
    strncat(whole, "/", sizeof whole - strlen(whole) - 1);
    strncat(whole, path, sizeof whole - strlen(whole) - 1);
    return refused(whole, bytes);
}

static void freed(int at, const char *path) {
    struct stat there;
    if (*folder && first && count >= first && fstatat(at, path, &there, AT_SYMLINK_NOFOLLOW) == 0)
        __sync_add_and_fetch(&room, (long)there.st_size);
}

ssize_t write(int file, const void *bytes, size_t size) {
    return full(file, size) ? -1 : NEXT(write, file, bytes, size);
}
ssize_t writev(int file, const struct iovec *parts, int number) {
    size_t size = 0;
    for (int i = 0; i < number; i++) size += parts[i].iov_len;
    return full(file, size) ? -1 : NEXT(writev, file, parts, number);
}
ssize_t pwrite(int file, const void *bytes, size_t size, off_t at) {
    return full(file, size) ? -1 : NEXT(pwrite, file, bytes, size, at);
}
ssize_t pwrite64(int file, const void *bytes, size_t size, off64_t at) {
    return full(file, size) ? -1 : NEXT(pwrite64, file, bytes, size, at);
}
static int grows(int file, off64_t size) {
    struct stat there;
    return fstat(file, &there) == 0 && size > there.st_size && full(file, size - there.st_size);
}
int posix_fallocate(int file, off_t at, off_t size) {
    return grows(file, at + size) ? ENOSPC : NEXT(posix_fallocate, file, at, size);
}
int posix_fallocate64(int file, off64_t at, off64_t size) {
    return grows(file, at + size) ? ENOSPC : NEXT(posix_fallocate64, file, at, size);
}
int fallocate64(int file, int mode, off64_t at, off64_t size) {
    return grows(file, at + size) ? -1 : NEXT(fallocate64, file, mode, at, size);
}
ssize_t copy_file_range(int in, off64_t *from, int out, off64_t *to, size_t size, unsigned flags) {
    return full(out, size) ? -1 : NEXT(copy_file_range, in, from, out, to, size, flags);
}
ssize_t sendfile64(int out, int in, off64_t *from, size_t size) {
    return full(out, size) ? -1 : ((ssize_t(*)(int, int, off64_t *, size_t))dlsym(RTLD_NEXT, "sendfile64"))(out, in, from, size);
}

#define OPENS(name) \
    int name(const char *path, int flags, ...) { \
        va_list rest; va_start(rest, flags); \
        mode_t mode = va_arg(rest, mode_t); va_end(rest); \
        return (flags & O_CREAT) && none_at(AT_FDCWD, path, 1) ? -1 : NEXT(name, path, flags, mode); \
    }
OPENS(open)
OPENS(open64)
#define OPENS_AT(name) \
    int name(int at, const char *path, int flags, ...) { \
        va_list rest; va_start(rest, flags); \
        mode_t mode = va_arg(rest, mode_t); va_end(rest); \
        return (flags & O_CREAT) && none_at(at, path, 1) ? -1 : NEXT(name, at, path, flags, mode); \
    }
OPENS_AT(openat)
OPENS_AT(openat64)
int mkdir(const char *path, mode_t mode) { return none_at(AT_FDCWD, path, 1) ? -1 : NEXT(mkdir, path, mode); }
int symlink(const char *to, const char *path) { return none_at(AT_FDCWD, path, 1) ? -1 : NEXT(symlink, to, path); }
int link(const char *from, const char *path) { return none_at(AT_FDCWD, path, 1) ? -1 : NEXT(link, from, path); }
int linkat(int a, const char *from, int b, const char *path, int flags) {
    return none_at(b, path, 1) ? -1 : NEXT(linkat, a, from, b, path, flags);
}
int unlink(const char *path) { freed(AT_FDCWD, path); return NEXT(unlink, path); }
int unlinkat(int at, const char *path, int flags) { freed(at, path); return NEXT(unlinkat, at, path, flags); }

void clock_shift(long seconds) { shift = seconds; }

int clock_gettime(clockid_t clock, struct timespec *now) {
    int failed = NEXT(clock_gettime, clock, now);
    if (!failed && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) now->tv_sec += shift;
    return failed;
}
int gettimeofday(struct timeval *now, void *zone) {
    int failed = ((int (*)(struct timeval *, void *))dlsym(RTLD_NEXT, "gettimeofday"))(now, zone);
    if (!failed) now->tv_sec += shift;
    return failed;
}
time_t time(time_t *place) {
    time_t now = NEXT(time, NULL) + shift;
    if (place) *place = now;
    return now;
}
