/* Whether two names are one path, and whether a file is inside a directory, by whatever name. */
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/mem.h"
#include "cli/cli.h"

enum { LINKS_MOST = 40 };

static char *joined(const char *dir, const char *name)
{
    struct sp_buf path = {0};
    sp_buf_put_str(&path, dir);
    sp_buf_put_u8(&path, '/');
    sp_buf_put_str(&path, name);
    char *text = sp_view_dup(sp_buf_view(&path));
    sp_buf_done(&path);
    return text;
}

static char *resolve(const char *name, unsigned links);

/* The same for a name that leads to no file yet, perhaps by a link. */
static char *resolve_missing(const char *name, unsigned links)
{
    char target[PATH_MAX], *path = NULL;
    size_t len = strlen(name);
    while (len > 1 && name[len - 1] == '/')
        len--;
    char *whole = sp_view_dup(sp_view(name, len)), *slash = strrchr(whole, '/');
    ssize_t n = readlink(whole, target, sizeof target - 1);
    const char *last = slash ? slash + 1 : whole, *dir = slash == whole ? "/" : slash ? whole : ".";
    if (slash)
        *slash = 0; /* `whole` is the directory from here on */
    if (n > 0) {
        target[n] = 0;
        char *next =
            target[0] == '/' ? sp_strdup(target) : joined(slash == whole ? "" : dir, target);
        path = resolve(next, links + 1);
        sp_free(next);
    } else {
        char *parent = resolve(dir, links + 1);
        char *cut = strcmp(last, "..") == 0 ? strrchr(parent, '/') : NULL;
        if (cut)
            *cut = 0;
        path = cut || strcmp(last, ".") == 0 ? sp_strdup(parent) : joined(parent, last);
        sp_free(parent);
    }
    sp_free(whole);
    return path;
}

/* An absolute path without links. Too many links or folders that do not exist: the name itself. */
static char *resolve(const char *name, unsigned links)
{
    char real[PATH_MAX];
    if (realpath(name, real))
        return sp_strdup(real);
    return links < LINKS_MOST ? resolve_missing(name, links) : sp_strdup(name);
}

static bool has_file(const char *dir, const struct stat *file)
{
    bool found = false;
    DIR *list = opendir(dir);
    for (struct dirent *e; list && !found && (e = readdir(list));) {
        struct stat st;
        found = fstatat(dirfd(list), e->d_name, &st, 0) == 0 && st.st_dev == file->st_dev &&
                st.st_ino == file->st_ino;
    }
    if (list)
        closedir(list);
    return found;
}

bool sp_cli_is_one_path(const char *a, const char *b)
{
    char *first = resolve(a, 0), *second = resolve(b, 0);
    bool one = strcmp(first, second) == 0;
    sp_free(first);
    sp_free(second);
    return one;
}

bool sp_cli_is_inside(const char *name, const char *dir, int standard)
{
    struct stat file;
    bool stream = strcmp(name, "-") == 0;
    if ((stream ? fstat(standard, &file) : stat(name, &file)) == 0 && S_ISREG(file.st_mode) &&
        (stream || file.st_nlink > 1) && has_file(dir, &file))
        return true;
    if (stream)
        return false;
    char *path = resolve(name, 0), *folder = resolve(dir, 0);
    size_t len = strlen(folder);
    while (len > 0 && folder[len - 1] == '/')
        len--;
    bool inside = strncmp(path, folder, len) == 0 && (path[len] == '/' || !path[len]);
    sp_free(path);
    sp_free(folder);
    return inside;
}
