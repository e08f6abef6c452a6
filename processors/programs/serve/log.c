/* See log.h. Events are numbered in a ring. Each refers to the previous event of its page, so a
 * page's history is a list that ends where the ring begins. */
#include "serve/log.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/service.h"
#include "base/url.h"
#include "input/input.h"

enum { BLOCK = 1 << 18, LINE_MAX_BYTES = 256 << 10, POLL_MS = 200 };

struct event {
    uint64_t offset;
    uint64_t before; /* the page's event before this one; 0: none */
    uint32_t file;
    uint32_t len;
};

struct page {
    struct sp_id id; /* key of the map: first */
    uint64_t last;   /* its latest event */
};

struct file {
    int fd;
    uint64_t offset;    /* where reading continues */
    struct sp_buf part; /* the start of an incomplete line */
    bool passing;       /* skipping a line that is too long */
};

struct sp_log {
    struct file *files;
    size_t count;
    struct sp_live *live;
    struct sp_parser *parser; /* used by the thread only */
    struct sp_buf url;
    struct sp_service service; /* its lock: of all fields below */
    struct sp_map pages;
    struct event *events; /* event n at n % SP_LOG_EVENTS */
    size_t cap;
    uint64_t next; /* the number of the next event; the first has 1 */
    bool ready;
};

/* ---- reading */

static void note(struct sp_log *l, uint32_t file, uint64_t offset, struct sp_view line)
{
    struct sp_page_record record;
    const char *why;
    struct sp_id id;
    if (sp_parser_json(l->parser, line, &record, &why) != SP_OK ||
        sp_url_page(record.url, &l->url, &id) != SP_OK)
        return;
    pthread_mutex_lock(&l->service.lock);
    struct page *p = sp_map_get(&l->pages, id);
    if (!p) {
        p = sp_calloc(1, sizeof *p);
        p->id = id;
        sp_map_add(&l->pages, p);
    }
    if (l->next < SP_LOG_EVENTS)
        sp_grow(&l->events, &l->cap, (size_t)l->next + 1);
    l->events[l->next % SP_LOG_EVENTS] = (struct event){offset, p->last, file, (uint32_t)line.len};
    p->last = l->next++;
    bool fresh = l->ready;
    pthread_mutex_unlock(&l->service.lock);
    if (fresh)
        sp_live_put(l->live, line);
}

/* Handles all complete lines of f->part, which begins at f->offset. */
static void take_lines(struct sp_log *l, uint32_t number, struct file *f)
{
    size_t at = 0;
    for (const char *end; (end = memchr(f->part.data + at, '\n', f->part.len - at));
         at = (size_t)(end - f->part.data) + 1) {
        size_t len = (size_t)(end - f->part.data) - at;
        if (!f->passing && len > 0)
            note(l, number, f->offset + at, sp_view(f->part.data + at, len));
        f->passing = false;
    }
    if (f->part.len - at > LINE_MAX_BYTES) { /* too long for a status event */
        at = f->part.len;
        f->passing = true;
    }
    memmove(f->part.data, f->part.data + at, f->part.len - at);
    f->part.len -= at;
    f->offset += at;
}

/* Reads what has been appended since the last time. */
static void read_file(struct sp_log *l, uint32_t number)
{
    struct file *f = &l->files[number];
    for (ssize_t n = 1; n > 0 && !sp_service_ending(&l->service);) {
        char *to = sp_buf_reserve(&f->part, BLOCK);
        n = pread(f->fd, to, BLOCK, (off_t)(f->offset + f->part.len));
        f->part.len += n > 0 ? (size_t)n : 0;
        if (n > 0)
            take_lines(l, number, f);
    }
}

/* Returns false when the thread must end. */
static bool pause_a_moment(struct sp_log *l)
{
    pthread_mutex_lock(&l->service.lock);
    l->ready = true;
    bool more = sp_service_pause(&l->service, POLL_MS);
    pthread_mutex_unlock(&l->service.lock);
    return more;
}

static void *follow(void *arg)
{
    struct sp_log *l = arg;
    do
        for (uint32_t i = 0; i < l->count; i++)
            read_file(l, i);
    while (pause_a_moment(l));
    return NULL;
}

/* ---- start and stop */

static void free_all(struct sp_log *l)
{
    sp_service_done(&l->service);
    for (size_t i = 0; i < l->count; i++) {
        if (l->files[i].fd >= 0)
            close(l->files[i].fd);
        sp_buf_done(&l->files[i].part);
    }
    sp_map_free_objects(&l->pages);
    sp_parser_free(l->parser);
    sp_buf_done(&l->url);
    sp_free(l->events);
    sp_free(l->files);
    sp_free(l);
}

static enum sp_err open_file(const char *name, int *ret_fd, struct sp_fault *fault)
{
    struct stat is;
    int fd = open(name, O_RDONLY | O_CLOEXEC);
    const char *why = fd < 0 || fstat(fd, &is) != 0 ? strerror(errno)
                      : S_ISREG(is.st_mode)         ? NULL
                                                    : "it is not a file";
    *ret_fd = fd;
    return why ? sp_fault_set(fault, SP_IO, "--statuses %s: cannot be read: %s", name, why) : SP_OK;
}

static struct sp_log *make(size_t count, struct sp_live *live)
{
    struct sp_input_options options;
    struct sp_log *l = sp_calloc(1, sizeof *l);
    l->files = sp_calloc(count, sizeof *l->files);
    l->count = count;
    l->live = live;
    l->next = 1;
    sp_input_options_default(&options);
    l->parser = sp_parser_new(&options);
    sp_service_init(&l->service);
    for (size_t i = 0; i < count; i++)
        l->files[i].fd = -1;
    return l;
}

enum sp_err sp_log_start(const char *const *files, size_t count, struct sp_live *live,
                         struct sp_log **ret_log, struct sp_fault *fault)
{
    struct sp_log *l = make(count, live);
    enum sp_err err = SP_OK;
    for (size_t i = 0; i < count && err == SP_OK; i++)
        err = open_file(files[i], &l->files[i].fd, fault);
    if (err == SP_OK)
        err = sp_service_start(&l->service, follow, l, fault);
    if (err == SP_OK)
        *ret_log = l;
    else
        free_all(l);
    return err;
}

void sp_log_stop(struct sp_log *l)
{
    if (l)
        free_all(l);
}

/* ---- a page's history */

bool sp_log_ready(struct sp_log *l)
{
    pthread_mutex_lock(&l->service.lock);
    bool ready = l->ready;
    pthread_mutex_unlock(&l->service.lock);
    return ready;
}

/* Finds the page's last events, the latest first; returns their number. */
static size_t find(struct sp_log *l, struct sp_id id, size_t most, struct event *ret_events,
                   bool *ret_more)
{
    size_t found = 0;
    pthread_mutex_lock(&l->service.lock);
    const struct page *p = sp_map_get(&l->pages, id);
    uint64_t number = p ? p->last : 0;
    while (number && found < most && l->next - number <= SP_LOG_EVENTS) {
        ret_events[found] = l->events[number % SP_LOG_EVENTS];
        number = ret_events[found++].before;
    }
    *ret_more = number != 0;
    pthread_mutex_unlock(&l->service.lock);
    return found;
}

/* If the line in the file has changed, nothing is known about it. */
static bool put_line(const struct sp_log *l, const struct event *e, struct sp_id id,
                     struct sp_parser *parser, struct sp_buf *out)
{
    struct sp_page_record record;
    struct sp_buf url = {0};
    const char *why;
    char *to = sp_buf_reserve(out, e->len);
    bool same = pread(l->files[e->file].fd, to, e->len, (off_t)e->offset) == (ssize_t)e->len &&
                sp_parser_json(parser, sp_view(to, e->len), &record, &why) == SP_OK &&
                sp_url_canonical(record.url, &url) == SP_OK &&
                sp_id_eq(sp_hash128(url.data, url.len), id);
    out->len += same ? e->len : 0;
    sp_buf_done(&url);
    return same;
}

enum sp_err sp_log_events(struct sp_log *l, struct sp_id page, size_t most, struct sp_buf *out,
                          bool *ret_more)
{
    struct event *events = sp_alloc((most + 1) * sizeof *events);
    struct sp_input_options options;
    sp_input_options_default(&options);
    struct sp_parser *parser = sp_parser_new(&options);
    size_t count = find(l, page, most, events, ret_more);
    enum sp_err err = count ? SP_OK : SP_NOT_FOUND;
    for (size_t i = 0; i < count && err == SP_OK; i++) {
        if (i)
            sp_buf_put_u8(out, ',');
        err = put_line(l, &events[i], page, parser, out) ? SP_OK : SP_IO;
    }
    sp_parser_free(parser);
    sp_free(events);
    return err;
}
