/* See statuses.h. A page takes about 170 bytes and its URLs, and up to 32 in a roster. */
#include "serve/statuses.h"

#include <pthread.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/url.h"
#include "client/ends.h"
#include "client/event.h"
#include "codec/lines.h"
#include "serve/rosters.h"
#include "serve/serve.h"

enum { POLL_MS = 200 };

struct sp_statuses {
    const char *const *properties;
    const char *topic;
    struct samepage_status_client *client; /* NULL: there is none */
    pthread_t thread;
    pthread_rwlock_t lock;
    struct sp_rosters rosters;
    struct sp_buf url;
    struct sp_live *live;
    struct sp_buf line;
    void (*passed_over)(const char *why, uint64_t count);
    void (*told)(const char *what);
    char what[640];      /* that was told last; empty: an event was read since */
    uint64_t unreadable; /* events, since the start */
    uint64_t version;    /* atomic */
    bool caught_up;      /* atomic */
    bool running;        /* the thread, which owns the client */
    bool ending;         /* atomic */
};

/* ---- events */

static struct sp_id page_id(struct sp_statuses *s, const char *url)
{
    struct sp_id page = {0, 0};
    sp_url_page(sp_view_str(url), &s->url, &page);
    return page;
}

static void free_texts(struct sp_known_page *k)
{
    sp_free((char *)(uintptr_t)k->event.url);
    sp_free((char *)(uintptr_t)k->event.winner_url);
    sp_free((char *)(uintptr_t)k->event.contained_in);
}

void sp_statuses_apply(struct sp_statuses *s, const struct sp_status_event *event)
{
    struct sp_id page = page_id(s, event->url);
    struct sp_id winner = event->winner_url ? page_id(s, event->winner_url) : (struct sp_id){0, 0};
    pthread_rwlock_wrlock(&s->lock);
    struct sp_known_page *k = sp_map_get(&s->rosters.pages, page);
    bool stays = k && sp_rosters_stays(k, winner, event->group);
    if (k && !stays)
        sp_rosters_leave(&s->rosters, k);
    if (k) {
        free_texts(k);
    } else {
        k = sp_calloc(1, sizeof *k);
        k->page = page;
        sp_map_add(&s->rosters.pages, k);
    }
    k->event = *event;
    k->event.page = page;
    k->event.url = sp_strdup(event->url);
    k->event.winner_url = sp_strdup(event->winner_url);
    k->event.contained_in = sp_strdup(event->contained_in);
    k->winner = winner;
    if (!stays)
        sp_rosters_enter(&s->rosters, k);
    pthread_rwlock_unlock(&s->lock);
    __atomic_add_fetch(&s->version, 1, __ATOMIC_SEQ_CST);
}

void sp_statuses_forget(struct sp_statuses *s, const char *url)
{
    struct sp_id page = page_id(s, url);
    pthread_rwlock_wrlock(&s->lock);
    struct sp_known_page *k = sp_map_get(&s->rosters.pages, page);
    if (k) {
        sp_rosters_leave(&s->rosters, k);
        sp_map_remove(&s->rosters.pages, page);
        free_texts(k);
        sp_free(k);
    }
    pthread_rwlock_unlock(&s->lock);
    __atomic_add_fetch(&s->version, 1, __ATOMIC_SEQ_CST);
}

static void take(struct sp_statuses *s, const struct samepage_status_event *event)
{
    struct sp_status_event e;
    if (sp_client_event(event, &e) != SP_OK)
        return;
    sp_statuses_apply(s, &e);
    sp_buf_reset(&s->line);
    sp_lines_put_status(&s->line, &e);
    sp_live_put(s->live, sp_view(s->line.data, s->line.len - 1));
}

static void free_known(void *known)
{
    free_texts(known);
    sp_free(known);
}

static void free_all(struct sp_statuses *s)
{
    sp_rosters_clear(&s->rosters);
    sp_map_free_objects_by(&s->rosters.pages, free_known);
}

void sp_statuses_clear(struct sp_statuses *s)
{
    pthread_rwlock_wrlock(&s->lock);
    free_all(s);
    pthread_rwlock_unlock(&s->lock);
    __atomic_add_fetch(&s->version, 1, __ATOMIC_SEQ_CST);
}

static void tell(struct sp_statuses *s, const char *what)
{
    if (!s->told || strncmp(s->what, what, sizeof s->what - 1) == 0)
        return;
    snprintf(s->what, sizeof s->what, "%s", what);
    s->told(what);
}

/* The topic was recreated: nothing that is known is of its pages. Until it can be opened, there is
 * no client. */
static void start_over(struct sp_statuses *s)
{
    enum { PAUSE_US = 200000 };
    char why[400], text[512];
    tell(s, samepage_status_error(s->client));
    __atomic_store_n(&s->caught_up, false, __ATOMIC_SEQ_CST);
    samepage_status_close(s->client);
    sp_statuses_clear(s);
    while (!(s->client = sp_client_open(s->properties, s->topic, why, sizeof why)) &&
           !__atomic_load_n(&s->ending, __ATOMIC_RELAXED)) {
        snprintf(text, sizeof text, "%s; tries again, and has no statuses until then", why);
        tell(s, text);
        usleep(PAUSE_US);
    }
}

/* The client cannot be used any more. */
static void give_up(struct sp_statuses *s)
{
    char text[640];
    snprintf(text, sizeof text, "%s; the statuses are not read any more: start the server again",
             samepage_status_error(s->client));
    tell(s, text);
    __atomic_store_n(&s->version, UINT64_MAX, __ATOMIC_SEQ_CST);
}

static void pass_over(struct sp_statuses *s)
{
    uint64_t count = ++s->unreadable;
    if (s->passed_over && (count & (count - 1)) == 0)
        s->passed_over(samepage_status_error(s->client), count);
}

static void *follow(void *arg)
{
    struct sp_statuses *s = arg;
    struct samepage_status_event event;
    while (!__atomic_load_n(&s->ending, __ATOMIC_RELAXED)) {
        int got = samepage_status_next(s->client, POLL_MS, &event);
        if (got == SAMEPAGE_REMADE) {
            start_over(s);
            continue;
        }
        if (got == SAMEPAGE_EVENT) {
            s->what[0] = 0;
            take(s, &event);
        }
        if (got == SAMEPAGE_BAD)
            pass_over(s);
        if (got == SAMEPAGE_RETRY)
            tell(s, samepage_status_error(s->client));
        const char *erased = samepage_status_erased(s->client);
        if (erased)
            sp_statuses_forget(s, erased);
        __atomic_store_n(&s->caught_up, sp_client_caught_up(s->client), __ATOMIC_SEQ_CST);
        if (got == SAMEPAGE_FATAL) {
            give_up(s);
            break;
        }
    }
    return NULL;
}

/* ---- start and stop */

struct sp_statuses *sp_statuses_new(void)
{
    struct sp_statuses *s = sp_calloc(1, sizeof *s);
    pthread_rwlockattr_t attributes;
    pthread_rwlockattr_init(&attributes);
    /* A stream of readers must not keep the writer out. */
    pthread_rwlockattr_setkind_np(&attributes, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
    pthread_rwlock_init(&s->lock, &attributes);
    pthread_rwlockattr_destroy(&attributes);
    sp_rosters_init(&s->rosters);
    s->version = 1;
    s->caught_up = true;
    return s;
}

enum sp_err sp_statuses_start(const struct sp_serve_options *options, struct sp_live *live,
                              struct sp_statuses **ret_statuses, struct sp_fault *fault)
{
    struct sp_statuses *s = sp_statuses_new();
    s->properties = options->properties;
    s->topic = options->topic;
    s->passed_over = options->passed_over;
    s->told = options->told;
    s->live = live;
    s->caught_up = false;
    s->client = sp_client_open(s->properties, s->topic, fault->text, sizeof fault->text);
    if (s->client && pthread_create(&s->thread, NULL, follow, s) != 0) {
        samepage_status_close(s->client);
        s->client = NULL;
        sp_fault_set(fault, SP_IO, "no thread can be started");
    }
    if (!s->client) {
        sp_statuses_stop(s);
        return SP_IO;
    }
    s->running = true;
    *ret_statuses = s;
    return SP_OK;
}

void sp_statuses_stop(struct sp_statuses *s)
{
    if (!s)
        return;
    if (s->running) {
        __atomic_store_n(&s->ending, true, __ATOMIC_RELAXED);
        pthread_join(s->thread, NULL);
        samepage_status_close(s->client);
    }
    free_all(s);
    sp_rosters_done(&s->rosters);
    sp_buf_done(&s->url);
    sp_buf_done(&s->line);
    pthread_rwlock_destroy(&s->lock);
    sp_free(s);
}

/* ---- look-ups */

uint64_t sp_statuses_version(const struct sp_statuses *s)
{
    return __atomic_load_n(&s->version, __ATOMIC_SEQ_CST);
}

bool sp_statuses_caught_up(const struct sp_statuses *s)
{
    return __atomic_load_n(&s->caught_up, __ATOMIC_SEQ_CST);
}

void sp_statuses_begin(struct sp_statuses *s)
{
    pthread_rwlock_rdlock(&s->lock);
}

void sp_statuses_end(struct sp_statuses *s)
{
    pthread_rwlock_unlock(&s->lock);
}

static enum sp_page_kind kind_of(const struct sp_status_event *e)
{
    if (e->status == SP_STATUS_GONE)
        return SP_PAGE_DEAD;
    return e->reason == SP_REASON_REDIRECT ? SP_PAGE_REDIRECT : SP_PAGE_CONTENT;
}

/* While statuses are in flight, a winner can have a winner of its own. */
static struct sp_group_id group_of(const struct sp_statuses *s, const struct sp_known_page *k)
{
    enum { HOPS = 8 };
    for (int hops = 0; hops < HOPS && !sp_id_is_zero(k->winner); hops++) {
        const struct sp_known_page *winner = sp_map_get(&s->rosters.pages, k->winner);
        if (!winner)
            break;
        k = winner;
    }
    return k->event.group;
}

static void view(const struct sp_statuses *s, const struct sp_known_page *k,
                 void (*each)(void *arg, const struct sp_page_view *page), void *arg)
{
    const struct sp_status_event *e = &k->event;
    struct sp_page_view v = {.page = k->page,
                             .url = e->url,
                             .version = e->version_ms,
                             .kind = kind_of(e),
                             .group = group_of(s, k),
                             .status = e->status,
                             .winner_url = e->winner_url,
                             .similarity = e->similarity,
                             .reason = e->reason,
                             .rule = e->rule,
                             .content_version = e->version_ms,
                             .epoch = e->epoch,
                             .group_size = e->group_size,
                             .contained_in = e->contained_in,
                             .containment = e->containment};
    each(arg, &v);
}

enum sp_err sp_statuses_page(struct sp_statuses *s, struct sp_id page,
                             void (*each)(void *arg, const struct sp_page_view *page), void *arg)
{
    const struct sp_known_page *k = sp_map_get(&s->rosters.pages, page);
    if (!k)
        return SP_NOT_FOUND;
    view(s, k, each, arg);
    return SP_OK;
}

struct listing {
    bool (*each)(void *arg, const struct sp_member_view *member);
    void *arg;
};

static bool show(void *arg, const struct sp_known_page *k)
{
    const struct listing *l = arg;
    const struct sp_status_event *e = &k->event;
    struct sp_member_view v = {.page = k->page,
                               .url = e->url,
                               .version = e->version_ms,
                               .content_version = e->version_ms,
                               .kind = kind_of(e),
                               .rank = sp_rank_of(sp_view_str(e->url), 0),
                               .status = e->status,
                               .reason = e->reason,
                               .winner = k->winner,
                               .similarity = e->similarity};
    return l->each(l->arg, &v);
}

/* In the order of their ids, as a state has them: in the order of the events, a page that has a new
 * one meanwhile, or leaves the group, would change its place. */
enum sp_err sp_statuses_members(struct sp_statuses *s, struct sp_group_id group, struct sp_id after,
                                bool (*each)(void *arg, const struct sp_member_view *member),
                                void *arg)
{
    struct listing l = {each, arg};
    sp_rosters_list(&s->rosters, group, after, show, &l);
    return SP_OK;
}

uint64_t sp_statuses_looked_at(const struct sp_statuses *s)
{
    return s->rosters.looked_at;
}

enum sp_err sp_statuses_each_page(struct sp_statuses *s,
                                  void (*each)(void *arg, const struct sp_page_view *page),
                                  void *arg)
{
    uint64_t cursor = 0;
    for (const struct sp_known_page *p; (p = sp_map_next(&s->rosters.pages, &cursor));)
        view(s, p, each, arg);
    return SP_OK;
}
