/* See stars_helper.h. The helper plays the part of the group stage: a row's edges are what its last
 * probe touched, and a row whose witness left its star is probed again. */
#include "stars_helper.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/mem.h"
#include "base/order.h"

static enum sp_err signature_of_row(void *arg, uint32_t row, const struct sp_signature **ret)
{
    struct sample *s = arg;
    SP_ASSERT(row < s->rows && (s->live[row] || s->ghost[row]));
    *ret = s->signatures[row];
    return s->fails_after && --s->fails_after == 0 ? SP_STORE : SP_OK;
}

static uint64_t name_of_row(void *arg, uint32_t row)
{
    struct sample *s = arg;
    SP_ASSERT(row < s->rows && (s->live[row] || s->ghost[row]));
    s->named++;
    return s->signatures[row]->content_hash.lo;
}

/* Only rows that can be read may be announced. */
static void note_announced(void *arg, const uint32_t *rows, size_t count)
{
    struct sample *s = arg;
    for (size_t i = 0; i < count; i++)
        SP_ASSERT(rows[i] < s->rows && (s->live[rows[i]] || s->ghost[rows[i]]));
    s->announced += count;
}

static void note_changed(void *arg, uint32_t row)
{
    struct sample *s = arg;
    s->reported[row] = true;
}

static void open_index(struct sample *s, const struct sp_similarity_options *similarity,
                       uint32_t max_shingles, bool small)
{
    struct sp_stars_options options = {.similarity = *similarity,
                                       .signature = signature_of_row,
                                       .name = name_of_row,
                                       .prefetch = note_announced,
                                       .changed = note_changed,
                                       .arg = s,
                                       .orphans_apart = true,
                                       .marks = true};
    s->similarity = *similarity;
    s->max_shingles = max_shingles;
    s->stars = sp_stars_new(&options);
    s->domain = sp_stars_domain_new(s->stars, 77, small);
}

void sample_init(struct sample *s, const struct sp_similarity_options *similarity,
                 uint32_t max_shingles, bool small)
{
    *s = (struct sample){.random = 12345, .risen = SP_STARS_NONE};
    s->signatures = sp_calloc(MAX_ROWS, sizeof(struct sp_signature *));
    s->live = sp_calloc(MAX_ROWS, sizeof *s->live);
    s->ghost = sp_calloc(MAX_ROWS, sizeof *s->ghost);
    s->edges = sp_calloc(MAX_ROWS, sizeof *s->edges);
    s->reported = sp_calloc(MAX_ROWS, sizeof *s->reported);
    s->forms = sp_calloc(MAX_ROWS, sizeof *s->forms);
    open_index(s, similarity, max_shingles, small);
}

void sample_done(struct sample *s)
{
    for (uint32_t i = 0; i < s->rows; i++) {
        sp_signature_unref(s->signatures[i]);
        sp_free(s->edges[i].to);
    }
    sp_stars_free(s->stars);
    sp_stars_domain_free(s->domain);
    sp_free(s->signatures);
    sp_free(s->live);
    sp_free(s->ghost);
    sp_free(s->edges);
    sp_free(s->reported);
    sp_free(s->forms);
}

uint64_t sample_random(struct sample *s, uint64_t below)
{
    s->random = sp_mix64(s->random + 0x9e3779b97f4a7c15ull);
    return s->random % below;
}

struct sp_signature *signature_of_set(const struct sample *s, uint32_t *shingles, uint32_t count,
                                      uint64_t serial)
{
    qsort(shingles, count, sizeof *shingles, sp_by_u32);
    uint32_t kept = s->max_shingles && count > s->max_shingles ? s->max_shingles : count;
    struct sp_signature *x = sp_signature_alloc(kept, 0);
    x->params = 1;
    x->content_hash = sp_hash128(&serial, sizeof serial);
    x->length[0] = x->shingle_total = count;
    x->length[1] = x->length[2] = 0;
    x->shingle_count = kept;
    x->sentence_count = 0;
    memcpy(x->hashes, shingles, kept * sizeof *shingles);
    return x;
}

static void take_edges(struct sample *s, uint32_t row, const struct sp_touches *touches)
{
    struct edges *e = &s->edges[row];
    e->count = 0;
    sp_grow(&e->to, &e->cap, touches->count);
    for (size_t i = 0; i < touches->count; i++)
        e->to[e->count++] = touches->items[i].row;
}

static void probe_again(struct sample *s, uint32_t row)
{
    struct sp_touches touches;
    SP_ASSERT(sp_stars_probe(s->domain, s->signatures[row], row, &touches) == SP_OK);
    take_edges(s, row, &touches);
}

static void left_star(struct sample *s, uint32_t gone);

static void insert(struct sample *s, uint32_t row)
{
    struct sp_touches touches;
    s->live[row] = true;
    SP_ASSERT(sp_stars_insert(s->domain, row, s->signatures[row], &touches) == SP_OK);
    take_edges(s, row, &touches);
    if (touches.risen == SP_STARS_NONE)
        return;
    s->risen = touches.risen;
    probe_again(s, s->risen);
    left_star(s, s->risen);
}

uint32_t sample_add(struct sample *s, struct sp_signature *signature)
{
    SP_ASSERT(s->rows < MAX_ROWS);
    uint32_t row = s->rows++;
    s->signatures[row] = signature;
    insert(s, row);
    return row;
}

/* Probes the rows again that relied on one that has left its star. */
static void left_star(struct sample *s, uint32_t gone)
{
    for (uint32_t row = 0; row < s->rows; row++) {
        struct edges *e = &s->edges[row];
        bool relied = false;
        for (uint32_t i = 0; s->live[row] && i < e->count; i++)
            relied |= e->to[i] == gone;
        if (relied)
            probe_again(s, row);
    }
}

void sample_remove(struct sample *s, uint32_t row)
{
    SP_ASSERT(s->live[row]);
    SP_ASSERT(sp_stars_remove(s->domain, row, &s->ghost[row]) == SP_OK);
    s->live[row] = false;
    s->edges[row].count = 0;
    left_star(s, row);
}

static uint32_t *copy(const uint32_t *numbers, size_t count)
{
    uint32_t *to = sp_alloc((count + 1) * sizeof *to);
    for (size_t i = 0; i < count; i++)
        to[i] = numbers[i];
    return to;
}

void sample_work(struct sample *s, uint32_t kids)
{
    struct sp_stars_left left;
    SP_ASSERT(sp_stars_work(s->domain, kids, &left) == SP_OK);
    uint32_t *rows = copy(left.rows, left.count), *moved = copy(left.moved, left.moved_count);
    size_t moved_count = left.moved_count;
    for (size_t i = 0; i < left.ghost_count; i++)
        s->ghost[left.ghosts[i]] = false;
    for (size_t i = 0; i < left.count; i++)
        s->live[rows[i]] = false;
    for (size_t i = 0; i < left.count; i++)
        insert(s, rows[i]);
    for (size_t i = 0; i < left.count; i++)
        left_star(s, rows[i]);
    for (size_t i = 0; i < moved_count; i++)
        left_star(s, moved[i]);
    sp_free(rows);
    sp_free(moved);
}

void sample_settle(struct sample *s)
{
    while (sp_stars_owes(s->domain))
        sample_work(s, 3);
}

/* ---- components ---- */

static uint32_t find(uint32_t *set, uint32_t i)
{
    while (set[i] != i)
        i = set[i] = set[set[i]];
    return i;
}

static void unite(uint32_t *set, uint32_t a, uint32_t b)
{
    set[find(set, a)] = find(set, b);
}

bool sample_is_exact(struct sample *s)
{
    uint32_t *want = sp_alloc(s->rows * sizeof *want), *got = sp_alloc(s->rows * sizeof *got);
    for (uint32_t i = 0; i < s->rows; i++)
        want[i] = got[i] = i;
    bool exact = true;
    for (uint32_t i = 0; i < s->rows; i++) {
        if (!s->live[i])
            continue;
        for (uint32_t k = 0; k < i; k++)
            if (s->live[k] && sp_similar(&s->similarity, s->signatures[i], s->signatures[k], NULL))
                unite(want, i, k);
        unite(got, i, sp_stars_pivot(s->stars, i));
        for (uint32_t k = 0; k < s->edges[i].count; k++) {
            uint32_t to = s->edges[i].to[k];
            exact &= s->live[to] &&
                     sp_similar(&s->similarity, s->signatures[i], s->signatures[to], NULL);
            unite(got, i, to);
        }
    }
    for (uint32_t i = 0; i < s->rows; i++)
        for (uint32_t k = 0; k < i; k++)
            exact &= !s->live[i] || !s->live[k] ||
                     (find(want, i) == find(want, k)) == (find(got, i) == find(got, k));
    sp_free(want);
    sp_free(got);
    return exact;
}

/* ---- stored rows ---- */

struct stored {
    struct sp_star_row row;
    uint32_t number;
};

static struct stored store_row(struct sample *s, uint32_t row)
{
    struct stored r = {.number = row};
    SP_ASSERT(sp_stars_row_get(s->domain, row, &r.row) == SP_OK);
    r.row.hashes = copy(r.row.hashes, r.row.hash_count);
    if (r.row.posted)
        r.row.posted = sp_memdup(r.row.posted, (r.row.kept + 7) / 8);
    if (r.row.parity)
        r.row.parity =
            sp_memdup(r.row.parity, sp_stars_parity_words(r.row.kept) * sizeof(uint64_t));
    return r;
}

void sample_restore(struct sample *s)
{
    uint32_t count = 0;
    struct stored *rows = sp_alloc((s->rows + 1) * sizeof *rows);
    bool small = !sp_stars_domain_posted(s->domain);
    for (uint32_t i = 0; i < s->rows; i++)
        if (s->live[i] || s->ghost[i])
            rows[count++] = store_row(s, i);
    sp_stars_free(s->stars);
    sp_stars_domain_free(s->domain);
    open_index(s, &s->similarity, s->max_shingles, small);
    for (int kids = 0; kids < 2; kids++)
        for (uint32_t i = 0; i < count; i++)
            if ((rows[i].row.role > SP_STAR_GHOST) == (kids == 1))
                SP_ASSERT(sp_stars_row_put(s->domain, rows[i].number, &rows[i].row) == SP_OK);
    sp_stars_settle(s->stars);
    for (uint32_t i = 0; i < count; i++) {
        sp_free((void *)rows[i].row.hashes);
        sp_free((void *)rows[i].row.posted);
        sp_free((void *)rows[i].row.parity);
    }
    sp_free(rows);
}

static uint64_t form_of(struct sample *s, uint32_t row)
{
    struct sp_star_row r;
    struct sp_buf form = {0};
    SP_ASSERT(sp_stars_row_get(s->domain, row, &r) == SP_OK);
    const uint64_t numbers[] = {r.role,  r.other,   r.adopter, r.passed, r.kept,
                                r.total, r.overlap, r.indexed, r.centred};
    sp_buf_put(&form, numbers, sizeof numbers);
    sp_buf_put(&form, r.hashes, r.hash_count * sizeof *r.hashes);
    if (r.posted)
        sp_buf_put(&form, r.posted, (r.kept + 7) / 8);
    if (r.parity)
        sp_buf_put(&form, r.parity, sp_stars_parity_words(r.kept) * sizeof *r.parity);
    uint64_t hash = sp_hash128(form.data, form.len).lo;
    sp_buf_done(&form);
    return hash;
}

uint32_t sample_unreported(struct sample *s)
{
    uint32_t found = SP_STARS_NONE;
    for (uint32_t row = 0; row < s->rows; row++) {
        if (!s->live[row] && !s->ghost[row])
            continue;
        uint64_t form = form_of(s, row);
        if (form != s->forms[row] && !s->reported[row] && found == SP_STARS_NONE)
            found = row;
        s->forms[row] = form;
        s->reported[row] = false;
    }
    return found;
}
