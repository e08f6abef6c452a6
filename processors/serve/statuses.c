/* See statuses.h. About 150 bytes a page and its URLs. */
#include "serve/statuses.h"

#include <pthread.h>
#include <stdio.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/url.h"
#include "client/event.h"

enum { POLL_MS = 200 };

/* The last event of a page, in the ring of its group. */
struct known {
    struct sp_id page; /* key of the map: first */
    struct sp_lru ring;
    struct sp_status_event event; /* its texts are owned */
};

struct group {
    struct sp_id key; /* of the map: first */
    struct sp_lru ring;
};

struct sp_statuses {
    struct samepage_status_client *client; /* NULL: none */
    pthread_t thread;
    pthread_rwlock_t lock;
    struct sp_map pages;
    struct sp_map groups;
    struct sp_buf url;
    uint64_t version; /* atomic */
    bool ending;      /* atomic */
};

/* ---- events */

static struct sp_id group_key(struct sp_group_id id)
{
    return sp_hash128(&id, sizeof id);
}

static struct sp_id page_id(struct sp_statuses *s, const char *url)
{
    sp_buf_reset(&s->url);
    if (sp_url_canonical(sp_view_str(url), &s->url) != SP_OK)
        return (struct sp_id){0, 0};
    return sp_hash128(s->url.data, s->url.len);
}

static void leave_group(struct sp_statuses *s, struct known *k)
{
    struct group *g = sp_map_get(&s->groups, group_key(k->event.group));
    sp_lru_remove(&k->ring);
    if (!g || g->ring.next != &g->ring)
        return;
    sp_map_remove(&s->groups, g->key);
    sp_free(g);
}

static void enter_group(struct sp_statuses *s, struct known *k)
{
    struct sp_id key = group_key(k->event.group);
    struct group *g = sp_map_get(&s->groups, key);
    if (!g) {
        g = sp_calloc(1, sizeof *g);
        g->key = key;
        sp_lru_init(&g->ring);
        sp_map_add(&s->groups, g);
    }
    sp_lru_push(&g->ring, &k->ring);
}

static void free_texts(struct known *k)
{
    sp_free((char *)(uintptr_t)k->event.url);
    sp_free((char *)(uintptr_t)k->event.winner_url);
}

void sp_statuses_apply(struct sp_statuses *s, const struct sp_status_event *event)
{
    struct sp_id page = page_id(s, event->url);
    pthread_rwlock_wrlock(&s->lock);
    struct known *k = sp_map_get(&s->pages, page);
    if (k) {
        leave_group(s, k);
        free_texts(k);
    } else {
        k = sp_calloc(1, sizeof *k);
        k->page = page;
        sp_map_add(&s->pages, k);
    }
    k->event = *event;
    k->event.page = page;
    k->event.url = sp_strdup(event->url);
    k->event.winner_url = sp_strdup(event->winner_url);
    enter_group(s, k);
    pthread_rwlock_unlock(&s->lock);
    __atomic_add_fetch(&s->version, 1, __ATOMIC_SEQ_CST);
}

static void take(struct sp_statuses *s, const struct samepage_status_event *event)
{
    struct sp_status_event e;
    if (sp_client_event(event, &e) == SP_OK)
        sp_statuses_apply(s, &e);
}

static void *follow(void *arg)
{
    struct sp_statuses *s = arg;
    struct samepage_status_event event;
    while (!__atomic_load_n(&s->ending, __ATOMIC_RELAXED)) {
        int got = samepage_status_next(s->client, POLL_MS, &event);
        if (got == SAMEPAGE_EVENT)
            take(s, &event);
        if (got == SAMEPAGE_FATAL) {
            __atomic_store_n(&s->version, UINT64_MAX, __ATOMIC_SEQ_CST);
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
    /* Readers without end must not keep the events out. */
    pthread_rwlockattr_setkind_np(&attributes, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
    pthread_rwlock_init(&s->lock, &attributes);
    pthread_rwlockattr_destroy(&attributes);
    s->version = 1;
    return s;
}

enum sp_err sp_statuses_start(const char *const *properties, const char *topic,
                              struct sp_statuses **ret_statuses, const char **ret_message)
{
    static _Thread_local char text[512];
    struct sp_statuses *s = sp_statuses_new();
    *ret_message = text;
    s->client = samepage_status_open(properties, topic, NULL, text, sizeof text);
    if (s->client && pthread_create(&s->thread, NULL, follow, s) != 0) {
        samepage_status_close(s->client);
        s->client = NULL;
        snprintf(text, sizeof text, "no thread can be started");
    }
    if (!s->client) {
        sp_statuses_stop(s);
        return SP_IO;
    }
    *ret_statuses = s;
    return SP_OK;
}

void sp_statuses_stop(struct sp_statuses *s)
{
    if (!s)
        return;
    if (s->client) {
        __atomic_store_n(&s->ending, true, __ATOMIC_RELAXED);
        pthread_join(s->thread, NULL);
        samepage_status_close(s->client);
    }
    for (size_t i = 0; i < s->pages.cap; i++)
        if (s->pages.cells[i].object) {
            free_texts(s->pages.cells[i].object);
            sp_free(s->pages.cells[i].object);
        }
    for (size_t i = 0; i < s->groups.cap; i++)
        sp_free(s->groups.cells[i].object);
    sp_map_done(&s->pages);
    sp_map_done(&s->groups);
    sp_buf_done(&s->url);
    pthread_rwlock_destroy(&s->lock);
    sp_free(s);
}

/* ---- look-ups */

uint64_t sp_statuses_version(const struct sp_statuses *s)
{
    return __atomic_load_n(&s->version, __ATOMIC_SEQ_CST);
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

static void view(const struct known *k, void (*each)(void *arg, const struct sp_page_view *page),
                 void *arg)
{
    const struct sp_status_event *e = &k->event;
    struct sp_page_view v = {.page = k->page,
                             .url = e->url,
                             .version = e->version_ms,
                             .kind = kind_of(e),
                             .group = e->group,
                             .status = e->status,
                             .winner_url = e->winner_url,
                             .similarity = e->similarity,
                             .reason = e->reason,
                             .content_version = e->version_ms,
                             .epoch = e->epoch,
                             .group_size = e->group_size};
    each(arg, &v);
}

enum sp_err sp_statuses_page(struct sp_statuses *s, struct sp_id page,
                             void (*each)(void *arg, const struct sp_page_view *page), void *arg)
{
    const struct known *k = sp_map_get(&s->pages, page);
    if (!k)
        return SP_NOT_FOUND;
    view(k, each, arg);
    return SP_OK;
}

enum sp_err sp_statuses_members(struct sp_statuses *s, struct sp_group_id group,
                                bool (*each)(void *arg, const struct sp_member_view *member),
                                void *arg)
{
    const struct group *g = sp_map_get(&s->groups, group_key(group));
    struct sp_buf url = {0};
    for (struct sp_lru *at = g ? g->ring.next : NULL; g && at != &g->ring; at = at->next) {
        const struct known *k = SP_LRU_OBJECT(at, struct known, ring);
        const struct sp_status_event *e = &k->event;
        struct sp_member_view v = {.page = k->page,
                                   .url = e->url,
                                   .version = e->version_ms,
                                   .content_version = e->version_ms,
                                   .kind = kind_of(e),
                                   .rank = sp_rank_of(sp_view_str(e->url), 0),
                                   .status = e->status,
                                   .reason = e->reason,
                                   .similarity = e->similarity};
        sp_buf_reset(&url);
        if (e->winner_url && sp_url_canonical(sp_view_str(e->winner_url), &url) == SP_OK)
            v.winner = sp_hash128(url.data, url.len);
        if (!each(arg, &v))
            break;
    }
    sp_buf_done(&url);
    return SP_OK;
}

enum sp_err sp_statuses_each_page(struct sp_statuses *s,
                                  void (*each)(void *arg, const struct sp_page_view *page),
                                  void *arg)
{
    for (size_t i = 0; i < s->pages.cap; i++)
        if (s->pages.cells[i].object)
            view(s->pages.cells[i].object, each, arg);
    return SP_OK;
}
