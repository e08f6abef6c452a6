/* Preloaded into a program: records every operation on files under TORN_ROOT, with the bytes that
 * were written, in the file TORN_LOG. replay.py reads it.
 *
 * A lock is held during each operation and the writing of its record, so that the order of records
 * is that of the operations, for any number of threads. Nothing is synced to the disk: fsync is
 * only recorded, because the replay decides what survives.
 *
 * Operations inside libc (stdio) are not seen. Their bytes are recorded when the file is synced;
 * replay.py compares the files at the end and reports any difference.
 *
 * Record: struct record, then `bytes` bytes, then `more` bytes (the second path of a rename). */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { FILES = 65536, PATH_BYTES = 4096 };
enum operation {
    START = 1, /* of a process */
    OPEN,      /* offset: the flags; followed by the path */
    CLOSE,
    WRITE, /* at the offset; followed by the data */
    TRUNCATE,
    SYNC,
    RENAME,
    LINK,
    UNLINK,
    MKDIR,
    RMDIR
};

struct record {
    uint32_t operation;
    int32_t file;
    uint64_t offset;
    uint64_t bytes;
    uint64_t more;
};

struct tracked {
    ino_t inode; /* 0: not under the root */
    dev_t device;
    off_t seen; /* length in bytes */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct tracked files[FILES];
static char root[PATH_BYTES];
static size_t root_len;
static int out = -1;

static _Noreturn void give_up(const char *why)
{
    dprintf(STDERR_FILENO, "torn: %s: %s\n", why, strerror(errno));
    _exit(99); /* a gap in the log must not look like a complete log */
}

static void put(enum operation operation, int file, uint64_t offset, const void *data, size_t bytes,
                const char *second)
{
    size_t more = second ? strlen(second) : 0;
    struct record r = {(uint32_t)operation, file, offset, bytes, more};
    struct iovec parts[] = {{&r, sizeof r}, {(void *)data, bytes}, {(void *)second, more}};
    int saved = errno;
    if (out >= 0 && syscall(SYS_writev, out, parts, 3) != (long)(sizeof r + bytes + more))
        give_up("the log cannot be written");
    errno = saved;
}

__attribute__((constructor)) static void start(void)
{
    const char *log = getenv("TORN_LOG"), *where = getenv("TORN_ROOT");
    if (!log || !where)
        return;
    snprintf(root, sizeof root, "%s", where);
    root_len = strlen(root);
    out = (int)syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (out < 0)
        give_up(log);
    put(START, -1, 0, NULL, 0, NULL);
}

/* The directory that a relative path starts from. */
static bool base(int directory, char to[PATH_BYTES])
{
    char link[64];
    if (directory == AT_FDCWD)
        return syscall(SYS_getcwd, to, PATH_BYTES) > 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", directory);
    ssize_t len = readlink(link, to, PATH_BYTES - 1);
    to[len > 0 ? len : 0] = 0;
    return len > 0;
}

/* The path below the root, without "." and double slashes; NULL if it is not under the root. */
static const char *inside(int directory, const char *path, char to[PATH_BYTES])
{
    char whole[2 * PATH_BYTES], from[PATH_BYTES] = "", *at = to;
    if (out < 0 || (*path != '/' && !base(directory, from)))
        return NULL;
    snprintf(whole, sizeof whole, "%s%s%s", from, *path == '/' ? "" : "/", path);
    if (strncmp(whole, root, root_len) != 0 || (whole[root_len] != '/' && whole[root_len] != 0))
        return NULL;
    char *state = NULL;
    for (char *part = strtok_r(whole + root_len, "/", &state); part;
         part = strtok_r(NULL, "/", &state)) {
        if (strcmp(part, ".") == 0)
            continue;
        if (strcmp(part, "..") == 0)
            give_up("a path with ..");
        at += snprintf(at, (size_t)(to + PATH_BYTES - at), "%s%s", at > to ? "/" : "", part);
    }
    *at = 0;
    return to;
}

static struct tracked *tracked(int fd)
{
    struct stat st;
    if (out < 0 || fd < 0 || fd >= FILES || !files[fd].inode || fstat(fd, &st) != 0)
        return NULL;
    bool same = st.st_ino == files[fd].inode && st.st_dev == files[fd].device;
    return same ? &files[fd] : NULL; /* NULL: closed, and the number is used for another file */
}

static void grow(struct tracked *t, off_t end)
{
    t->seen = end > t->seen ? end : t->seen;
}

/* ---- names ---- */

static int open_file(int at, const char *path, int flags, mode_t mode)
{
    char name[PATH_BYTES];
    struct stat st;
    pthread_mutex_lock(&lock);
    int fd = (int)syscall(SYS_openat, at, path, flags, mode);
    if (fd >= 0 && fd < FILES && out >= 0) {
        files[fd] = (struct tracked){0};
        if (inside(at, path, name) && fstat(fd, &st) == 0 &&
            (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode))) {
            files[fd] =
                (struct tracked){st.st_ino, st.st_dev, S_ISREG(st.st_mode) ? st.st_size : 0};
            put(OPEN, fd, (uint64_t)(unsigned)flags, name, strlen(name), NULL);
        }
    }
    pthread_mutex_unlock(&lock);
    return fd;
}

#define OPENING(name, at, ...)                                                                     \
    int name(__VA_ARGS__, int flags, ...)                                                          \
    {                                                                                              \
        mode_t mode = 0;                                                                           \
        if (flags & (O_CREAT | O_TMPFILE)) {                                                       \
            va_list arguments;                                                                     \
            va_start(arguments, flags);                                                            \
            mode = va_arg(arguments, mode_t);                                                      \
            va_end(arguments);                                                                     \
        }                                                                                          \
        return open_file(at, path, flags, mode);                                                   \
    }
#define OPENING_CHECKED(name)                                                                      \
    int name(const char *path, int flags);                                                         \
    int name(const char *path, int flags)                                                          \
    {                                                                                              \
        return open_file(AT_FDCWD, path, flags, 0);                                                \
    }

OPENING(open, AT_FDCWD, const char *path)
OPENING(open64, AT_FDCWD, const char *path)
OPENING(openat, at, int at, const char *path)
OPENING(openat64, at, int at, const char *path)
OPENING_CHECKED(__open_2)
OPENING_CHECKED(__open64_2)

int creat(const char *path, mode_t mode)
{
    return open_file(AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC, mode);
}

int close(int fd)
{
    pthread_mutex_lock(&lock);
    if (tracked(fd))
        put(CLOSE, fd, 0, NULL, 0, NULL);
    if (fd >= 0 && fd < FILES)
        files[fd] = (struct tracked){0};
    int done = (int)syscall(SYS_close, fd);
    pthread_mutex_unlock(&lock);
    return done;
}

static int note(enum operation operation, int done, int at, const char *a, const char *b)
{
    char first[PATH_BYTES], second[PATH_BYTES];
    if (done == 0 && inside(at, a, first)) {
        if (b && !inside(at, b, second))
            give_up("a file goes out of the root");
        put(operation, -1, 0, first, strlen(first), b ? second : NULL);
    }
    return done;
}

/* Of a call that was made with the lock held. */
static int noted(enum operation operation, long done, const char *a, const char *b)
{
    note(operation, (int)done, AT_FDCWD, a, b);
    pthread_mutex_unlock(&lock);
    return (int)done;
}

int unlinkat(int at, const char *path, int flags)
{
    pthread_mutex_lock(&lock);
    int done = (int)syscall(SYS_unlinkat, at, path, flags);
    note(flags & AT_REMOVEDIR ? RMDIR : UNLINK, done, at, path, NULL);
    pthread_mutex_unlock(&lock);
    return done;
}

/* The calls of these names have no numbers on arm64. */
int rename(const char *from, const char *to)
{
    pthread_mutex_lock(&lock);
    return noted(RENAME, syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0), from, to);
}

int link(const char *from, const char *to)
{
    pthread_mutex_lock(&lock);
    return noted(LINK, syscall(SYS_linkat, AT_FDCWD, from, AT_FDCWD, to, 0), from, to);
}

int unlink(const char *path)
{
    return unlinkat(AT_FDCWD, path, 0);
}

int rmdir(const char *path)
{
    return unlinkat(AT_FDCWD, path, AT_REMOVEDIR);
}

int remove(const char *path)
{
    int done = unlink(path);
    return done != 0 && errno == EISDIR ? rmdir(path) : done;
}

int mkdir(const char *path, mode_t mode)
{
    pthread_mutex_lock(&lock);
    return noted(MKDIR, syscall(SYS_mkdirat, AT_FDCWD, path, mode), path, NULL);
}

/* ---- bytes ---- */

static void wrote(int fd, off_t offset, const void *data, ssize_t bytes)
{
    struct tracked *t = bytes > 0 ? tracked(fd) : NULL;
    if (!t)
        return;
    put(WRITE, fd, (uint64_t)offset, data, (size_t)bytes, NULL);
    grow(t, offset + bytes);
}

ssize_t write(int fd, const void *data, size_t bytes)
{
    pthread_mutex_lock(&lock);
    ssize_t done = syscall(SYS_write, fd, data, bytes);
    if (done > 0 && tracked(fd))
        wrote(fd, lseek(fd, 0, SEEK_CUR) - done, data, done);
    pthread_mutex_unlock(&lock);
    return done;
}

ssize_t writev(int fd, const struct iovec *parts, int count)
{
    pthread_mutex_lock(&lock);
    ssize_t done = syscall(SYS_writev, fd, parts, count);
    off_t at = done > 0 && tracked(fd) ? lseek(fd, 0, SEEK_CUR) - done : 0;
    ssize_t left = done;
    for (int i = 0; i < count && left > 0 && tracked(fd); i++) {
        ssize_t n = (ssize_t)parts[i].iov_len < left ? (ssize_t)parts[i].iov_len : left;
        wrote(fd, at, parts[i].iov_base, n);
        at += n;
        left -= n;
    }
    pthread_mutex_unlock(&lock);
    return done;
}

static ssize_t write_at(int fd, const void *data, size_t bytes, off_t offset)
{
    pthread_mutex_lock(&lock);
    ssize_t done = syscall(SYS_pwrite64, fd, data, bytes, offset);
    wrote(fd, offset, data, done);
    pthread_mutex_unlock(&lock);
    return done;
}

ssize_t pwrite(int fd, const void *data, size_t bytes, off_t offset)
{
    return write_at(fd, data, bytes, offset);
}

ssize_t pwrite64(int fd, const void *data, size_t bytes, off_t offset)
{
    return write_at(fd, data, bytes, offset);
}

static int cut(int fd, off_t length)
{
    pthread_mutex_lock(&lock);
    int done = (int)syscall(SYS_ftruncate, fd, length);
    struct tracked *t = done == 0 ? tracked(fd) : NULL;
    if (t) {
        put(TRUNCATE, fd, (uint64_t)length, NULL, 0, NULL);
        t->seen = length;
    }
    pthread_mutex_unlock(&lock);
    return done;
}

int ftruncate(int fd, off_t length)
{
    return cut(fd, length);
}

int ftruncate64(int fd, off_t length)
{
    return cut(fd, length);
}

static int reserve(int fd, int mode, off_t offset, off_t length)
{
    pthread_mutex_lock(&lock);
    struct tracked *t = tracked(fd);
    /* Reserving or releasing space beyond the end changes no byte. */
    if (t && !(mode & FALLOC_FL_KEEP_SIZE && (!(mode & ~FALLOC_FL_KEEP_SIZE) || offset >= t->seen)))
        give_up("fallocate that changes bytes");
    int done = (int)syscall(SYS_fallocate, fd, mode, offset, length);
    pthread_mutex_unlock(&lock);
    return done;
}

int fallocate(int fd, int mode, off_t offset, off_t length)
{
    return reserve(fd, mode, offset, length);
}

int fallocate64(int fd, int mode, off_t offset, off_t length)
{
    return reserve(fd, mode, offset, length);
}

/* Records what stdio wrote by itself. */
static void take_over(int fd, struct tracked *t)
{
    struct stat st;
    char path[64], data[1 << 16];
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size <= t->seen)
        return;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd); /* the descriptor may be write-only */
    int from = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
    while (from >= 0 && t->seen < st.st_size) {
        ssize_t n = pread(from, data, sizeof data, t->seen);
        if (n <= 0)
            give_up("a file cannot be read again");
        wrote(fd, t->seen, data, n);
    }
    if (from >= 0)
        syscall(SYS_close, from);
}

static int sync_file(long call, int fd)
{
    pthread_mutex_lock(&lock);
    struct tracked *t = tracked(fd);
    if (t) {
        take_over(fd, t);
        put(SYNC, fd, 0, NULL, 0, NULL);
    }
    int done = out >= 0 ? 0 : (int)syscall(call, fd);
    pthread_mutex_unlock(&lock);
    return done;
}

int fsync(int fd)
{
    return sync_file(SYS_fsync, fd);
}

int fdatasync(int fd)
{
    return sync_file(SYS_fdatasync, fd);
}

/* Starts writing, but guarantees nothing. */
int sync_file_range(int fd, off64_t offset, off64_t bytes, unsigned flags)
{
    return tracked(fd) ? 0 : (int)syscall(SYS_sync_file_range, fd, offset, bytes, flags);
}
