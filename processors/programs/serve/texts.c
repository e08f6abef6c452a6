/* See texts.h. 64 bytes a page. */
#include "serve/texts.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/url.h"
#include "input/input.h"

struct place {
    struct sp_id page; /* key of the map: first */
    uint64_t offset;
    int64_t fetch_time_ms;
    uint32_t file;
};

struct sp_texts {
    const char *const *files;
    size_t count;
    int *descriptors;
    pthread_t thread;
    pthread_rwlock_t lock; /* places, ready */
    struct sp_map places;
    bool ready;
    bool ending; /* atomic */
};

/* ---- the thread */

struct reading {
    struct sp_texts *x;
    struct sp_buf url;
    uint32_t file;
};

static void note(void *arg, const struct sp_input_item *item)
{
    struct reading *r = arg;
    const struct sp_page_record *page = &item->page;
    if (item->err != SP_OK || page->http_status < 200 || page->http_status >= 300 ||
        page->content.len == 0)
        return;
    sp_buf_reset(&r->url);
    if (sp_url_canonical(page->url, &r->url) != SP_OK)
        return;
    struct sp_id id = sp_hash128(r->url.data, r->url.len);
    pthread_rwlock_wrlock(&r->x->lock);
    struct place *p = sp_map_get(&r->x->places, id);
    if (!p) {
        p = sp_calloc(1, sizeof *p);
        p->page = id;
        p->fetch_time_ms = page->fetch_time_ms;
        sp_map_add(&r->x->places, p);
    }
    if (page->fetch_time_ms >= p->fetch_time_ms) {
        p->fetch_time_ms = page->fetch_time_ms;
        p->offset = item->offset;
        p->file = r->file;
    }
    pthread_rwlock_unlock(&r->x->lock);
}

static void read_file(struct reading *r)
{
    struct sp_input_options options;
    struct sp_input *input = NULL;
    struct sp_chunk *chunk = NULL;
    struct sp_fault ignored; /* what cannot be read has no texts */
    sp_input_options_default(&options);
    if (sp_input_open(&r->x->files[r->file], 1, &options, &input, &ignored) != SP_OK)
        return;
    struct sp_parser *parser = sp_parser_new(&options);
    while (!__atomic_load_n(&r->x->ending, __ATOMIC_RELAXED) &&
           sp_input_next_chunk(input, &chunk, &ignored) == SP_OK) {
        sp_chunk_parse(parser, chunk, note, r);
        sp_chunk_free(chunk);
    }
    sp_parser_free(parser);
    sp_input_close(input);
}

static void *work(void *arg)
{
    struct sp_texts *x = arg;
    struct reading r = {.x = x};
    for (r.file = 0; r.file < x->count; r.file++)
        read_file(&r);
    sp_buf_done(&r.url);
    pthread_rwlock_wrlock(&x->lock);
    x->ready = true;
    pthread_rwlock_unlock(&x->lock);
    return NULL;
}

/* ---- start and stop */

static enum sp_err open_file(const char *name, int *ret_fd, struct sp_fault *fault)
{
    char first = 0;
    enum sp_err err = SP_OK;
    int fd = open(name, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || pread(fd, &first, 1, 0) < 0)
        err = sp_fault_set(fault, SP_IO, "--pages %s: cannot be read: %s", name, strerror(errno));
    else if (first != '{')
        err = sp_fault_set(fault, SP_INVALID,
                           "--pages %s: does not begin with a JSON object; only JSONL that is not "
                           "compressed can be looked up in",
                           name);
    if (err == SP_OK)
        *ret_fd = fd;
    else if (fd >= 0)
        close(fd);
    return err;
}

static void free_all(struct sp_texts *x)
{
    for (size_t i = 0; i < x->count; i++)
        if (x->descriptors[i] >= 0)
            close(x->descriptors[i]);
    for (size_t i = 0; i < x->places.cap; i++)
        sp_free(x->places.cells[i].object);
    sp_map_done(&x->places);
    pthread_rwlock_destroy(&x->lock);
    sp_free(x->descriptors);
    sp_free(x);
}

enum sp_err sp_texts_start(const char *const *files, size_t count, struct sp_texts **ret_texts,
                           struct sp_fault *fault)
{
    struct sp_texts *x = sp_calloc(1, sizeof *x);
    enum sp_err err = SP_OK;
    x->files = files;
    x->count = count;
    x->descriptors = sp_alloc(count * sizeof *x->descriptors);
    memset(x->descriptors, 0xff, count * sizeof *x->descriptors);
    pthread_rwlock_init(&x->lock, NULL);
    for (size_t i = 0; i < count && err == SP_OK; i++)
        err = open_file(files[i], &x->descriptors[i], fault);
    if (err == SP_OK && pthread_create(&x->thread, NULL, work, x) != 0)
        err = sp_fault_set(fault, SP_IO, "no thread can be started");
    if (err == SP_OK)
        *ret_texts = x;
    else
        free_all(x);
    return err;
}

void sp_texts_stop(struct sp_texts *x)
{
    if (!x)
        return;
    __atomic_store_n(&x->ending, true, __ATOMIC_RELAXED);
    pthread_join(x->thread, NULL);
    free_all(x);
}

/* ---- look-up */

enum { BLOCK = 1 << 16, LINE_MAX_BYTES = 64 << 20 };

static enum sp_err read_line(int fd, uint64_t offset, struct sp_buf *out)
{
    size_t start = out->len;
    while (out->len - start < LINE_MAX_BYTES) {
        char *at = sp_buf_reserve(out, BLOCK);
        ssize_t n = pread(fd, at, BLOCK, (off_t)(offset + (out->len - start)));
        if (n < 0)
            return SP_IO;
        const char *newline = memchr(at, '\n', (size_t)n);
        out->len += newline ? (size_t)(newline - at) : (size_t)n;
        if (newline || n == 0)
            return SP_OK;
    }
    return SP_TOO_LARGE;
}

enum sp_err sp_texts_line(struct sp_texts *x, struct sp_id page, struct sp_buf *out)
{
    struct place place = {.file = 0};
    pthread_rwlock_rdlock(&x->lock);
    const struct place *found = sp_map_get(&x->places, page);
    if (found)
        place = *found;
    bool ready = x->ready;
    pthread_rwlock_unlock(&x->lock);
    if (!found)
        return ready ? SP_NOT_FOUND : SP_BUSY;
    return read_line(x->descriptors[place.file], place.offset, out);
}
