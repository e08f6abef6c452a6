/* See kept.h. Each text is a head, with its sizes, and a Zstandard frame. */
#include "serve/kept.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "base/mem.h"

enum { LEVEL = 1 };

struct head {
    uint32_t stored;
    uint32_t text;
};

struct sp_kept {
    int fd;
    uint64_t len;
    uint64_t most_bytes;
    ZSTD_CCtx *zstd;
    struct sp_buf frame;
};

enum sp_err sp_kept_open(uint64_t most_bytes, struct sp_kept **ret_kept, struct sp_fault *fault)
{
    const char *parent = getenv("TMPDIR");
    parent = parent && *parent ? parent : "/tmp";
    int fd = open(parent, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd < 0)
        return sp_fault_set(fault, SP_IO,
                            "cannot make a file in %s: %s; set TMPDIR to a directory that can be "
                            "written to",
                            parent, strerror(errno));
    struct sp_kept *s = sp_calloc(1, sizeof *s);
    s->fd = fd;
    s->most_bytes = most_bytes;
    s->zstd = ZSTD_createCCtx();
    *ret_kept = s;
    return SP_OK;
}

void sp_kept_close(struct sp_kept *s)
{
    if (!s)
        return;
    close(s->fd);
    ZSTD_freeCCtx(s->zstd);
    sp_buf_done(&s->frame);
    sp_free(s);
}

enum sp_err sp_kept_put(struct sp_kept *s, struct sp_view text, uint64_t *ret_place)
{
    size_t room = ZSTD_compressBound(text.len);
    struct head head = {.text = (uint32_t)text.len};
    sp_buf_reset(&s->frame);
    char *at = sp_buf_reserve(&s->frame, sizeof head + room);
    size_t n = ZSTD_compressCCtx(s->zstd, at + sizeof head, room, text.len ? text.data : "",
                                 text.len, LEVEL);
    if (ZSTD_isError(n) || text.len > UINT32_MAX)
        return SP_IO;
    head.stored = (uint32_t)n;
    memcpy(at, &head, sizeof head);
    s->frame.len = sizeof head + n;
    if (s->len + s->frame.len > s->most_bytes)
        return SP_TOO_LARGE;
    if (pwrite(s->fd, s->frame.data, s->frame.len, (off_t)s->len) != (ssize_t)s->frame.len)
        return SP_IO;
    *ret_place = s->len;
    s->len += s->frame.len;
    return SP_OK;
}

enum sp_err sp_kept_get(const struct sp_kept *s, uint64_t place, struct sp_buf *out)
{
    struct head head;
    struct sp_buf frame = {0};
    if (pread(s->fd, &head, sizeof head, (off_t)place) != (ssize_t)sizeof head)
        return SP_IO;
    char *to = sp_buf_reserve(out, (size_t)head.text + 1);
    char *from = sp_buf_reserve(&frame, head.stored);
    ssize_t got = pread(s->fd, from, head.stored, (off_t)(place + sizeof head));
    bool whole = got == (ssize_t)head.stored &&
                 ZSTD_decompress(to, head.text, from, head.stored) == head.text;
    out->len += whole ? head.text : 0;
    sp_buf_done(&frame);
    return whole ? SP_OK : SP_IO;
}
