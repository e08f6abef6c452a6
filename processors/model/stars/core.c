/* Helpers for all files of the index. */
#include "base/mem.h"
#include "base/tight.h"
#include "stars/internal.h"

enum sp_err sp_star_outcome(struct sp_stars *s)
{
    if (s->err == SP_OK && (sp_star_table_is_full(s->posted) || sp_star_table_is_full(s->beside)))
        s->err = SP_FULL;
    return s->err;
}

bool sp_star_signature_of(struct sp_stars *s, uint32_t row,
                          const struct sp_signature **ret_signature)
{
    if (s->err == SP_OK)
        s->err = s->options.signature(s->options.arg, row, ret_signature);
    return s->err == SP_OK;
}

void sp_star_prefetch_signatures(struct sp_stars *s, const uint32_t *rows, size_t count)
{
    if (s->options.prefetch && count)
        s->options.prefetch(s->options.arg, rows, count);
}

bool sp_star_is_capped(const struct sp_signature *signature)
{
    return signature->shingle_count < signature->shingle_total;
}

uint32_t sp_star_repeats(const uint32_t *keys, uint32_t count)
{
    uint32_t repeats = 0;
    for (uint32_t i = 1; i < count; i++)
        repeats += keys[i] == keys[i - 1];
    return repeats;
}

bool sp_star_verify(struct sp_stars *s, const struct sp_signature *x, const struct sp_signature *y,
                    double *ret_similarity)
{
    s->stats.verified++;
    return sp_similar(&s->options.similarity, x, y, ret_similarity);
}

struct row *sp_star_row_at(struct sp_stars *s, uint32_t row)
{
    SP_ASSERT(row < SP_STARS_ROWS);
    uint32_t before = s->row_cap;
    sp_tight_grow(&s->rows, &s->row_cap, row + 1);
    for (uint32_t i = before; i < s->row_cap; i++)
        s->rows[i] = (struct row){.star = NONE, .place = NONE};
    return &s->rows[row];
}

void sp_star_row_changed(struct sp_stars *s, uint32_t row)
{
    if (s->options.changed)
        s->options.changed(s->options.arg, row);
}

uint32_t sp_star_domain_key(const struct sp_stars_domain *d, uint32_t shingle)
{
    return shingle ^ d->salt;
}

void sp_star_touch(struct sp_stars *s, uint32_t star, uint32_t row, bool direct, double similarity)
{
    sp_grow(&s->touched, &s->touched_cap, s->touched_count + 1);
    s->touched[s->touched_count++] =
        (struct touched){star, row, direct, sp_star_name(s, row), similarity};
}

uint32_t sp_star_total(const struct sp_stars *s, const struct star *c)
{
    return c->capped ? sp_counts_get(&s->totals, (uint64_t)(c - s->stars)) : c->kept;
}

void sp_star_kids_sizes(const struct sp_stars *s, const struct star *c, uint32_t *ret_min,
                        uint32_t *ret_max)
{
    *ret_min = c->kids ? c->kids->min_total : sp_star_total(s, c);
    *ret_max = c->kids ? c->kids->max_total : *ret_min;
}

void sp_star_brief_note(struct sp_stars *s, uint32_t star)
{
    const struct star *c = &s->stars[star];
    uint32_t min_total, max_total;
    bool capped = c->kids ? c->kids->capped : c->capped;
    sp_star_kids_sizes(s, c, &min_total, &max_total);
    s->briefs[star].most = capped ? 0 : max_total;
}
