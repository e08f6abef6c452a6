/* Chooses better pivots. When a star becomes large, its pivot is replaced by its most central
 * member, the one with the largest overlaps. Whenever it has doubled after that, a child that
 * resembles many kids that the pivot does not resemble may become a pivot. Reason: probes are ruled
 * out by their overlap with the pivot, and a pivot far from what the members have in common rules
 * out fewer. */
#include "base/mem.h"
#include "base/order.h"
#include "stars/internal.h"

enum { CENTRES_TRIED = 8 };

struct crowd {
    struct sp_stars *stars;
    struct kid kids[CENTRED_MOST + 1]; /* the pivot first */
    const struct sp_signature *signatures[CENTRED_MOST + 1];
    uint64_t overlap[CENTRED_MOST + 1]; /* with all others */
    struct sp_counts held;              /* shingle -> members that have it */
    uint32_t count;
};

static void join_crowd(void *arg, struct kid kid)
{
    struct crowd *c = arg;
    if (!sp_star_signature_of(c->stars, kid.row, &c->signatures[c->count]))
        return;
    c->kids[c->count++] = kid;
}

/* Calls visit for each shingle of the signature: a different number for each occurrence of a hash,
 * so that the overlap of two signatures is the count of numbers that both have. */
static uint64_t each_shingle(struct crowd *c, const struct sp_signature *x,
                             uint64_t (*visit)(struct sp_counts *counts, uint64_t shingle))
{
    uint64_t sum = 0, occurrence = 0;
    for (uint32_t i = 0; i < x->shingle_count; i++) {
        occurrence = sp_is_repeat(x->hashes, i) ? occurrence + 1 : 0;
        sum += visit(&c->held, occurrence << 32 | x->hashes[i]);
    }
    return sum;
}

static uint64_t count_holder(struct sp_counts *held, uint64_t shingle)
{
    return sp_counts_add(held, shingle, 1);
}

static uint64_t other_holders(struct sp_counts *held, uint64_t shingle)
{
    return sp_counts_get(held, shingle) - 1;
}

/* Whether all others can be its kids, and all children its children. */
static bool can_be_pivot(struct crowd *c, uint32_t candidate)
{
    const struct sp_signature *x = c->signatures[candidate];
    double similarity;
    for (uint32_t i = 0; i < c->count; i++)
        if (i != candidate && (!sp_star_cover_possible(c->stars, x, c->signatures[i]) ||
                               (c->kids[i].kind == CHILD &&
                                !sp_star_verify(c->stars, x, c->signatures[i], &similarity))))
            return false;
    return true;
}

/* Whether a's overlap with all others is larger than b's; equal ones are ordered by name. */
static bool more_central(const struct crowd *c, uint32_t a, uint32_t b)
{
    return c->overlap[a] != c->overlap[b]
               ? c->overlap[a] > c->overlap[b]
               : sp_star_name(c->stars, c->kids[a].row) < sp_star_name(c->stars, c->kids[b].row);
}

/* The most central member that can be the pivot, of the first few; 0: the pivot remains. Overlaps
 * are summed by the number of members that hold each shingle, in time linear in the crowd. */
static uint32_t centre_of(struct crowd *c)
{
    for (uint32_t i = 0; i < c->count; i++)
        each_shingle(c, c->signatures[i], count_holder);
    for (uint32_t i = 0; i < c->count; i++)
        c->overlap[i] =
            c->kids[i].kind == CHILD ? each_shingle(c, c->signatures[i], other_holders) : 0;
    for (uint32_t tries = 0; tries < CENTRES_TRIED; tries++) {
        uint32_t best = 0;
        for (uint32_t i = 1; i < c->count; i++)
            if (more_central(c, i, best))
                best = i;
        if (best == 0 || c->overlap[best] == 0 || can_be_pivot(c, best))
            return best;
        c->overlap[best] = 0;
    }
    return 0;
}

/* The kind of a member under the new pivot. */
static enum kid_kind kind_for(struct crowd *c, uint32_t i, uint32_t centre)
{
    double similarity;
    bool similar = sp_star_verify(c->stars, c->signatures[centre], c->signatures[i], &similarity);
    return similar ? CHILD : c->kids[i].kind;
}

/* Stops at an error, which is in s->err. */
static void repivot(struct crowd *c, uint32_t star, uint32_t centre)
{
    struct sp_stars *s = c->stars;
    struct sp_stars_domain *d = sp_star_domain_of(s, star);
    for (uint32_t i = 1; i < c->count; i++)
        if (!sp_star_kid_remove(s, c->kids[i].row, c->signatures[i]))
            return;
    sp_star_uncover_star(s, star, c->signatures[0]);
    uint32_t to = sp_star_new(d, c->kids[centre].row, c->signatures[centre]);
    sp_star_mark_hand_on(s, star, to);
    sp_star_free(s, star);
    if (d->posted)
        sp_star_cover_pivot(s, to, c->signatures[centre]);
    for (uint32_t i = 0; i < c->count; i++) {
        enum kid_kind kind = kind_for(c, i, centre);
        uint32_t adopter = kind == CHILD ? NONE : c->kids[i].adopter;
        if (i != centre)
            sp_star_kid_add(s, to, c->kids[i].row, c->signatures[centre], c->signatures[i], kind,
                            adopter);
    }
}

static bool centre_small(struct sp_stars *s, uint32_t star)
{
    struct crowd *c = sp_calloc(1, sizeof *c);
    c->stars = s;
    join_crowd(c, (struct kid){.row = s->stars[star].pivot, .kind = CHILD, .adopter = NONE});
    sp_star_kids_each(s, s->stars[star].kids, join_crowd, c);
    uint32_t centre = s->err ? 0 : centre_of(c);
    if (centre)
        repivot(c, star, centre);
    sp_counts_done(&c->held);
    sp_free(c);
    return s->err == SP_OK;
}

/* ---- a large star: a child that most of the other kids resemble becomes a pivot ---- */

enum { SAMPLED = 32 };

/* The kids with the smallest names. */
struct sampling {
    uint32_t rows[SAMPLED];
    uint32_t count;
};

static struct sampling sample(const struct sp_stars *s, uint32_t star, uint32_t kinds)
{
    struct sampling x;
    x.count = sp_star_kids_first(s, s->stars[star].kids, kinds, SAMPLED, x.rows);
    return x;
}

uint32_t sp_star_count_children(struct sp_stars *s, const uint32_t *rows, uint32_t count,
                                uint32_t candidate)
{
    const struct sp_signature *x, *y;
    uint32_t similar = 0;
    double similarity;
    if (!sp_star_signature_of(s, candidate, &x))
        return 0;
    for (uint32_t i = 0; i < count && sp_star_signature_of(s, rows[i], &y); i++)
        similar += rows[i] == candidate ||
                   (sp_star_bound_sizes(s, x->shingle_total, y->shingle_total) &&
                    sp_star_verify(s, x, y, &similarity) && sp_star_cover_possible(s, x, y));
    return similar;
}

static uint32_t children_among(struct sp_stars *s, const struct sampling *of, uint32_t candidate)
{
    return sp_star_count_children(s, of->rows, of->count, candidate);
}

/* The child that resembles most of the other kids, more than half, and nearly all of the children;
 * or NONE. */
static uint32_t rival_of(struct sp_stars *s, uint32_t star)
{
    struct sampling children = sample(s, star, 1 << CHILD);
    struct sampling others = sample(s, star, 1 << ADOPTED | 1 << FRINGE);
    uint32_t best = NONE, most = others.count / 2;
    for (uint32_t i = 0; i < children.count && s->err == SP_OK; i++) {
        uint32_t similar = children_among(s, &others, children.rows[i]);
        if (similar > most &&
            children_among(s, &children, children.rows[i]) + 2 >= children.count) {
            most = similar;
            best = children.rows[i];
        }
    }
    return best;
}

/* The rival becomes a pivot, and the star drains into its star. */
static bool centre_large(struct sp_stars *s, uint32_t star)
{
    const struct sp_signature *x;
    struct sp_stars_domain *d = sp_star_domain_of(s, star);
    const struct kids *kids = s->stars[star].kids;
    if (sp_star_kids_count(kids) - sp_star_kids_of_kind(kids, CHILD) < SAMPLED ||
        s->stars[star].draining)
        return true;
    uint32_t rival = rival_of(s, star);
    if (rival == NONE || s->err)
        return s->err == SP_OK;
    if (!sp_star_signature_of(s, rival, &x) || !sp_star_kid_leave(s, rival, x))
        return false;
    uint32_t to = sp_star_new(d, rival, x);
    sp_star_cover_pivot(s, to, x);
    sp_star_drain(s, star, rival);
    s->risen = rival;
    return true;
}

/* ---- stars with similar pivots become one ---- */

/* The star may have ended since it was touched. */
static bool can_drain(const struct sp_stars *s, const struct touched *t, uint32_t star)
{
    const struct star *c = &s->stars[t->star];
    return c->domain && t->direct && t->star != star && c->pivot == t->row && !c->headless &&
           !c->draining;
}

static uint32_t children_of(const struct sp_stars *s, uint32_t star)
{
    return sp_star_kids_of_kind(s->stars[star].kids, CHILD);
}

/* Stars whose pivots the probe touched and that are similar to this one's pivot become one with it:
 * the smaller one drains into the larger one. */
static bool gather(struct sp_stars *s, uint32_t star)
{
    const struct star *c = &s->stars[star];
    uint32_t children = children_of(s, star);
    if (children < CENTRED_AT || c->draining)
        return true;
    for (uint32_t i = 0; i < s->touched_count; i++) {
        const struct touched *t = &s->touched[i];
        const struct sp_signature *pivot, *other;
        double similarity;
        if (!can_drain(s, t, star))
            continue;
        if (!sp_star_signature_of(s, c->pivot, &pivot) || !sp_star_signature_of(s, t->row, &other))
            return false;
        if (!sp_star_verify(s, pivot, other, &similarity))
            continue;
        if (children_of(s, t->star) > children) {
            sp_star_drain(s, star, t->row);
            return true;
        }
        sp_star_drain(s, t->star, c->pivot);
    }
    return true;
}

/* ---- when ---- */

static void note_centred(struct sp_stars *s, uint32_t star, uint32_t children)
{
    s->stars[star].kids->centred = children;
    sp_star_row_changed(s, s->stars[star].pivot);
}

/* Whether the star has doubled since its pivot was chosen, or it is chosen for the first time: so
 * the cost is O(1) comparisons for each child that came. A star that has shrunk to a quarter counts
 * from there. */
static bool has_doubled(struct sp_stars *s, uint32_t star)
{
    enum { SHRUNKEN = 4 };
    uint32_t children = children_of(s, star);
    if (s->by_keys || !sp_star_domain_of(s, star)->posted || children < CENTRED_AT)
        return false;
    uint32_t centred = s->stars[star].kids->centred;
    bool due = children / 2 >= centred;
    if (due || children <= centred / SHRUNKEN)
        note_centred(s, star, children);
    return due;
}

bool sp_star_grown(struct sp_stars *s, uint32_t star, uint32_t row)
{
    if (!has_doubled(s, star))
        return true;
    const struct kids *kids = s->stars[star].kids;
    bool small = kids->centred == CENTRED_AT && sp_star_kids_count(kids) <= CENTRED_MOST;
    if (!(small ? centre_small(s, star) : centre_large(s, star)))
        return false;
    star = s->rows[row].star;
    uint32_t children = children_of(s, star); /* of the new pivot, if there is one */
    if (small && children > 0 && s->stars[star].kids->centred != children)
        note_centred(s, star, children);
    return gather(s, star);
}
