/* See texts.h. A page takes 72 bytes. */
#include "serve/texts.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/thread.h"
#include "base/url.h"
#include "input/input.h"
#include "serve/kept.h"

struct place {
    struct sp_id page; /* key of the map: first */
    uint64_t offset;   /* in its file, or in the kept texts */
    int64_t fetch_time_ms;
    uint32_t file;
    bool cut;
    bool lost; /* there was no room for its text */
};

struct sp_texts {
    const char *const *files;
    size_t count;
    /* Open files, for reading lines; -1: the file's texts are in the kept texts. */
    int *descriptors;
    const struct sp_text_options *options;
    struct sp_kept *kept; /* NULL: no file needs it */
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
    struct sp_text *text;
    struct sp_buf plain;
    uint32_t file;
};

/* Returns the page's place, which is made if there is none. Called with the lock held. */
static struct place *place_of(struct sp_texts *x, struct sp_id id, int64_t fetch_time_ms)
{
    struct place *p = sp_map_get(&x->places, id);
    if (p)
        return p;
    p = sp_calloc(1, sizeof *p);
    p->page = id;
    p->fetch_time_ms = fetch_time_ms;
    sp_map_add(&x->places, p);
    return p;
}

/* Adds the text to the kept texts. */
static void keep_text(struct reading *r, const struct sp_page_record *page, struct place *to)
{
    sp_buf_reset(&r->plain);
    sp_text_extract(r->text, page->content_type, page->content, page->content_is_utf8, &r->plain);
    to->cut = r->plain.len > SP_TEXTS_SHOWN_BYTES;
    struct sp_view shown =
        sp_view(r->plain.data, to->cut ? (size_t)SP_TEXTS_SHOWN_BYTES : r->plain.len);
    to->lost = sp_kept_put(r->x->kept, shown, &to->offset) != SP_OK;
}

static void note(void *arg, const struct sp_input_item *item)
{
    struct reading *r = arg;
    const struct sp_page_record *page = &item->page;
    struct place place = {
        .fetch_time_ms = page->fetch_time_ms, .file = r->file, .offset = item->offset};
    if (item->err != SP_OK || !sp_page_record_succeeded(page) || page->content.len == 0)
        return;
    if (sp_url_page(page->url, &r->url, &place.page) != SP_OK)
        return;
    if (r->x->descriptors[r->file] < 0)
        keep_text(r, page, &place);
    pthread_rwlock_wrlock(&r->x->lock);
    struct place *p = place_of(r->x, place.page, place.fetch_time_ms);
    if (page->fetch_time_ms >= p->fetch_time_ms)
        *p = place;
    pthread_rwlock_unlock(&r->x->lock);
}

static void read_file(struct reading *r)
{
    struct sp_input_options options;
    struct sp_input *input = NULL;
    struct sp_chunk *chunk = NULL;
    struct sp_fault ignored; /* a file that cannot be read has no texts */
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
    struct reading r = {.x = x, .text = sp_text_new(x->options)};
    sp_thread_background();
    for (r.file = 0; r.file < x->count; r.file++)
        read_file(&r);
    sp_buf_done(&r.url);
    sp_buf_done(&r.plain);
    sp_text_free(r.text);
    pthread_rwlock_wrlock(&x->lock);
    x->ready = true;
    pthread_rwlock_unlock(&x->lock);
    return NULL;
}

/* ---- start and stop */

static enum sp_err unreadable(const char *name, const char *why, struct sp_fault *fault)
{
    return sp_fault_set(fault, SP_IO, "--pages %s: cannot be read: %s", name, why);
}

/* Checks that the input exists and can be read; its content is checked later. */
static enum sp_err check_input(const char *name, struct sp_fault *fault)
{
    struct sp_input_options options;
    struct sp_input *input = NULL;
    struct sp_fault why;
    sp_input_options_default(&options);
    enum sp_err err = sp_input_open(&name, 1, &options, &input, &why);
    sp_input_close(input);
    return err == SP_OK ? SP_OK : sp_fault_set(fault, err, "--pages %s", why.text);
}

/* *ret_fd is -1 if the file's texts go into the kept texts. */
static enum sp_err open_file(const char *name, int *ret_fd, struct sp_fault *fault)
{
    char first = 0;
    struct stat is;
    int fd = open(name, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &is) != 0)
        return unreadable(name, strerror(errno), fault);
    ssize_t got = S_ISREG(is.st_mode) ? pread(fd, &first, 1, 0) : 0;
    bool empty = S_ISREG(is.st_mode) && got == 0;
    if (got == 1 && first == '{') {
        *ret_fd = fd;
        return SP_OK;
    }
    close(fd);
    if (empty || (!S_ISREG(is.st_mode) && !S_ISDIR(is.st_mode)))
        return unreadable(name, empty ? "it is empty" : "it is neither a file nor a directory",
                          fault);
    return check_input(name, fault);
}

/* Opens all files, and the kept texts if one of the files needs them. */
static enum sp_err open_files(struct sp_texts *x, struct sp_fault *fault)
{
    enum sp_err err = SP_OK;
    bool any_kept = false;
    for (size_t i = 0; i < x->count && err == SP_OK; i++) {
        err = open_file(x->files[i], &x->descriptors[i], fault);
        any_kept |= x->descriptors[i] < 0;
    }
    return err == SP_OK && any_kept
               ? sp_kept_open((uint64_t)SP_TEXTS_KEPT_GIB << 30, &x->kept, fault)
               : err;
}

static void free_all(struct sp_texts *x)
{
    for (size_t i = 0; i < x->count; i++)
        if (x->descriptors[i] >= 0)
            close(x->descriptors[i]);
    sp_map_free_objects(&x->places);
    pthread_rwlock_destroy(&x->lock);
    sp_kept_close(x->kept);
    sp_free(x->descriptors);
    sp_free(x);
}

enum sp_err sp_texts_start(const char *const *files, size_t count,
                           const struct sp_text_options *text, struct sp_texts **ret_texts,
                           struct sp_fault *fault)
{
    struct sp_texts *x = sp_calloc(1, sizeof *x);
    x->options = text;
    x->files = files;
    x->count = count;
    x->descriptors = sp_alloc(count * sizeof *x->descriptors);
    memset(x->descriptors, 0xff, count * sizeof *x->descriptors);
    pthread_rwlock_init(&x->lock, NULL);
    enum sp_err err = open_files(x, fault);
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

enum sp_err sp_texts_get(struct sp_texts *x, struct sp_id page, struct sp_buf *out,
                         struct sp_found_text *ret_found)
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
    int fd = x->descriptors[place.file];
    *ret_found = (struct sp_found_text){fd >= 0, place.cut, place.fetch_time_ms};
    if (place.lost)
        return SP_TOO_LARGE;
    return fd >= 0 ? read_line(fd, place.offset, out) : sp_kept_get(x->kept, place.offset, out);
}
