/* The state directory: see directory.h.
 *
 * FORMAT is written before the database is created, as a file of another name that is synced and
 * renamed. So a kill leaves either a complete FORMAT, or none in a directory that still counts as
 * empty. All of this happens under the lock.
 *
 * The lock is flock(), which the kernel drops when its process dies, so that a kill -9 leaves
 * nothing to clean up. */
#include "store/directory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/names.h"
#include "store/store.h"

#define FORMAT_LINE "samepage state 6\n"
#define FORMAT_WORD "samepage state "
#define FORMAT_MAX_BYTES 65536
#define DATABASE "rocksdb"
#define WIPED DATABASE ".wiped"

/* What the steps of opening share. */
struct opening {
    const char *directory;
    struct sp_fault *fault;
};

static const char *advice(int error)
{
    switch (error) {
    case EACCES:
    case EPERM:
    case EROFS:
        return "give this user the right to write there, or use " SP_ANOTHER_DIRECTORY;
    case ENOSPC:
    case EDQUOT:
        return "free some space and run again, or use " SP_ANOTHER_DIRECTORY;
    case ENOTDIR:
    case EEXIST:
        return "it is a file: use " SP_ANOTHER_DIRECTORY;
    default:
        return "use " SP_ANOTHER_DIRECTORY ", or repair this one";
    }
}

static enum sp_err failed(const struct opening *o, const char *what, const char *name)
{
    int error = errno;
    return sp_fault_set(o->fault, SP_STORE, "cannot %s %s%s%s: %s; %s", what, o->directory,
                        *name ? "/" : "", name, strerror(error), advice(error));
}

/* Creates the directory with its parents, like mkdir -p. */
static enum sp_err create(const struct opening *o)
{
    struct sp_buf buf = {0};
    enum sp_err err = SP_OK;
    sp_buf_put(&buf, o->directory, strlen(o->directory) + 1);
    for (char *slash = buf.data; slash && !err;) {
        slash = strchr(slash + (*slash != 0), '/'); /* the directory may be "" */
        if (slash)
            *slash = 0;
        struct stat st;
        bool is_directory = stat(buf.data, &st) == 0 && S_ISDIR(st.st_mode);
        if (!is_directory && mkdir(buf.data, 0700) != 0)
            err = failed(o, "create the state directory", "");
        if (slash)
            *slash = '/';
    }
    sp_buf_done(&buf);
    return err;
}

/* Files that a new directory may hold: ours from an earlier start that was killed, and the
 * one that mkfs puts into a mounted volume. */
static bool harmless(const char *name)
{
    return !strcmp(name, ".") || !strcmp(name, "..") || !strcmp(name, "LOCK") ||
           !strcmp(name, "FORMAT.new") || !strcmp(name, "lost+found");
}

static enum sp_err refuse_foreign(const struct opening *o)
{
    DIR *dir = opendir(o->directory);
    if (!dir)
        return failed(o, "read the state directory", "");
    char other[256] = "";
    bool ours = false;
    for (struct dirent *e = readdir(dir); e; e = readdir(dir)) {
        if (!strcmp(e->d_name, "FORMAT"))
            ours = true;
        else if (!harmless(e->d_name) && (!*other || strcmp(e->d_name, other) < 0))
            snprintf(other, sizeof other, "%s", e->d_name);
    }
    closedir(dir);
    if (ours || !*other)
        return SP_OK;
    return sp_fault_set(
        o->fault, SP_STATE_FORMAT,
        "%s is not empty and not a state directory of samepage (it holds \"%s\" and no "
        "FORMAT file); use " SP_ANOTHER_DIRECTORY ", or an empty one",
        o->directory, other);
}

static enum sp_err lock(const struct opening *o, int *ret_lock)
{
    struct sp_buf buf = {0};
    enum sp_err err = SP_OK;
    char text[32] = "";
    int fd = open(sp_names_join(&buf, o->directory, "LOCK"), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0) {
        err = failed(o, "open", "LOCK");
    } else if (flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
        ssize_t n = pread(fd, text, sizeof text - 1, 0);
        text[n > 0 ? strcspn(text, "\n") : 0] = 0;
        err = sp_fault_set(
            o->fault, SP_BUSY,
            "%s is in use by another samepage process (process id %s); wait for it or stop "
            "it, or use " SP_ANOTHER_DIRECTORY,
            o->directory, *text ? text : "unknown");
    } else {
        /* Where flock is not supported (some network file systems), only RocksDB's own lock
         * remains. The process id is only for the message above, so a failure to write it is
         * ignored. */
        int n = snprintf(text, sizeof text, "%ld\n", (long)getpid());
        if (ftruncate(fd, 0) == 0 && pwrite(fd, text, (size_t)n, 0) == n)
            *ret_lock = fd;
        else
            err = failed(o, "write", "LOCK");
    }
    if (err && fd >= 0)
        close(fd);
    sp_buf_done(&buf);
    return err;
}

/* The value of `key` in lines key=value, or a view of NULL. */
static struct sp_view lookup(struct sp_view lines, struct sp_view key)
{
    while (lines.len) {
        const char *end = memchr(lines.data, '\n', lines.len);
        size_t len = end ? (size_t)(end - lines.data) : lines.len;
        if (len > key.len && lines.data[key.len] == '=' &&
            memcmp(lines.data, key.data, key.len) == 0)
            return sp_view(lines.data + key.len + 1, len - key.len - 1);
        lines.data += len + (end ? 1 : 0);
        lines.len -= len + (end ? 1 : 0);
    }
    return sp_view(NULL, 0);
}

/* Appends a sentence for each key of `keys` whose value differs; with only_missing, for those
 * that `others` lacks. */
static void differences(struct sp_view keys, struct sp_view others, bool keys_are_stored,
                        bool only_missing, struct sp_buf *out)
{
    while (keys.len) {
        const char *end = memchr(keys.data, '\n', keys.len);
        size_t len = end ? (size_t)(end - keys.data) : keys.len;
        const char *equals = memchr(keys.data, '=', len);
        if (equals) {
            struct sp_view key = sp_view(keys.data, (size_t)(equals - keys.data));
            struct sp_view a = sp_view(equals + 1, len - key.len - 1);
            struct sp_view b = lookup(others, key);
            if (!b.data || (!only_missing && !sp_view_eq(a, b))) {
                struct sp_view none = sp_view_str("(not set)");
                struct sp_view other = b.data ? b : none;
                sp_buf_put_str(out, out->len ? "; " : "");
                sp_buf_put_view(out, key);
                sp_buf_put_str(out, " was ");
                sp_buf_put_view(out, keys_are_stored ? a : other);
                sp_buf_put_str(out, " and is now ");
                sp_buf_put_view(out, keys_are_stored ? other : a);
            }
        }
        keys.data += len + (end ? 1 : 0);
        keys.len -= len + (end ? 1 : 0);
    }
}

/* Checks that the bytes are those of a FORMAT file of this version. */
static enum sp_err check_version(const struct opening *o, struct sp_view stored)
{
    size_t word = strlen(FORMAT_WORD), line = strlen(FORMAT_LINE);
    const char *end = stored.len ? memchr(stored.data, '\n', stored.len) : NULL;
    if (!end || (size_t)(end - stored.data) < word || memcmp(stored.data, FORMAT_WORD, word) != 0) {
        return sp_fault_set(
            o->fault, SP_STATE_FORMAT,
            "%s/FORMAT was not written by samepage, or is damaged; use " SP_ANOTHER_DIRECTORY,
            o->directory);
    }
    if ((size_t)(end + 1 - stored.data) != line || memcmp(stored.data, FORMAT_LINE, line) != 0) {
        return sp_fault_set(
            o->fault, SP_STATE_FORMAT,
            "%s has state format %.*s, this samepage uses %.*s; run the version that wrote "
            "it, or use " SP_ANOTHER_DIRECTORY,
            o->directory, (int)(end - stored.data - (long)word), stored.data + word,
            (int)(line - 1 - word), &FORMAT_LINE[word]);
    }
    return SP_OK;
}

static enum sp_err compare_format(const struct opening *o, struct sp_view stored,
                                  const char *fingerprint)
{
    enum sp_err err = check_version(o, stored);
    if (err != SP_OK)
        return err;
    size_t line = strlen(FORMAT_LINE);
    struct sp_buf text = {0};
    struct sp_view lines = sp_view(stored.data + line, stored.len - line);
    differences(lines, sp_view_str(fingerprint), true, false, &text);
    differences(sp_view_str(fingerprint), lines, false, true, &text);
    if (!text.len)
        return SP_OK;
    sp_fault_set(o->fault, SP_STATE_FORMAT,
                 "%s was made with another configuration: %.*s; use the same setting, or another "
                 "--state directory",
                 o->directory, (int)text.len, text.data);
    sp_buf_done(&text);
    return SP_STATE_FORMAT;
}

/* The names of the folders that lead to the state reach the disk before FORMAT does. Otherwise a
 * loss of power could remove the state and keep the outputs that were written after it. */
static enum sp_err write_format(const struct opening *o, const char *fingerprint)
{
    struct sp_buf from = {0}, to = {0}, text = {0};
    enum sp_err err = SP_OK;
    sp_buf_put_str(&text, FORMAT_LINE);
    sp_buf_put_str(&text, fingerprint);
    sp_names_join(&from, o->directory, "FORMAT.new");
    sp_names_join(&to, o->directory, "FORMAT");
    int dir = open(o->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int fd = open(from.data, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (!sp_names_sync(o->directory, SP_NAMES_ALL) || fd < 0 ||
        write(fd, text.data, text.len) != (ssize_t)text.len || fsync(fd) != 0 ||
        rename(from.data, to.data) != 0 || dir < 0 || fsync(dir) != 0)
        err = failed(o, "write", "FORMAT");
    if (fd >= 0)
        close(fd);
    if (dir >= 0)
        close(dir);
    sp_buf_done(&from);
    sp_buf_done(&to);
    sp_buf_done(&text);
    return err;
}

static enum sp_err check_format(const struct opening *o, const char *fingerprint)
{
    struct sp_buf buf = {0}, text = {0};
    enum sp_err err = SP_OK;
    int fd = open(sp_names_join(&buf, o->directory, "FORMAT"), O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        err = errno == ENOENT ? write_format(o, fingerprint) : failed(o, "read", "FORMAT");
        goto out;
    }
    char *at = sp_buf_reserve(&text, FORMAT_MAX_BYTES);
    ssize_t n = read(fd, at, FORMAT_MAX_BYTES);
    if (n < 0)
        err = failed(o, "read", "FORMAT");
    else
        err = compare_format(o, sp_view(at, (size_t)n), fingerprint);
    close(fd);
out:
    sp_buf_done(&buf);
    sp_buf_done(&text);
    return err;
}

enum sp_err sp_db_read_fingerprint(const char *directory, struct sp_buf *out,
                                   struct sp_fault *fault)
{
    struct opening o = {directory, fault};
    struct sp_buf buf = {0}, stored = {0};
    enum sp_err err = SP_OK;
    int fd = open(sp_names_join(&buf, directory, "FORMAT"), O_RDONLY | O_CLOEXEC);
    char *at = sp_buf_reserve(&stored, FORMAT_MAX_BYTES);
    ssize_t n = fd < 0 ? -1 : read(fd, at, FORMAT_MAX_BYTES);
    if (n < 0) {
        err = sp_fault_set(
            fault, SP_STORE,
            "cannot read %s/FORMAT: %s; name the --state directory of a `samepage run`", directory,
            strerror(errno));
    } else {
        err = check_version(&o, sp_view(at, (size_t)n));
    }
    if (err == SP_OK)
        sp_buf_put(out, at + strlen(FORMAT_LINE), (size_t)n - strlen(FORMAT_LINE));
    if (fd >= 0)
        close(fd);
    sp_buf_done(&buf);
    sp_buf_done(&stored);
    return err;
}

/* RocksDB appends to its files or creates new ones, so names and sizes show a change. Its text log
 * does not count. */
uint64_t sp_db_files(const char *directory)
{
    struct sp_buf buf = {0};
    uint64_t sum = 0;
    DIR *dir = opendir(sp_names_join(&buf, directory, DATABASE));
    for (struct dirent *e = dir ? readdir(dir) : NULL; e; e = readdir(dir)) {
        struct stat st;
        if (strncmp(e->d_name, "LOG", 3) != 0 && fstatat(dirfd(dir), e->d_name, &st, 0) == 0)
            sum += sp_mix64(sp_hash64(e->d_name, strlen(e->d_name)) ^ (uint64_t)st.st_size);
    }
    if (dir)
        closedir(dir);
    sp_buf_done(&buf);
    return sum;
}

/* ---- wiping ---- */

static int remove_one(const char *file, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st, (void)type, (void)ftw;
    return remove(file);
}

static void remove_wiped(const char *directory)
{
    struct sp_buf buf = {0};
    nftw(sp_names_join(&buf, directory, WIPED), remove_one, 32, FTW_DEPTH | FTW_PHYS);
    sp_buf_done(&buf);
}

/* The database is renamed first, then its files are removed; FORMAT stays. A kill in between must
 * not leave files without FORMAT, because such a directory would be refused as not ours. */
enum sp_err sp_db_wipe(const char *directory, struct sp_fault *fault)
{
    struct opening o = {directory, fault};
    struct sp_buf from = {0}, to = {0};
    remove_wiped(directory);
    sp_names_join(&from, directory, DATABASE);
    sp_names_join(&to, directory, WIPED);
    bool there = rename(from.data, to.data) == 0;
    enum sp_err err = SP_OK;
    if (there ? !sp_names_sync(to.data, SP_NAMES_LAST) : errno != ENOENT)
        err = failed(&o, "wipe", DATABASE);
    else
        remove_wiped(directory);
    sp_buf_done(&from);
    sp_buf_done(&to);
    return err;
}

enum sp_err sp_db_remove(const char *directory, struct sp_fault *fault)
{
    struct opening o = {directory, fault};
    struct sp_buf file = {0};
    enum sp_err err = sp_db_wipe(directory, fault);
    if (err == SP_OK && remove(sp_names_join(&file, directory, "FORMAT")) != 0 && errno != ENOENT)
        err = failed(&o, "remove", "FORMAT");
    sp_buf_done(&file);
    return err;
}

enum sp_err sp_directory_open(const char *directory, const char *fingerprint, int *ret_lock,
                              struct sp_fault *fault)
{
    struct opening o = {directory, fault};
    int fd = -1;
    enum sp_err err = create(&o);
    if (!err)
        err = refuse_foreign(&o);
    if (!err)
        err = lock(&o, &fd);
    if (!err)
        err = check_format(&o, fingerprint);
    if (!err)
        remove_wiped(directory); /* the remains of a wipe that was killed */
    if (!err)
        *ret_lock = fd;
    else if (fd >= 0)
        close(fd);
    return err;
}
