/* Adds and removes the kids of a star. */
#include <stdlib.h>

#include "base/mem.h"
#include "base/order.h"
#include "stars/bits.h"
#include "stars/internal.h"

static void meet(struct kids *kids, uint32_t kept, uint32_t total)
{
    kids->min_total = kids->min_total && kids->min_total < total ? kids->min_total : total;
    kids->max_total = kids->max_total > total ? kids->max_total : total;
    kids->capped |= kept < total;
}

struct kids *sp_star_kids_make(struct sp_stars *s, uint32_t star)
{
    struct star *c = &s->stars[star];
    if (!c->kids) {
        c->kids = sp_calloc(1, sizeof *c->kids);
        s->stats.bytes += sizeof *c->kids;
        c->kids->min_kept = UINT32_MAX;
        meet(c->kids, c->kept, sp_star_total(s, c));
    }
    return c->kids;
}

struct owing *sp_star_owing_make(struct sp_stars *s, uint32_t star)
{
    struct kids *kids = sp_star_kids_make(s, star);
    if (!kids->owes) {
        kids = sp_realloc(kids, sizeof *kids + sizeof *kids->owing);
        kids->owes = true;
        kids->owing[0] = (struct owing){.heir = NONE};
        s->stars[star].kids = kids;
        s->stats.bytes += sizeof *kids->owing;
    }
    return kids->owing;
}

static void owing_free(struct sp_stars *s, struct kids *kids)
{
    if (!kids->owes)
        return;
    s->stats.bytes -= sizeof *kids->owing + kids->owing->queue_room * sizeof *kids->owing->queue;
    sp_free(kids->owing->queue);
    kids->owes = false;
}

void sp_star_owing_free(struct sp_stars *s, uint32_t star)
{
    struct kids *kids = s->stars[star].kids;
    owing_free(s, kids);
    s->stars[star].kids = sp_realloc(kids, sizeof *kids);
}

void sp_star_kids_free(struct sp_stars *s, uint32_t star)
{
    struct kids *kids = s->stars[star].kids;
    if (!kids)
        return;
    s->stats.bytes -= sizeof *kids;
    sp_star_lacks_free(s, kids);
    sp_star_litters_free(s, kids);
    owing_free(s, kids);
    sp_free(kids);
    s->stars[star].kids = NULL;
    sp_star_brief_note(s, star);
}

void sp_star_kid_adopt(struct sp_stars *s, uint32_t row, uint32_t adopter)
{
    sp_star_litter_leave(s, row);
    sp_star_litter_enter(s, row, ADOPTED, adopter);
    sp_star_row_changed(s, row);
}

void sp_star_kid_put(struct sp_stars *s, uint32_t star, struct kid kid, uint32_t total)
{
    struct kids *kids = sp_star_kids_make(s, star);
    s->rows[kid.row].star = star;
    s->rows[kid.row].kept = kid.kept;
    s->rows[kid.row].overlap = kid.overlap;
    sp_star_litter_enter(s, kid.row, kid.kind, kid.adopter);
    if (kid.kept - kid.overlap > kids->max_beside)
        kids->max_beside = (kid.kept - kid.overlap) & 0x1ffff;
    if (kid.kept < kids->min_kept)
        kids->min_kept = kid.kept;
    meet(kids, kid.kept, total);
    sp_star_brief_note(s, star);
    sp_star_reach_note(s, star);
}

static bool can_be_indexed(const struct sp_stars *s, uint32_t star)
{
    return !s->by_keys && sp_star_domain_of(s, star)->posted;
}

bool sp_star_kids_note(struct sp_stars *s, uint32_t star, const struct sp_signature *pivot,
                       uint32_t in_vain)
{
    enum { FEWEST = 8, IN_VAIN_EACH = 4, MOST = (1 << 11) - 1 };
    struct kids *kids = s->stars[star].kids;
    uint32_t count = sp_star_kids_count(kids);
    kids->in_vain = sp_min_u32(kids->in_vain + in_vain, MOST) & MOST;
    if (count >= FEWEST && kids->in_vain >= IN_VAIN_EACH * count && can_be_indexed(s, star)) {
        sp_star_index_all(s, star, pivot);
        kids->early = true;
    }
    return s->err == SP_OK;
}

static void report_changed(void *arg, struct kid kid)
{
    sp_star_row_changed(arg, kid.row);
}

/* Indexes the star unless it is indexed; from now on that is stored. */
static void become_large(struct sp_stars *s, uint32_t star, const struct sp_signature *pivot)
{
    struct kids *kids = s->stars[star].kids;
    if (sp_star_kids_large(kids))
        return;
    if (!kids->indexed)
        sp_star_index_all(s, star, pivot);
    kids->early = false;
    sp_star_kids_each(s, kids, report_changed, s);
    sp_star_row_changed(s, s->stars[star].pivot);
}

void sp_star_kid_add(struct sp_stars *s, uint32_t star, uint32_t row,
                     const struct sp_signature *pivot, const struct sp_signature *child,
                     enum kid_kind kind, uint32_t adopter)
{
    const struct kids *kids = s->stars[star].kids;
    bool indexed = kids && kids->indexed;
    uint32_t beside = sp_star_beside_of(s, child, pivot);
    uint32_t pivot_row = s->stars[star].pivot;
    struct kid kid = {row, child->shingle_count, child->shingle_count - beside, kind, adopter};
    if (s->by_bits)
        sp_star_bits_keep(s, pivot, child, &kid);
    sp_star_kid_put(s, star, kid, child->shingle_total);
    if (indexed)
        sp_star_kid_beside_put(s, pivot_row, row, s->hashes, beside);
    if (sp_star_kids_count(s->stars[star].kids) >= INDEXED_FROM && can_be_indexed(s, star))
        become_large(s, star, pivot);
    sp_star_lacks_put(s, s->stars[star].kids, row, child);
    if (sp_star_cover_child(s, star, pivot, child))
        sp_star_row_changed(s, pivot_row);
    sp_star_row_changed(s, row);
}

bool sp_star_kid_remove(struct sp_stars *s, uint32_t row, const struct sp_signature *child)
{
    struct row *r = &s->rows[row];
    struct star *c = &s->stars[r->star];
    if (c->kids->indexed) {
        const struct sp_signature *pivot;
        if (!sp_star_signature_of(s, c->pivot, &pivot))
            return false;
        uint32_t beside = sp_star_beside_of(s, child, pivot);
        sp_star_kid_beside_take(s, c->pivot, row, s->hashes, beside);
    }
    sp_star_lacks_take(s, c->kids, row);
    sp_star_uncover_child(s, r->star, child);
    sp_star_litter_leave(s, row);
    r->star = NONE;
    return true;
}

/* ---- a kid leaves for good ---- */

struct named {
    uint64_t name;
    uint32_t row;
};

static int by_name(const void *a, const void *b)
{
    const struct named *x = a, *y = b;
    if (x->name != y->name)
        return x->name < y->name ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

/* Makes orphans of the rows that it has adopted. The first of the adopter's list is taken each
 * time, which is found at once. Their order there depends on history, so changes are reported by
 * name. */
static void orphan_all(struct sp_stars *s, uint32_t adopter)
{
    struct named *all = NULL;
    uint32_t count = 0, cap = 0;
    for (uint32_t row; (row = sp_star_one_adopted_by(s, adopter)) != NONE;) {
        sp_star_litter_leave(s, row);
        sp_grow(&all, &cap, count + 1);
        all[count++] = (struct named){sp_star_name(s, row), row};
    }
    if (count > 1)
        qsort(all, count, sizeof *all, by_name);
    for (uint32_t i = 0; i < count; i++) {
        sp_star_litter_enter(s, all[i].row, FRINGE, ORPHAN);
        sp_star_row_changed(s, all[i].row);
    }
    sp_free(all);
}

bool sp_star_kid_leave(struct sp_stars *s, uint32_t row, const struct sp_signature *child)
{
    orphan_all(s, row);
    return sp_star_kid_remove(s, row, child);
}
