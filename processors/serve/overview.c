/* See overview.h. One pass over the pages; of groups of more than one page, a row each in memory.
 * The groups shown are those with the most members and those whose least similar loser is weakest:
 * there a threshold is tuned. */
#include "serve/overview.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/json_write.h"
#include "base/map.h"
#include "base/mem.h"
#include "run/lines.h"
#include "serve/serve.h"

enum {
    SHOWN = 50,
    SIZES = 24, /* 1, 2, 3-4, 5-8, ... */
    CELLS = 4096,
    BUCKETS = 40,
    STATUSES = SP_STATUS_GONE + 1,
    PAUSE_MIN_SECONDS = 5,
    PAUSE_FACTOR = 10 /* times what a pass took */
};

struct group {
    struct sp_id key; /* of the map: first */
    struct sp_group_id id;
    struct sp_id winner;
    uint32_t pages;
    uint32_t winners;
    float weakest; /* 2: no loser by content */
};

struct fetch {
    int64_t version;
    uint8_t status;
};

struct pass {
    struct sp_map groups;
    struct fetch *fetches;
    size_t fetch_count;
    size_t fetch_cap;
    uint64_t statuses[STATUSES];
    uint64_t cells[CELLS];
    uint32_t cell_count;
    struct sp_buf strings;
};

struct sp_overview {
    struct sp_state *state;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    bool ending;
    struct sp_buf json; /* under the lock */
};

/* ---- the pass */

static struct group *group_of(struct pass *p, const struct sp_page_view *v)
{
    struct sp_id key = sp_hash128(&v->group, sizeof v->group);
    struct group *g = sp_map_get(&p->groups, key);
    if (g)
        return g;
    g = sp_alloc(sizeof *g);
    *g = (struct group){.key = key, .id = v->group, .winner = v->page, .weakest = 2};
    sp_map_add(&p->groups, g);
    return g;
}

static void note_page(void *arg, const struct sp_page_view *v)
{
    struct pass *p = arg;
    if (v->status == SP_STATUS_NONE)
        return;
    p->statuses[v->status]++;
    if (p->fetch_count == p->fetch_cap) {
        p->fetch_cap = p->fetch_cap ? 2 * p->fetch_cap : 4096;
        p->fetches = sp_realloc(p->fetches, p->fetch_cap * sizeof *p->fetches);
    }
    p->fetches[p->fetch_count++] = (struct fetch){v->version, (uint8_t)v->status};
    if (v->in_cell && v->cell < CELLS) {
        p->cells[v->cell]++;
        p->cell_count = v->cell >= p->cell_count ? v->cell + 1 : p->cell_count;
    }
    if (v->status == SP_STATUS_UNIQUE)
        return;
    struct group *g = group_of(p, v);
    g->pages++;
    if (v->status == SP_STATUS_WINNER) {
        g->winner = v->page;
        g->winners++;
    }
    if (v->status == SP_STATUS_LOSER && v->reason != SP_REASON_REDIRECT &&
        v->similarity < g->weakest)
        g->weakest = v->similarity;
}

static void pass_done(struct pass *p)
{
    for (size_t i = 0; i < p->groups.cap; i++)
        sp_free(p->groups.cells[i].object);
    sp_map_done(&p->groups);
    sp_free(p->fetches);
}

/* ---- what is said of it */

static void put_count(struct sp_buf *out, const char *key, uint64_t n)
{
    sp_buf_put_str(out, key);
    sp_json_put_i64(out, (int64_t)n);
}

static unsigned size_class(uint32_t pages)
{
    unsigned n = 0;
    while (n + 1 < SIZES && pages > 1u << n)
        n++;
    return n;
}

static void put_sizes(struct sp_buf *out, const struct pass *p)
{
    uint64_t groups[SIZES] = {p->statuses[SP_STATUS_UNIQUE]}, pages[SIZES] = {groups[0]};
    uint64_t all = groups[0], duplicates = 0;
    for (size_t i = 0; i < p->groups.cap; i++) {
        const struct group *g = p->groups.cells[i].object;
        if (!g)
            continue;
        groups[size_class(g->pages)]++;
        pages[size_class(g->pages)] += g->pages;
        all++;
        duplicates += g->pages > 1;
    }
    put_count(out, ",\"groups\":", all);
    put_count(out, ",\"duplicate_groups\":", duplicates);
    sp_buf_put_str(out, ",\"sizes\":[");
    for (unsigned n = 0, first = 1; n < SIZES; n++) {
        if (!groups[n])
            continue;
        put_count(out, first ? "{\"from\":" : ",{\"from\":", n ? (1ull << (n - 1)) + 1 : 1);
        put_count(out, ",\"to\":", 1ull << n);
        put_count(out, ",\"groups\":", groups[n]);
        put_count(out, ",\"pages\":", pages[n]);
        sp_buf_put_u8(out, '}');
        first = 0;
    }
    sp_buf_put_u8(out, ']');
}

static void put_cells(struct sp_buf *out, const struct pass *p)
{
    sp_buf_put_str(out, ",\"cells\":[");
    for (uint32_t c = 0; c < p->cell_count; c++)
        put_count(out, c ? "," : "", p->cells[c]);
    sp_buf_put_u8(out, ']');
}

/* Pages by the time of their last fetch, and what became of them. */
static void put_timeline(struct sp_buf *out, const struct pass *p)
{
    uint64_t counts[BUCKETS][STATUSES] = {{0}};
    int64_t first = INT64_MAX, last = 0;
    for (size_t i = 0; i < p->fetch_count; i++) {
        first = p->fetches[i].version < first ? p->fetches[i].version : first;
        last = p->fetches[i].version > last ? p->fetches[i].version : last;
    }
    int64_t width = p->fetch_count ? (last - first) / BUCKETS + 1 : 1;
    for (size_t i = 0; i < p->fetch_count; i++)
        counts[(p->fetches[i].version - first) / width][p->fetches[i].status]++;
    sp_buf_put_str(out, ",\"timeline\":[");
    for (int b = 0; b < BUCKETS && p->fetch_count; b++) {
        put_count(out, b ? ",{\"from_ms\":" : "{\"from_ms\":", (uint64_t)(first + b * width));
        put_count(out, ",\"unique\":", counts[b][SP_STATUS_UNIQUE]);
        put_count(out, ",\"winner\":", counts[b][SP_STATUS_WINNER]);
        put_count(out, ",\"loser\":", counts[b][SP_STATUS_LOSER]);
        put_count(out, ",\"gone\":", counts[b][SP_STATUS_GONE]);
        sp_buf_put_u8(out, '}');
    }
    sp_buf_put_u8(out, ']');
}

static int by_size(const void *a, const void *b)
{
    const struct group *x = *(const struct group *const *)a, *y = *(const struct group *const *)b;
    if (x->pages != y->pages)
        return x->pages > y->pages ? -1 : 1;
    return sp_group_id_cmp(x->id, y->id);
}

static int by_weakness(const void *a, const void *b)
{
    const struct group *x = *(const struct group *const *)a, *y = *(const struct group *const *)b;
    if (x->weakest != y->weakest)
        return x->weakest < y->weakest ? -1 : 1;
    return sp_group_id_cmp(x->id, y->id);
}

static void put_url(void *arg, const struct sp_page_view *v)
{
    sp_json_put_text(arg, v->url);
}

static void put_groups(struct sp_buf *out, struct sp_state_reader *r, const char *key,
                       struct group **sorted, size_t count)
{
    sp_buf_put_str(out, key);
    for (size_t i = 0, shown = 0; i < count && shown < SHOWN; i++) {
        size_t before = out->len;
        sp_buf_put_str(out, shown ? ",{\"url\":" : "{\"url\":");
        if (sp_state_page(r, sorted[i]->winner, put_url, out) != SP_OK) {
            out->len = before;
            continue;
        }
        sp_buf_put_str(out, ",\"group_id\":");
        sp_lines_put_group_id(out, sorted[i]->id);
        put_count(out, ",\"size\":", sorted[i]->pages);
        put_count(out, ",\"winners\":", sorted[i]->winners);
        sp_buf_put_str(out, ",\"weakest\":");
        if (sorted[i]->weakest <= 1)
            sp_json_put_float(out, sorted[i]->weakest);
        else
            sp_buf_put_str(out, "null");
        sp_buf_put_u8(out, '}');
        shown++;
    }
    sp_buf_put_u8(out, ']');
}

static void put_extremes(struct sp_buf *out, struct sp_state_reader *r, const struct pass *p)
{
    struct group **sorted = sp_alloc((p->groups.count + 1) * sizeof *sorted);
    size_t count = 0, weak = 0;
    for (size_t i = 0; i < p->groups.cap; i++) {
        struct group *g = p->groups.cells[i].object;
        if (g && g->pages > 1)
            sorted[count++] = g;
    }
    qsort(sorted, count, sizeof *sorted, by_size);
    put_groups(out, r, ",\"largest\":[", sorted, count);
    qsort(sorted, count, sizeof *sorted, by_weakness);
    while (weak < count && sorted[weak]->weakest <= 1)
        weak++;
    put_groups(out, r, ",\"weakest\":[", sorted, weak);
    sp_free(sorted);
}

static void put_all(struct sp_buf *out, struct sp_state_reader *r, const struct pass *p)
{
    put_count(out, "\"pages\":", p->fetch_count);
    put_count(out, ",\"unique\":", p->statuses[SP_STATUS_UNIQUE]);
    put_count(out, ",\"winner\":", p->statuses[SP_STATUS_WINNER]);
    put_count(out, ",\"loser\":", p->statuses[SP_STATUS_LOSER]);
    put_count(out, ",\"gone\":", p->statuses[SP_STATUS_GONE]);
    put_sizes(out, p);
    put_cells(out, p);
    put_timeline(out, p);
    put_extremes(out, r, p);
}

/* ---- the thread */

static void make(struct sp_overview *o, struct sp_state_reader *r)
{
    struct pass *p = sp_calloc(1, sizeof *p);
    struct sp_buf json = {0};
    sp_state_begin(r);
    if (sp_state_each_page(r, note_page, p) == SP_OK) {
        put_all(&json, r, p);
        pthread_mutex_lock(&o->lock);
        struct sp_buf before = o->json;
        o->json = json;
        json = before;
        pthread_mutex_unlock(&o->lock);
    }
    sp_state_end(r);
    sp_buf_done(&json);
    pass_done(p);
    sp_free(p);
}

static void *work(void *arg)
{
    struct sp_overview *o = arg;
    struct sp_state_reader *r = sp_state_reader_new(o->state);
    uint64_t version = 0;
    int64_t pause = 0;
    pthread_mutex_lock(&o->lock);
    while (!o->ending) {
        if (sp_state_version(o->state) != version) {
            pthread_mutex_unlock(&o->lock);
            double start = sp_clock_seconds();
            version = sp_state_version(o->state);
            make(o, r);
            pause = (int64_t)(PAUSE_FACTOR * (sp_clock_seconds() - start));
            pthread_mutex_lock(&o->lock);
        }
        if (o->ending)
            break;
        struct timespec until;
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_sec += pause > PAUSE_MIN_SECONDS ? pause : PAUSE_MIN_SECONDS;
        pthread_cond_timedwait(&o->wake, &o->lock, &until);
    }
    pthread_mutex_unlock(&o->lock);
    sp_state_reader_free(r);
    return NULL;
}

struct sp_overview *sp_overview_start(struct sp_state *state)
{
    struct sp_overview *o = sp_calloc(1, sizeof *o);
    pthread_condattr_t attributes;
    o->state = state;
    pthread_mutex_init(&o->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&o->wake, &attributes);
    pthread_condattr_destroy(&attributes);
    if (pthread_create(&o->thread, NULL, work, o) == 0)
        return o;
    sp_free(o);
    return NULL;
}

void sp_overview_stop(struct sp_overview *o)
{
    if (!o)
        return;
    pthread_mutex_lock(&o->lock);
    o->ending = true;
    pthread_cond_signal(&o->wake);
    pthread_mutex_unlock(&o->lock);
    pthread_join(o->thread, NULL);
    pthread_cond_destroy(&o->wake);
    pthread_mutex_destroy(&o->lock);
    sp_buf_done(&o->json);
    sp_free(o);
}

bool sp_overview_put(struct sp_overview *o, struct sp_buf *out)
{
    pthread_mutex_lock(&o->lock);
    bool made = o->json.len > 0;
    sp_buf_put_view(out, sp_buf_view(&o->json));
    pthread_mutex_unlock(&o->lock);
    return made;
}
