/* See names.h. Links are resolved first: what must reach the disk is the name of the file
 * itself. */
#include "base/names.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"

static bool sync_folder(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return true;
    bool good = fsync(fd) == 0 || errno == EINVAL || errno == EROFS || errno == ENOTSUP;
    int error = errno;
    close(fd);
    errno = error;
    return good;
}

bool sp_names_sync(const char *path, enum sp_names names)
{
    char whole[PATH_MAX];
    bool good = realpath(path, whole) != NULL, more = true;
    while (good && more) {
        char *slash = strrchr(whole, '/');
        more = names == SP_NAMES_ALL && slash > whole;
        slash[slash == whole] = 0; /* the root folder's name is its slash */
        good = sync_folder(whole);
    }
    return good;
}

const char *sp_names_join(struct sp_buf *buf, const char *directory, const char *name)
{
    sp_buf_reset(buf);
    sp_buf_put_str(buf, directory);
    sp_buf_put_str(buf, "/");
    sp_buf_put(buf, name, strlen(name) + 1);
    return buf->data;
}

bool sp_names_special(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && !S_ISREG(st.st_mode);
}

bool sp_names_follow_file(FTS *tree, FTSENT *entry)
{
    struct stat st;
    return entry->fts_info == FTS_SL && stat(entry->fts_accpath, &st) == 0 && S_ISREG(st.st_mode) &&
           fts_set(tree, entry, FTS_FOLLOW) == 0;
}

bool sp_names_end_with(const char *name, const char *ending)
{
    size_t n = strlen(name), m = strlen(ending);
    return n >= m && strcmp(name + n - m, ending) == 0;
}

static bool has_ending(const char *name, size_t len, const char *ending)
{
    size_t n = strlen(ending);
    return len > n && strncasecmp(name + len - n, ending, n) == 0;
}

bool sp_names_have_type(const char *name, const char *ending)
{
    size_t len = strlen(name);
    if (has_ending(name, len, ".gz"))
        len -= strlen(".gz");
    else if (has_ending(name, len, ".zst"))
        len -= strlen(".zst");
    return has_ending(name, len, ending);
}
