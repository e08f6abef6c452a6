/* Which contents resemble one another. Pairs are not listed, because near copies in one group have
 * as many as the square of their number. An index of stars (stars/stars.h), which misses no similar
 * row and reports few of them, tells
 *
 *   missed   a kept content touches an earlier kept one, in reading order
 *   right    a removed content touches a kept one
 *   alike    a removed content that touches no kept one touches another removed one
 *   best     the nearest kept content of a removed one. A touch is one row of a star, perhaps not
 *            the nearest; if the star has others, more indexes are asked, with the bins of the
 *            histogram as thresholds
 *
 * Only the number of pairs of kept near duplicates needs their pairs. It is counted last, with a
 * bounded number of comparisons. */
#include <math.h>

#include "audit/internal.h"
#include "base/mem.h"
#include "stars/stars.h"

struct index {
    struct sp_audit *audit;
    struct sp_similarity_options similarity;
    struct sp_stars *stars;
    struct sp_stars_domain *domain;
    enum sp_err err;
};

static void open_index(struct index *x, struct sp_audit *a, double threshold)
{
    const struct sp_similarity_options *o = &a->options->similarity;
    *x = (struct index){.audit = a, .similarity = *o};
    x->similarity.threshold = threshold;
    /* The combined method asks no more of a pair than at its own threshold. */
    x->similarity.band = fmax(o->threshold + o->band - threshold, 0);
    x->stars = sp_stars_new(&(struct sp_stars_options){.similarity = x->similarity,
                                                       .signature = sp_stars_signature_in_array,
                                                       .name = sp_stars_name_in_array,
                                                       .arg = a->signatures});
    x->domain = sp_stars_domain_new(x->stars, 0, false);
}

static void close_index(struct index *x)
{
    struct sp_stars_stats stats;
    sp_stars_stats(x->stars, &stats);
    x->audit->result->compared += stats.verified;
    sp_stars_free(x->stars);
    sp_stars_domain_free(x->domain);
}

static struct sp_touches put(struct index *x, uint32_t content)
{
    struct sp_touches touches = {0};
    if (x->err == SP_OK)
        x->err = sp_stars_insert(x->domain, content, x->audit->signatures[content], &touches);
    return x->err == SP_OK ? touches : (struct sp_touches){0};
}

/* What the content touches, except for itself. */
static struct sp_touches touches_of(struct index *x, uint32_t content)
{
    struct sp_touches touches = {0};
    if (x->err == SP_OK)
        x->err = sp_stars_probe(x->domain, x->audit->signatures[content], content, &touches);
    return x->err == SP_OK ? touches : (struct sp_touches){0};
}

static bool has_words(const struct sp_audit *a, uint32_t content)
{
    return a->signatures[content]->shingle_total > 0;
}

/* All documents of this content that count were removed. */
static bool is_removed(const struct sp_audit *a, uint32_t content)
{
    const struct sp_audit_content *c = &a->contents[content];
    return c->kept == 0 && c->removed > 0 && has_words(a, content);
}

static double similarity_of(const struct index *x, uint32_t a, uint32_t b)
{
    double similarity = 0;
    x->audit->result->compared++;
    bool similar =
        sp_similar(&x->similarity, x->audit->signatures[a], x->audit->signatures[b], &similarity);
    return similar ? similarity : 0;
}

/* ---- kept contents ---- */

static void put_kept(struct index *x)
{
    struct sp_audit *a = x->audit;
    for (uint32_t i = 0; i < a->count; i++) {
        uint32_t content = a->documents[i].content;
        struct sp_audit_content *c = &a->contents[content];
        if (c->first_kept != i || !has_words(a, content))
            continue;
        struct sp_touches touches = put(x, content);
        c->missed = touches.count > 0;
        if (c->missed)
            sp_audit_add_example(a, SP_AUDIT_MISSED, i,
                                 a->contents[touches.items[0].row].first_kept,
                                 similarity_of(x, content, touches.items[0].row));
    }
}

/* Of one kept content, its earlier near duplicates. */
struct earlier {
    struct index *index;
    uint32_t content;
    uint32_t *met_by; /* by content, plus 1: a row may be met in two stars */
    uint64_t comparisons;
};

static void count_pair(void *arg, uint32_t row)
{
    struct earlier *e = arg;
    struct sp_audit *a = e->index->audit;
    const struct sp_audit_content *c = &a->contents[e->content], *other = &a->contents[row];
    if (other->first_kept >= c->first_kept || e->met_by[row] == e->content + 1)
        return;
    if (e->comparisons == a->options->most_comparisons) {
        a->result->missed_pairs_at_least = true;
        return;
    }
    e->met_by[row] = e->content + 1;
    e->comparisons++;
    if (similarity_of(e->index, e->content, row) > 0)
        a->result->missed_pairs += (uint64_t)c->kept * other->kept;
}

static void count_pairs(struct index *x)
{
    struct sp_audit *a = x->audit;
    struct earlier e = {.index = x};
    e.met_by = sp_calloc((size_t)a->content_count + 1, sizeof *e.met_by);
    for (e.content = 0; e.content < a->content_count; e.content++) {
        if (!a->contents[e.content].missed || a->result->missed_pairs_at_least)
            continue;
        struct sp_touches touches = touches_of(x, e.content);
        for (size_t t = 0; t < touches.count; t++)
            sp_stars_each_member(x->stars, touches.items[t].row, count_pair, &e);
    }
    sp_free(e.met_by);
}

/* ---- removed contents: the nearest kept one ---- */

struct nearest {
    struct index *kept;
    bool *wanted;   /* kept contents that may be the nearest of an open one */
    uint32_t *open; /* removed contents whose nearest may be another one than they touched */
    uint32_t open_count;
    uint32_t content; /* the one that is asked about */
};

static unsigned bin_of(double similarity)
{
    return (unsigned)(similarity * SP_AUDIT_BINS);
}

static void note_near(struct nearest *n, double similarity)
{
    struct sp_audit_content *c = &n->kept->audit->contents[n->content];
    if (similarity > c->best)
        c->best = similarity;
}

static void try_member(void *arg, uint32_t row)
{
    struct nearest *n = arg;
    note_near(n, similarity_of(n->kept, n->content, row));
}

static void want_member(void *arg, uint32_t row)
{
    struct nearest *n = arg;
    n->wanted[row] = true;
}

/* Whether the similar contents at a higher threshold are those similar ones whose measure reaches
 * it. Cosine and lcs ask for other shared keys as well at each threshold. */
static bool is_plain(const struct sp_audit *a)
{
    return !sp_method_info(a->options->similarity.method)->by_candidates;
}

static void ask_kept(struct nearest *n)
{
    struct index *x = n->kept;
    struct sp_audit *a = x->audit;
    struct sp_touches touches = touches_of(x, n->content);
    bool open = false;
    a->contents[n->content].right = touches.count > 0;
    for (size_t t = 0; t < touches.count; t++) {
        uint32_t row = touches.items[t].row;
        note_near(n, similarity_of(x, n->content, row));
        if (sp_stars_members(x->stars, row) == 1)
            continue;
        uint32_t pivot = sp_stars_pivot(x->stars, row);
        if (!is_plain(a)) {
            sp_stars_each_member(x->stars, row, try_member, n);
        } else if (pivot == SP_STARS_NONE || !n->wanted[pivot]) {
            sp_stars_each_member(x->stars, row, want_member, n);
        }
        open |= is_plain(a);
    }
    if (open)
        n->open[n->open_count++] = n->content;
}

static bool is_below(const struct nearest *n, uint32_t content, unsigned bin)
{
    return bin_of(n->kept->audit->contents[content].best) < bin;
}

/* Finds the open contents with a kept one in that bin or above it, and closes them. */
static enum sp_err ask_bin(struct nearest *n, unsigned bin)
{
    struct sp_audit *a = n->kept->audit;
    struct index at_bin;
    uint32_t open = 0;
    open_index(&at_bin, a, (double)bin / SP_AUDIT_BINS);
    for (uint32_t i = 0; i < a->content_count; i++)
        if (n->wanted[i])
            put(&at_bin, i);
    for (uint32_t i = 0; i < n->open_count; i++) {
        n->content = n->open[i];
        if (!is_below(n, n->content, bin))
            continue;
        struct sp_touches touches = touches_of(&at_bin, n->content);
        for (size_t t = 0; t < touches.count; t++)
            note_near(n, similarity_of(&at_bin, n->content, touches.items[t].row));
        if (is_below(n, n->content, bin))
            n->open[open++] = n->content;
    }
    n->open_count = open;
    close_index(&at_bin);
    return at_bin.err;
}

static bool any_below(const struct nearest *n, unsigned bin)
{
    for (uint32_t i = 0; i < n->open_count; i++)
        if (is_below(n, n->open[i], bin))
            return true;
    return false;
}

static enum sp_err judge_removed_by_kept(struct index *kept)
{
    struct sp_audit *a = kept->audit;
    struct nearest n = {.kept = kept};
    n.wanted = sp_calloc((size_t)a->content_count + 1, sizeof *n.wanted);
    n.open = sp_alloc(((size_t)a->content_count + 1) * sizeof *n.open);
    for (n.content = 0; n.content < a->content_count; n.content++)
        if (is_removed(a, n.content))
            ask_kept(&n);
    enum sp_err err = kept->err;
    for (unsigned bin = SP_AUDIT_BINS; err == SP_OK && any_below(&n, bin); bin--)
        err = ask_bin(&n, bin);
    sp_free(n.wanted);
    sp_free(n.open);
    return err;
}

/* ---- removed contents that resemble no kept one ---- */

static bool is_lost(const struct sp_audit *a, uint32_t content)
{
    return is_removed(a, content) && !a->contents[content].right;
}

static enum sp_err look_for_chains(struct sp_audit *a)
{
    struct index removed;
    uint32_t first = 0;
    while (first < a->content_count && !is_lost(a, first))
        first++;
    if (first == a->content_count)
        return SP_OK;
    open_index(&removed, a, a->options->similarity.threshold);
    for (uint32_t i = 0; i < a->content_count; i++)
        if (is_removed(a, i))
            put(&removed, i);
    for (uint32_t i = first; i < a->content_count; i++)
        if (is_lost(a, i))
            a->contents[i].alike = touches_of(&removed, i).count > 0;
    close_index(&removed);
    return removed.err;
}

uint32_t sp_audit_nearest(const struct sp_audit *a, uint32_t content, double *ret_similarity)
{
    uint32_t nearest = SP_AUDIT_NONE;
    double best = 0, similarity;
    for (uint32_t i = 0; i < a->content_count; i++)
        if (i != content && a->contents[i].kept + a->contents[i].removed > 0 &&
            sp_similar(&a->options->similarity, a->signatures[content], a->signatures[i],
                       &similarity) &&
            (nearest == SP_AUDIT_NONE || similarity > best)) {
            nearest = i;
            best = similarity;
        }
    a->result->compared += a->content_count;
    *ret_similarity = best;
    return nearest;
}

enum sp_err sp_audit_compare(struct sp_audit *a)
{
    struct index kept;
    if (a->content_count >= SP_STARS_ROWS)
        return SP_TOO_LARGE;
    open_index(&kept, a, a->options->similarity.threshold);
    put_kept(&kept);
    enum sp_err err = kept.err == SP_OK ? judge_removed_by_kept(&kept) : kept.err;
    if (err == SP_OK)
        count_pairs(&kept);
    err = err == SP_OK ? kept.err : err;
    close_index(&kept);
    return err == SP_OK ? look_for_chains(a) : err;
}
