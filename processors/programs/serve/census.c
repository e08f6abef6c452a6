/* See census.h. The groups shown are those with the most members and those with the least similar
 * losers, because these help to choose a threshold. */
#include "serve/census.h"

#include <stdlib.h>

#include "base/json_write.h"
#include "base/map.h"
#include "base/mem.h"
#include "codec/lines.h"
#include "partition/maps.h"

enum {
    SHOWN = 50,
    SIZES = 24, /* 1, 2, 3-4, 5-8, ... */
    BUCKETS = 40,
    STATUSES = SP_STATUS_GONE + 1
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

struct sp_census {
    struct sp_map groups;
    struct fetch *fetches;
    size_t fetch_count;
    size_t fetch_cap;
    uint64_t statuses[STATUSES];
    uint64_t *cells[SP_CELL_VERSIONS]; /* pages in each cell of that map; NULL: in none */
};

/* ---- counting */

static struct group *group_of(struct sp_census *c, const struct sp_page_view *v)
{
    struct sp_id key = sp_hash128(&v->group, sizeof v->group);
    struct group *g = sp_map_get(&c->groups, key);
    if (g)
        return g;
    g = sp_alloc(sizeof *g);
    *g = (struct group){.key = key, .id = v->group, .winner = v->page, .weakest = 2};
    sp_map_add(&c->groups, g);
    return g;
}

static void note_cell(struct sp_census *c, uint32_t number)
{
    uint32_t map = sp_cell_version(number);
    if (map >= SP_CELL_VERSIONS)
        return;
    if (!c->cells[map])
        c->cells[map] = sp_calloc(SP_MAX_CELLS, sizeof *c->cells[map]);
    c->cells[map][sp_cell_in_map(number)]++;
}

void sp_census_note(void *census, const struct sp_page_view *v)
{
    struct sp_census *c = census;
    if (v->status == SP_STATUS_NONE)
        return;
    c->statuses[v->status]++;
    sp_grow(&c->fetches, &c->fetch_cap, c->fetch_count + 1);
    c->fetches[c->fetch_count++] = (struct fetch){v->version, (uint8_t)v->status};
    if (v->in_cell)
        note_cell(c, v->cell);
    if (v->status == SP_STATUS_UNIQUE)
        return;
    struct group *g = group_of(c, v);
    g->pages++;
    if (v->status == SP_STATUS_WINNER) {
        g->winner = v->page;
        g->winners++;
    }
    if (v->status == SP_STATUS_LOSER && v->reason != SP_REASON_REDIRECT &&
        v->similarity < g->weakest)
        g->weakest = v->similarity;
}

struct sp_census *sp_census_new(void)
{
    return sp_calloc(1, sizeof(struct sp_census));
}

void sp_census_free(struct sp_census *c)
{
    if (!c)
        return;
    sp_map_free_objects(&c->groups);
    for (size_t m = 0; m < SP_CELL_VERSIONS; m++)
        sp_free(c->cells[m]);
    sp_free(c->fetches);
    sp_free(c);
}

/* ---- the report ---- */

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

static void put_sizes(struct sp_buf *out, const struct sp_census *c)
{
    uint64_t groups[SIZES] = {c->statuses[SP_STATUS_UNIQUE]}, pages[SIZES] = {groups[0]};
    uint64_t all = groups[0], duplicates = 0;
    uint64_t cursor = 0;
    for (const struct group *g; (g = sp_map_next(&c->groups, &cursor));) {
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

/* While pages are in the cells of two maps, this finds the newer one, which they move to: no page
 * is in cells of the version after it. Versions are numbered modulo SP_CELL_VERSIONS. */
static const uint64_t *newest_map(const struct sp_census *c)
{
    for (size_t m = 0; m < SP_CELL_VERSIONS; m++)
        if (c->cells[m] && !c->cells[(m + 1) % SP_CELL_VERSIONS])
            return c->cells[m];
    return NULL;
}

static void put_cells(struct sp_buf *out, const struct sp_census *c)
{
    const uint64_t *newest = newest_map(c);
    uint64_t leaving = 0;
    uint32_t count = 0;
    for (size_t m = 0; m < SP_CELL_VERSIONS; m++)
        for (uint32_t i = 0; c->cells[m] && i < SP_MAX_CELLS; i++) {
            leaving += c->cells[m] != newest ? c->cells[m][i] : 0;
            if (c->cells[m] == newest && newest[i])
                count = i + 1;
        }
    sp_buf_put_str(out, ",\"cells\":[");
    for (uint32_t i = 0; i < count; i++)
        put_count(out, i ? "," : "", newest[i]);
    put_count(out, "],\"leaving\":", leaving);
}

/* Counts pages by the time of their last fetch and by their status. */
static void put_timeline(struct sp_buf *out, const struct sp_census *c)
{
    uint64_t counts[BUCKETS][STATUSES] = {{0}};
    int64_t first = INT64_MAX, last = 0;
    for (size_t i = 0; i < c->fetch_count; i++) {
        first = c->fetches[i].version < first ? c->fetches[i].version : first;
        last = c->fetches[i].version > last ? c->fetches[i].version : last;
    }
    int64_t width = c->fetch_count ? (last - first) / BUCKETS + 1 : 1;
    for (size_t i = 0; i < c->fetch_count; i++)
        counts[(c->fetches[i].version - first) / width][c->fetches[i].status]++;
    sp_buf_put_str(out, ",\"timeline\":[");
    for (int b = 0; b < BUCKETS && c->fetch_count; b++) {
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

static void put_extremes(struct sp_buf *out, struct sp_state_reader *r, const struct sp_census *c)
{
    struct group **sorted = sp_alloc((c->groups.count + 1) * sizeof *sorted);
    size_t count = 0, weak = 0;
    uint64_t cursor = 0;
    for (struct group *g; (g = sp_map_next(&c->groups, &cursor));)
        if (g->pages > 1)
            sorted[count++] = g;
    qsort(sorted, count, sizeof *sorted, by_size);
    put_groups(out, r, ",\"largest\":[", sorted, count);
    qsort(sorted, count, sizeof *sorted, by_weakness);
    while (weak < count && sorted[weak]->weakest <= 1)
        weak++;
    put_groups(out, r, ",\"weakest\":[", sorted, weak);
    sp_free(sorted);
}

void sp_census_put(const struct sp_census *c, struct sp_state_reader *r, struct sp_buf *out)
{
    put_count(out, "\"pages\":", c->fetch_count);
    put_count(out, ",\"unique\":", c->statuses[SP_STATUS_UNIQUE]);
    put_count(out, ",\"winner\":", c->statuses[SP_STATUS_WINNER]);
    put_count(out, ",\"loser\":", c->statuses[SP_STATUS_LOSER]);
    put_count(out, ",\"gone\":", c->statuses[SP_STATUS_GONE]);
    put_sizes(out, c);
    put_cells(out, c);
    put_timeline(out, c);
    put_extremes(out, r, c);
}
