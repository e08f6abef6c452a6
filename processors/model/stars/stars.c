/* The interface: makes the index and its domains; inserts, probes and removes rows. See stars.h. */
#include "stars/stars.h"

#include "base/mem.h"
#include "base/tight.h"
#include "stars/bits.h"
#include "stars/internal.h"
#include "stars/patterns.h"

enum sp_err sp_stars_signature_in_array(void *arg, uint32_t row,
                                        const struct sp_signature **ret_signature)
{
    struct sp_signature *const *signatures = arg;
    *ret_signature = signatures[row];
    return SP_OK;
}

uint64_t sp_stars_name_in_array(void *arg, uint32_t row)
{
    struct sp_signature *const *signatures = arg;
    return signatures[row]->content_hash.lo;
}

struct sp_stars *sp_stars_new(const struct sp_stars_options *options)
{
    struct sp_stars *s = sp_calloc(1, sizeof *s);
    SP_ASSERT(options->signature && options->name);
    s->options = *options;
    s->tau = options->similarity.threshold;
    s->rule = sp_candidate_rule(options->similarity.method, s->tau);
    s->by_keys = !sp_method_info(options->similarity.method)->jaccard;
    sp_star_bits_open(s);
    sp_star_patterns_open(s);
    s->posted = sp_star_table_new(POSTED_FEW);
    s->beside = sp_star_table_new(BESIDE_FEW);
    s->free_star = NONE;
    sp_grow(&s->domains, &s->domain_cap, 1);
    s->domains[s->domain_count++] = NULL;
    return s;
}

void sp_stars_free(struct sp_stars *s)
{
    if (!s)
        return;
    for (uint32_t i = 0; i < s->star_count; i++) {
        sp_star_bits_free(s, i);
        sp_star_kids_free(s, i);
    }
    sp_star_table_free(s->posted);
    sp_star_table_free(s->beside);
    sp_counts_done(&s->common);
    sp_counts_done(&s->adopters);
    sp_counts_done(&s->totals);
    sp_counts_done(&s->lacks);
    sp_counts_done(&s->mark_of);
    sp_free(s->marks);
    sp_tight_free(s->rows, s->row_cap);
    sp_tight_free(s->heaps, s->heap_cap);
    sp_tight_free(s->stars, s->star_cap);
    sp_free(s->domains);
    sp_star_patterns_close(s);
    sp_tight_free(s->briefs, s->brief_cap);
    sp_free(s->lengths);
    sp_free(s->hit);
    sp_free(s->found);
    sp_free(s->touched);
    sp_free(s->absorbed);
    sp_free(s->tried);
    sp_free(s->touches);
    sp_free(s->order);
    sp_free(s->fresh);
    sp_free(s->posting);
    sp_free(s->hashes);
    sp_free(s->keys);
    sp_free(s->gathered);
    sp_free(s->left);
    sp_free(s->left_marks);
    sp_free(s->moved);
    sp_free(s->moved_marks);
    sp_free(s->heirs);
    sp_free(s->ghosts);
    sp_free(s);
}

void sp_stars_stats(const struct sp_stars *s, struct sp_stars_stats *ret_stats)
{
    *ret_stats = s->stats;
    ret_stats->postings = sp_star_table_postings(s->posted) + sp_star_table_postings(s->beside);
    ret_stats->bytes =
        sizeof *s + sp_star_table_bytes(s->posted) + sp_star_table_bytes(s->beside) +
        s->common.cap * sizeof *s->common.items + s->adopters.cap * sizeof *s->adopters.items +
        s->totals.cap * sizeof *s->totals.items + s->lacks.cap * sizeof *s->lacks.items +
        s->row_cap * sizeof *s->rows + s->heap_cap * sizeof *s->heaps +
        s->star_cap * sizeof *s->stars + s->brief_cap * sizeof *s->briefs + s->stats.bytes;
}

/* ---- domains ---- */

struct sp_stars_domain *sp_stars_domain_new(struct sp_stars *s, uint64_t name, bool small)
{
    struct sp_stars_domain *d = sp_calloc(1, sizeof *d);
    d->stars = s;
    sp_grow(&s->domains, &s->domain_cap, s->domain_count + 1);
    d->number = s->domain_count;
    s->domains[s->domain_count++] = d;
    d->salt = (uint32_t)sp_mix64(name);
    d->posted = !small;
    return d;
}

void sp_stars_domain_free(struct sp_stars_domain *d)
{
    if (!d)
        return;
    sp_free(d->reach);
    sp_free(d->all);
    sp_shelf_done(&d->orphans);
    sp_shelf_done(&d->owing);
    sp_shelf_done(&d->heirs);
    sp_free(d);
}

uint32_t sp_stars_domain_rows(const struct sp_stars_domain *d)
{
    return d->rows;
}

bool sp_stars_domain_posted(const struct sp_stars_domain *d)
{
    return d->posted;
}

/* ---- inserting and probing ---- */

static bool insert(struct sp_stars_domain *d, uint32_t row, const struct sp_signature *x)
{
    if (!sp_star_place(d, row, x))
        return false;
    d->rows++;
    d->stars->stats.rows++;
    return d->posted || d->rows < POSTED_FROM || sp_star_domain_post(d);
}

enum sp_err sp_stars_insert(struct sp_stars_domain *d, uint32_t row,
                            const struct sp_signature *signature, struct sp_touches *ret_touches)
{
    struct sp_stars *s = d->stars;
    struct row *r = sp_star_row_at(s, row);
    SP_ASSERT(r->star == NONE);
    sp_star_pattern_forget(s, row);
    r->place = NONE;
    r->kept = signature->shingle_count;
    uint32_t twin;
    if (!sp_star_probe_row(d, row, signature, &twin))
        return s->err;
    sp_star_probe_report(s, ret_touches);
    ret_touches->twin = twin;
    insert(d, row, signature);
    ret_touches->risen = s->risen;
    return sp_star_outcome(s);
}

enum sp_err sp_stars_probe(struct sp_stars_domain *d, const struct sp_signature *signature,
                           uint32_t except, struct sp_touches *ret_touches)
{
    if (sp_star_probe(d, signature, except))
        sp_star_probe_report(d->stars, ret_touches);
    return d->stars->err;
}

enum sp_err sp_stars_probe_row(struct sp_stars_domain *d, uint32_t row,
                               const struct sp_signature *signature, struct sp_touches *ret_touches)
{
    uint32_t twin;
    SP_ASSERT(sp_stars_has(d->stars, row));
    if (sp_star_probe_row(d, row, signature, &twin)) {
        sp_star_probe_report(d->stars, ret_touches);
        ret_touches->twin = twin;
    }
    return d->stars->err;
}

uint32_t sp_stars_mark(struct sp_stars *s, uint32_t row)
{
    SP_ASSERT(sp_stars_has(s, row));
    return sp_star_mark(s, s->rows[row].star);
}

enum sp_err sp_stars_probe_marked(struct sp_stars_domain *d, uint32_t mark, uint32_t row,
                                  const struct sp_signature *signature,
                                  struct sp_touches *ret_touches, bool *ret_known)
{
    struct sp_stars *s = d->stars;
    uint32_t stars[2], count = sp_star_marked(s, mark, stars);
    *ret_known = count > 0;
    if (count > 0 && sp_star_probe_stars(d, stars, count, signature, row))
        sp_star_probe_report(s, ret_touches);
    return s->err;
}

/* ---- removing ---- */

enum sp_err sp_stars_remove(struct sp_stars_domain *d, uint32_t row, bool *ret_ghost)
{
    struct sp_stars *s = d->stars;
    const struct sp_signature *x;
    SP_ASSERT(sp_stars_has(s, row));
    uint32_t star = s->rows[row].star;
    struct star *c = &s->stars[star];
    *ret_ghost = false;
    if (!sp_star_signature_of(s, row, &x))
        return s->err;
    d->rows--;
    s->stats.rows--;
    bool owes = c->headless || c->draining;
    if (c->pivot != row) {
        if (sp_star_kid_leave(s, row, x) && !owes && sp_star_kids_count(c->kids) == 0) {
            if (sp_star_kids_large(c->kids)) /* which is stored */
                sp_star_row_changed(s, c->pivot);
            sp_star_kids_free(s, star);
        }
    } else if (!owes && sp_star_kids_count(c->kids) == 0) {
        sp_star_uncover_star(s, star, x);
        sp_star_free(s, star);
    } else {
        *ret_ghost = true;
        sp_star_lose_pivot(s, star);
        sp_star_row_changed(s, row);
    }
    return sp_star_outcome(s);
}
