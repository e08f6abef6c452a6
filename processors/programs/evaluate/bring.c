/* See bring.h. */
#include "evaluate/bring.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/url.h"

enum { COMMIT = 500 /* fetches between two commits, as in figure7.c */ };

/* In a crawl of ten million pages, the last million took twice as long as the first
 * (docs/OPERATIONS.md), so the cost of a fetch grew at most with the cube root of their number. If
 * short traces show faster growth, that is noise. */
static const double GROWTH_MOST = 1.0 / 3;

/* ---- through both tiers */

/* A page of the trace, and its last status. */
struct known {
    struct sp_id id; /* key of the map: first */
    uint32_t number;
    enum sp_page_status status;
    enum sp_reason reason;
    float similarity;
    uint32_t winner;
};

struct feeding {
    struct known *pages;
    struct sp_map numbers;
    size_t page_count;
    struct sp_buf url; /* scratch */
};

static uint32_t number_of(struct feeding *f, const char *url)
{
    struct sp_id page;
    const struct known *k = NULL;
    if (url && sp_url_page(sp_view_str(url), &f->url, &page) == SP_OK)
        k = sp_map_get(&f->numbers, page);
    return k ? k->number : SP_NO_PAGE;
}

static void on_status(void *arg, const struct sp_status_event *event)
{
    struct feeding *f = arg;
    struct known *k = sp_map_get(&f->numbers, event->page);
    if (!k)
        return;
    k->status = event->status;
    k->reason = event->reason;
    k->similarity = event->similarity;
    k->winner = number_of(f, event->winner_url);
}

static enum sp_err feed(struct sp_local_bus *bus, struct sp_db *db, const struct sp_trace *t,
                        size_t from, size_t end)
{
    enum sp_err err = SP_OK;
    for (size_t i = from; i < end && err == SP_OK; i++) {
        err = sp_local_bus_feed(bus, sp_trace_message(t, i));
        if (err == SP_OK && (i + 1) % COMMIT == 0)
            err = sp_local_bus_flush(bus);
        if (err == SP_OK && (i + 1) % COMMIT == 0)
            err = sp_db_commit(db);
    }
    return err;
}

static void note_index(const struct sp_local_bus *bus, struct sp_brought *b, size_t part)
{
    struct sp_local_bus_stats stats;
    sp_local_bus_stats(bus, &stats);
    b->rows[part] = stats.compare.rows;
    b->index_bytes[part] = stats.compare.index_bytes;
}

static enum sp_err feed_all(const struct sp_evaluate_options *o, const struct sp_trace *t,
                            struct feeding *f, const char *what, struct sp_brought *b)
{
    struct sp_db *db = sp_db_open_memory();
    struct sp_local_bus *bus = NULL;
    enum sp_err err = sp_local_bus_new(&o->bus, db, on_status, f, &bus);
    for (size_t part = 0, at = 0; part < SP_BRING_PARTS && err == SP_OK; part++) {
        size_t end = t->fetch_count * (part + 1) / SP_BRING_PARTS;
        double start = sp_clock_thread_seconds();
        err = feed(bus, db, t, at, end);
        b->seconds[part] = sp_clock_thread_seconds() - start;
        b->fetches[part] = end - at;
        note_index(bus, b, part);
        at = end;
        if (o->progress)
            o->progress(o->progress_arg, what, end, t->fetch_count);
    }
    if (err == SP_OK)
        err = sp_local_bus_flush(bus);
    if (bus)
        sp_local_bus_free(bus);
    sp_db_close(db);
    return err;
}

/* ---- documents and hosts */

static enum sp_fate fate_of(const struct known *k)
{
    if (k->status != SP_STATUS_LOSER)
        return SP_FATE_KEPT;
    return k->reason == SP_REASON_EXACT ? SP_FATE_EXACT : SP_FATE_NEAR;
}

static void count(struct sp_tally *tally, enum sp_fate fate, uint64_t bytes)
{
    tally->documents[fate]++;
    tally->bytes[fate] += bytes;
}

static struct sp_host_tally *host_of(struct sp_map *hosts, const char *page_url)
{
    struct sp_buf url = {0};
    struct sp_view name = sp_view("", 0);
    if (sp_url_canonical(sp_view_str(page_url), &url) == SP_OK)
        name = sp_url_host(sp_buf_view(&url));
    struct sp_id id = sp_hash128(name.len ? name.data : "", name.len);
    struct sp_host_tally *host = sp_map_get(hosts, id);
    if (!host) {
        host = sp_calloc(1, sizeof *host);
        host->id = id;
        host->name = name.len ? sp_view_dup(name) : sp_strdup("no host");
        sp_map_add(hosts, host);
    }
    sp_buf_done(&url);
    return host;
}

static uint64_t removed(const struct sp_tally *t)
{
    return t->documents[SP_FATE_EXACT] + t->documents[SP_FATE_NEAR];
}

static int by_removed(const void *a, const void *b)
{
    const struct sp_host_tally *x = *(struct sp_host_tally *const *)a;
    const struct sp_host_tally *y = *(struct sp_host_tally *const *)b;
    if (removed(&x->tally) != removed(&y->tally))
        return removed(&x->tally) > removed(&y->tally) ? -1 : 1;
    return strcmp(x->name, y->name);
}

static void sort_hosts(struct sp_brought *b, struct sp_map *hosts)
{
    b->hosts = sp_calloc(hosts->count + 1, sizeof(struct sp_host_tally *));
    uint64_t cursor = 0;
    for (struct sp_host_tally *host; (host = sp_map_next(hosts, &cursor));)
        b->hosts[b->host_count++] = host;
    qsort(b->hosts, b->host_count, sizeof(struct sp_host_tally *), by_removed);
    sp_map_done(hosts);
}

static void count_documents(struct sp_brought *b, const struct sp_trace *t, const struct feeding *f)
{
    uint32_t *alive = sp_alloc((t->fetch_count + 1) * sizeof *alive);
    uint32_t *document = sp_alloc((t->page_count + 1) * sizeof *document);
    bool *wins = sp_calloc(t->page_count + 1, sizeof *wins);
    struct sp_map hosts = {0};
    b->count = sp_trace_alive(t, 0, t->fetch_count, alive);
    b->documents = sp_calloc(b->count + 1, sizeof *b->documents);
    memset(document, 0xff, (t->page_count + 1) * sizeof *document);
    for (size_t i = 0; i < b->count; i++)
        document[t->fetches[alive[i]].page] = (uint32_t)i;
    for (size_t i = 0; i < b->count; i++) {
        const struct sp_fetch *fetch = &t->fetches[alive[i]];
        const struct known *k = &f->pages[fetch->page];
        struct sp_brought_document *d = &b->documents[i];
        *d = (struct sp_brought_document){fetch->page, alive[i], fate_of(k), SP_NO_PAGE,
                                          k->similarity};
        if (d->fate != SP_FATE_KEPT && k->winner != SP_NO_PAGE)
            d->winner = document[k->winner];
        if (d->winner != SP_NO_PAGE && !wins[k->winner]) {
            wins[k->winner] = true;
            b->groups++;
        }
        count(&b->all, d->fate, fetch->bytes);
        count(&host_of(&hosts, t->pages[fetch->page].url)->tally, d->fate, fetch->bytes);
    }
    sort_hosts(b, &hosts);
    sp_free(alive);
    sp_free(document);
    sp_free(wins);
}

enum sp_err sp_bring(const struct sp_evaluate_options *o, const struct sp_trace *t,
                     const char *what, struct sp_brought *ret_brought)
{
    struct feeding f = {.pages = sp_calloc(t->page_count + 1, sizeof *f.pages)};
    *ret_brought = (struct sp_brought){.count = 0};
    for (size_t i = 0; i < t->page_count; i++) {
        f.pages[i] =
            (struct known){.id = t->pages[i].id, .number = (uint32_t)i, .winner = SP_NO_PAGE};
        sp_map_add(&f.numbers, &f.pages[i]);
    }
    enum sp_err err = feed_all(o, t, &f, what, ret_brought);
    if (err == SP_OK)
        count_documents(ret_brought, t, &f);
    sp_map_done(&f.numbers);
    sp_buf_done(&f.url);
    sp_free(f.pages);
    return err;
}

void sp_brought_done(struct sp_brought *b)
{
    for (size_t i = 0; i < b->host_count; i++) {
        sp_free(b->hosts[i]->name);
        sp_free(b->hosts[i]);
    }
    sp_free(b->hosts);
    sp_free(b->documents);
}

/* ---- what can be estimated ---- */

uint64_t sp_tally_documents(const struct sp_tally *t)
{
    return t->documents[SP_FATE_KEPT] + removed(t);
}

uint64_t sp_tally_bytes(const struct sp_tally *t)
{
    return t->bytes[SP_FATE_KEPT] + t->bytes[SP_FATE_EXACT] + t->bytes[SP_FATE_NEAR];
}

void sp_share_interval(double share, uint64_t cases, double *ret_least, double *ret_most)
{
    const double z = 1.959964;
    double n = (double)cases;
    if (cases == 0) {
        *ret_least = 0;
        *ret_most = 1;
        return;
    }
    double middle = (share + z * z / (2 * n)) / (1 + z * z / n);
    double half = z / (1 + z * z / n) * sqrt(share * (1 - share) / n + z * z / (4 * n * n));
    *ret_least = fmax(0, middle - half);
    *ret_most = fmin(1, middle + half);
}

static double mean(const struct sp_brought *b, size_t from, size_t end)
{
    double seconds = 0, fetches = 0;
    for (size_t i = from; i < end; i++) {
        seconds += b->seconds[i];
        fetches += (double)b->fetches[i];
    }
    return fetches > 0 ? seconds / fetches : 0;
}

void sp_bring_cost(const struct sp_brought *b, double at, double *ret_least, double *ret_most)
{
    double first = mean(b, 0, SP_BRING_PARTS / 2);
    double second = mean(b, SP_BRING_PARTS / 2, SP_BRING_PARTS), worst = 0, all = 0;
    for (size_t i = 0; i < SP_BRING_PARTS; i++) {
        worst = fmax(worst, mean(b, i, i + 1));
        all += (double)b->fetches[i];
    }
    /* The middles of the two halves are a factor of three apart. */
    double growth = first > 0 && second > first ? log(second / first) / log(3) : 0;
    growth = fmin(growth, GROWTH_MOST);
    *ret_least = fmin(first, second);
    *ret_most = at > all && all > 0 ? worst * pow(at / all, growth) : worst;
}

double sp_bring_index_bytes(const struct sp_brought *b)
{
    const size_t last = SP_BRING_PARTS - 1;
    double fetches = 0, rows = (double)b->rows[last], bytes = (double)b->index_bytes[last];
    for (size_t i = 0; i < SP_BRING_PARTS; i++)
        fetches += (double)b->fetches[i];
    if (fetches == 0 || rows == 0)
        return 0;
    double more_rows = rows - (double)b->rows[0], more = bytes - (double)b->index_bytes[0];
    double a_row = more_rows > 0 && more > 0 ? fmin(more / more_rows, bytes / rows) : bytes / rows;
    return a_row * rows / fetches;
}
