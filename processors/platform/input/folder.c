/* See folder.h. A file's length is determined when it is opened. If less can be read later,
 * newlines replace what is missing. */
#include "input/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <stdio.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/mem.h"
#include "base/names.h"
#include "input/input.h"

struct sp_folder {
    char **paths;
    size_t count;
    size_t cap;
    size_t next;
    uint64_t total;
    uint64_t read_bytes;
    struct sp_buf pending; /* [pending_at, len): returned before more of the file is read */
    size_t pending_at;
    int fd;        /* of the current file; -1: none */
    uint64_t left; /* bytes left of it */
};

const char *sp_input_text_type(const char *name)
{
    static const struct {
        const char *end;
        const char *type;
    } types[] = {
        {"txt", "text/plain"},
        {"text", "text/plain"},
        {"md", "text/markdown"},
        {"markdown", "text/markdown"},
        {"html", "text/html"},
        {"htm", "text/html"},
        {"xhtml", "application/xhtml+xml"},
    };
    const char *dot = strrchr(name, '.');
    for (size_t i = 0; dot && i < sizeof types / sizeof *types; i++)
        if (strcasecmp(dot + 1, types[i].end) == 0)
            return types[i].type;
    return NULL;
}

static int by_name(const FTSENT **a, const FTSENT **b)
{
    return strcmp((*a)->fts_name, (*b)->fts_name);
}

static enum sp_err walk(struct sp_folder *f, const char *path, struct sp_fault *fault)
{
    char *copy = sp_strdup(path);
    char *const roots[] = {copy, NULL};
    FTS *tree = fts_open(roots, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR, by_name);
    enum sp_err err = SP_OK;
    for (FTSENT *e; tree && (e = fts_read(tree));) {
        if (e->fts_level > 0 && e->fts_name[0] == '.') {
            fts_set(tree, e, FTS_SKIP);
            continue;
        }
        if (sp_names_follow_file(tree, e))
            continue;
        if (e->fts_info == FTS_DNR || e->fts_info == FTS_ERR || e->fts_info == FTS_NS)
            err = sp_fault_set(fault, SP_IO, "%s: cannot be read: %s", e->fts_path,
                               strerror(e->fts_errno));
        if (e->fts_info != FTS_F || !sp_input_text_type(e->fts_name))
            continue;
        if (access(e->fts_path, R_OK) != 0) /* better said now than in the middle of the folder */
            err =
                sp_fault_set(fault, SP_IO, "%s: cannot be read: %s", e->fts_path, strerror(errno));
        sp_grow(&f->paths, &f->cap, f->count + 1);
        f->paths[f->count++] = sp_strdup(e->fts_path);
        f->total += (uint64_t)e->fts_statp->st_size;
    }
    if (tree)
        fts_close(tree);
    sp_free(copy);
    return err;
}

enum sp_err sp_folder_open(const char *path, struct sp_folder **ret_folder, struct sp_fault *fault)
{
    struct sp_folder *f = sp_calloc(1, sizeof *f);
    f->fd = -1;
    enum sp_err err = walk(f, path, fault);
    if (err == SP_OK && f->count == 0)
        err = sp_fault_set(fault, SP_INVALID,
                           "%s: the folder holds nothing that can be read: no .jsonl, .json, .csv, "
                           ".tsv, .warc, .wet, .arc, .avro, .xml, .txt, .md or .html file",
                           path);
    if (err != SP_OK) {
        sp_folder_close(f);
        return err;
    }
    *ret_folder = f;
    return SP_OK;
}

void sp_folder_close(struct sp_folder *f)
{
    if (!f)
        return;
    if (f->fd >= 0)
        close(f->fd);
    for (size_t i = 0; i < f->count; i++)
        sp_free(f->paths[i]);
    sp_free(f->paths);
    sp_buf_done(&f->pending);
    sp_free(f);
}

uint64_t sp_folder_total_bytes(const struct sp_folder *f)
{
    return f->total;
}

uint64_t sp_folder_read_bytes(const struct sp_folder *f)
{
    return f->read_bytes;
}

static enum sp_err open_file(struct sp_folder *f)
{
    struct stat st;
    char length[64];
    const char *path = f->paths[f->next++];
    f->fd = open(path, O_RDONLY | O_CLOEXEC);
    if (f->fd < 0 || fstat(f->fd, &st) != 0)
        return SP_IO;
    f->left = (uint64_t)st.st_size;
    sp_buf_reset(&f->pending);
    f->pending_at = 0;
    sp_buf_put_str(&f->pending, "WARC/1.0\r\nWARC-Type: resource\r\nWARC-Target-URI: ");
    sp_input_put_doc(&f->pending, sp_view_str(path));
    sp_buf_put_str(&f->pending, "\r\nContent-Type: ");
    sp_buf_put_str(&f->pending, sp_input_text_type(path));
    snprintf(length, sizeof length, "\r\nContent-Length: %llu\r\n\r\n",
             (unsigned long long)f->left);
    sp_buf_put_str(&f->pending, length);
    return SP_OK;
}

static enum sp_err read_file(struct sp_folder *f, char *to, size_t cap, size_t *ret_len)
{
    size_t want = f->left < cap ? (size_t)f->left : cap;
    ssize_t n = want ? read(f->fd, to, want) : 0;
    if (n < 0)
        return errno == EINTR ? SP_OK : SP_IO;
    if (n == 0 && want > 0) { /* shorter than when it was opened */
        memset(to, '\n', want);
        n = (ssize_t)want;
    }
    f->left -= (uint64_t)n;
    f->read_bytes += (uint64_t)n;
    *ret_len = (size_t)n;
    if (f->left > 0)
        return SP_OK;
    close(f->fd);
    f->fd = -1;
    sp_buf_reset(&f->pending);
    f->pending_at = 0;
    sp_buf_put_str(&f->pending, "\r\n\r\n");
    return SP_OK;
}

enum sp_err sp_folder_read(struct sp_folder *f, char *to, size_t cap, size_t *ret_len)
{
    *ret_len = 0;
    for (;;) {
        size_t there = f->pending.len - f->pending_at;
        if (there > 0) {
            *ret_len = there < cap ? there : cap;
            memcpy(to, f->pending.data + f->pending_at, *ret_len);
            f->pending_at += *ret_len;
            return SP_OK;
        }
        enum sp_err err = SP_OK;
        if (f->fd >= 0)
            err = read_file(f, to, cap, ret_len);
        else if (f->next == f->count)
            return SP_OK;
        else
            err = open_file(f);
        if (err != SP_OK || *ret_len > 0)
            return err;
    }
}
