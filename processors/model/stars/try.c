/* Finds the kids of a star that are similar to a probe. Bounds of the overlap (stars.h, kid) leave
 * some, which are compared, the nearest to the pivot first. Usually one of the first is similar. If
 * none of the first NEAREST is, the nearest may be just those that cannot be similar, however many
 * they are; so the others are tried by name, which is a hash: as if they were drawn at random. If
 * that is often in vain, an index finds those that can be similar (lacks.c), and others are not
 * tried. */
#include "base/mem.h"
#include "base/order.h"
#include "stars/bits.h"
#include "stars/internal.h"
#include "stars/patterns.h"

/* A probe that is compared with the kids of one star. */
struct trial {
    struct sp_stars *stars;
    uint32_t number; /* of the star */
    const struct star *star;
    const struct sp_signature *x; /* the probe */
    uint32_t except;              /* a row that is passed over, or NONE */
    uint32_t kept;                /* shingles of x */
    bool capped;
    uint32_t overlap; /* with the pivot */
    uint32_t beside;  /* upper bound of the shingles that it shares with a kid and the pivot does
                       * not have */
    uint32_t repeats; /* of shingles in the probe, which a kid may repeat as often; bounds count
                       * each once */
    bool members;     /* else tries only the fringe */
    uint32_t in_vain; /* kids tried so far that are not similar */
    struct lacking lacking; /* but for those that share rare shingles, only these can be similar */
};

/* The least overlap, in distinct shingles. */
static uint32_t needed(const struct trial *t, uint32_t kept)
{
    uint32_t all = sp_star_bound_overlap(t->stars, t->kept, t->capped, kept, t->star->kids->capped);
    return all > t->repeats ? all - t->repeats : 0;
}

/* Whether sizes allow x to be similar to such a kid. */
static bool may_match(const struct trial *t, uint32_t kept, uint32_t overlap, uint32_t beside)
{
    return t->stars->by_keys ||
           sp_min_u32(t->overlap, overlap) + sp_min_u32(beside, kept - overlap) >= needed(t, kept);
}

/* `order`: in this order the kids are tried, and those of equal order by name. */
static void add_tried(struct sp_stars *s, const struct litter *litter, uint32_t at, uint32_t row,
                      uint32_t order)
{
    sp_grow(&s->tried, &s->tried_cap, s->tried_count + 1);
    s->tried[s->tried_count++] = (struct tried){.litter = litter,
                                                .at = at,
                                                .row = row,
                                                .name = sp_star_name(s, row),
                                                .order = order,
                                                .kind = (enum kid_kind)s->rows[row].kind};
}

static uint32_t nearness(const struct sp_stars *s, uint32_t row)
{
    return (uint32_t)(s->rows[row].kept - s->rows[row].overlap);
}

/* Tries the kids of these litters that sizes do not rule out: at first only the first of each. */
static void try_litters(const struct trial *t, struct litters all, bool by_name)
{
    for (uint32_t i = 0; i < all.count; i++) {
        const struct litter *l = &all.items[i];
        uint32_t row = sp_star_litter_row(t->stars, l, 0);
        if (may_match(t, sp_star_litter_kept(l), sp_star_litter_overlap(l), t->beside))
            add_tried(t->stars, l, 0, row, by_name ? 0 : nearness(t->stars, row));
    }
}

static void try_all_litters(const struct trial *t)
{
    for (int kind = 0; kind < KID_KINDS; kind++)
        if (t->members || kind == FRINGE)
            try_litters(t, sp_star_litters(t->star->kids, kind), false);
}

static void try_gathered(struct trial *t, const struct beside *beside)
{
    struct sp_stars *s = t->stars;
    for (uint32_t i = 0; i < beside->gathered; i++) {
        uint32_t row = s->gathered[i], shared = s->rows[row].gathered;
        struct kid kid = sp_star_kid_at(s, row);
        s->rows[row].gathered = 0;
        if ((kid.kind == FRINGE || t->members) &&
            may_match(t, kid.kept, kid.overlap, t->beside + shared)) {
            add_tried(s, NULL, 0, row, nearness(s, row));
            s->tried[s->tried_count - 1].unknown = i < beside->unknown;
        }
    }
}

static int by_order(const void *a, const void *b)
{
    const struct tried *x = a, *y = b;
    if (x->order != y->order)
        return x->order < y->order ? -1 : 1;
    if (x->name != y->name)
        return x->name < y->name ? -1 : 1;
    if (x->row != y->row)
        return x->row < y->row ? -1 : 1;
    return (x->litter != NULL) - (y->litter != NULL);
}

static void sift_down(struct tried *heap, uint32_t count, uint32_t at)
{
    struct tried moving = heap[at];
    for (uint32_t child; (child = 2 * at + 1) < count; at = child) {
        child += child + 1 < count && by_order(&heap[child + 1], &heap[child]) < 0;
        if (by_order(&moving, &heap[child]) <= 0)
            break;
        heap[at] = heap[child];
    }
    heap[at] = moving;
}

static void sift_up(struct tried *heap, uint32_t at)
{
    struct tried moving = heap[at];
    for (; at > 0 && by_order(&moving, &heap[(at - 1) / 2]) < 0; at = (at - 1) / 2)
        heap[at] = heap[(at - 1) / 2];
    heap[at] = moving;
}

static void heap_make(struct sp_stars *s)
{
    for (uint32_t i = s->tried_count / 2; i-- > 0;)
        sift_down(s->tried, s->tried_count, i);
}

/* Takes the first out of s->tried; the next rows of its litter take its place. */
static struct tried take_first(struct sp_stars *s)
{
    struct tried first = s->tried[0];
    const struct litter *l = first.litter;
    uint32_t next = 2 * first.at + 1, end = l ? sp_star_litter_count(s, l) : 0;
    s->tried[0] = s->tried[--s->tried_count];
    sift_down(s->tried, s->tried_count, 0);
    for (uint32_t i = next; i < next + 2 && i < end; i++) {
        add_tried(s, l, i, sp_star_litter_row(s, l, i), first.order);
        sift_up(s->tried, s->tried_count - 1);
    }
    return first;
}

/* Drops the members from s->tried; or only those that stand for a litter. */
static void drop_members(struct sp_stars *s, bool only_litters)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < s->tried_count; i++)
        if (s->tried[i].kind == FRINGE || (only_litters && !s->tried[i].litter))
            s->tried[count++] = s->tried[i];
    s->tried_count = count;
    heap_make(s);
}

/* Whether the kid is similar. Returns false after an error, which is in s->err. */
static bool try_kid(struct trial *t, uint32_t row, bool fringe, bool *ret_similar)
{
    struct sp_stars *s = t->stars;
    const struct sp_signature *x = t->x, *kid;
    double similarity;
    *ret_similar = false;
    t->in_vain++;
    if (sp_star_pattern_excludes(s, row, x))
        return true;
    if (!sp_star_signature_of(s, row, &kid))
        return false;
    *ret_similar = (s->by_keys || sp_star_bound_sizes(s, x->shingle_total, kid->shingle_total)) &&
                   sp_star_verify(s, x, kid, &similarity);
    t->in_vain -= *ret_similar;
    if (*ret_similar)
        sp_star_touch(s, t->number, row, fringe, similarity);
    else
        sp_star_pattern_learn(s, row, kid);
    return true;
}

enum { NEAREST = 64 };

/* The signatures of the first kids of the heap, which are about the nearest. */
static void prefetch_nearest(struct sp_stars *s)
{
    enum { FIRST = 8 };
    uint32_t rows[FIRST], count = 0;
    for (; count < FIRST && count < s->tried_count; count++)
        rows[count] = s->tried[count].row;
    if (count > 1)
        sp_star_prefetch_signatures(s, rows, count);
}

static bool can_be_similar(const struct trial *t, const struct tried *k)
{
    return k->unknown || !t->lacking.of || sp_star_is_lacking(t->stars, &t->lacking, k->row);
}

/* Compares the probe with s->tried and the rest of their litters, the nearest first, but only with
 * the first NEAREST of the litters of members. *ret_more: others are left, and none was similar.
 * Usually only a few are compared, so heaps are cheaper than sorting. */
static bool try_nearest(struct trial *t, bool *ret_more)
{
    struct sp_stars *s = t->stars;
    uint32_t before = t->except, members = 0;
    *ret_more = false;
    heap_make(s);
    prefetch_nearest(s);
    while (s->tried_count) {
        struct tried k = take_first(s);
        bool similar = false;
        if (k.row == before || k.row == t->except ||
            (s->options.orphans_apart && s->rows[k.row].orphan))
            continue;
        before = k.row;
        if (can_be_similar(t, &k) && !try_kid(t, k.row, k.kind == FRINGE, &similar))
            return false;
        if (k.kind == FRINGE)
            continue;
        if (similar) {
            *ret_more = false;
            drop_members(s, false);
        } else if (k.litter && ++members == NEAREST) {
            *ret_more = true;
            drop_members(s, true);
        }
    }
    return true;
}

/* Tries the members in s->tried, and the rest of their litters, until one is similar. */
static bool try_members(struct trial *t)
{
    struct sp_stars *s = t->stars;
    bool similar = false;
    heap_make(s);
    while (s->tried_count && !similar) {
        struct tried k = take_first(s);
        if (k.row != t->except && !try_kid(t, k.row, false, &similar))
            return false;
    }
    return true;
}

/* Tries all members that sizes do not rule out, by name, until one is similar. */
static bool try_by_name(struct trial *t)
{
    t->stars->tried_count = 0;
    for (int kind = 0; kind < FRINGE; kind++)
        try_litters(t, sp_star_litters(t->star->kids, kind), true);
    return try_members(t);
}

/* ---- the same with the index of lacks.c ---- */

static bool has_fringe(const struct trial *t)
{
    return sp_star_kids_of_kind(t->star->kids, FRINGE) > 0;
}

/* Whether the index is quicker than the litters. If x resembles the pivot, it finds most kids, and
 * only those on the fringe matter. */
static bool wants_index(const struct trial *t)
{
    enum { KIDS_EACH = 64 }; /* of the fringe: that are passed over in the time one is compared */
    const struct kids *kids = t->star->kids;
    return t->members ||
           KIDS_EACH * (uint64_t)sp_star_kids_of_kind(kids, FRINGE) > sp_star_kids_count(kids);
}

/* Whether number `i` of t->lacking is a member to try. */
static bool is_member(const struct trial *t, uint32_t i, bool fringe, struct tried *ret_tried)
{
    struct tried k = {.kind = CHILD};
    k.row = sp_star_lacking_row(&t->lacking, i, &k.name);
    *ret_tried = k;
    return k.row != t->except && (!fringe || t->stars->rows[k.row].kind != FRINGE);
}

/* Tries the members of t->lacking by name, until one is similar. Usually that is the first. */
static bool try_lacking_by_name(struct trial *t)
{
    struct sp_stars *s = t->stars;
    struct tried first = {.row = NONE}, k;
    bool similar = false, fringe = has_fringe(t);
    for (uint32_t i = 0; i < t->lacking.count; i++)
        if (is_member(t, i, fringe, &k) && (first.row == NONE || by_order(&k, &first) < 0))
            first = k;
    s->tried_count = 0;
    if (first.row == NONE)
        return true;
    if (!try_kid(t, first.row, false, &similar) || similar)
        return s->err == SP_OK;
    sp_grow(&s->tried, &s->tried_cap, t->lacking.count);
    for (uint32_t i = 0; i < t->lacking.count; i++)
        if (is_member(t, i, fringe, &k) && k.row != first.row)
            s->tried[s->tried_count++] = k;
    return try_members(t);
}

/* Tries the fringe in t->lacking, and the litters of members if there can be a member. */
static void try_lacking(const struct trial *t)
{
    struct sp_stars *s = t->stars;
    const struct kids *kids = t->star->kids;
    uint64_t name;
    for (uint32_t i = 0; has_fringe(t) && i < t->lacking.count; i++) {
        uint32_t row = sp_star_lacking_row(&t->lacking, i, &name);
        if (s->rows[row].kind == FRINGE)
            add_tried(s, NULL, 0, row, nearness(s, row));
    }
    for (int kind = 0; t->members && t->lacking.count && kind < FRINGE; kind++)
        try_litters(t, sp_star_litters(kids, kind), false);
}

bool sp_star_try_kids(struct sp_stars *s, uint32_t star, const struct sp_signature *x,
                      uint32_t except, const struct sp_signature *pivot, uint32_t overlap,
                      bool members)
{
    if (s->by_bits)
        return sp_star_bits_try(s, star, x, except, pivot);
    struct kids *kids = s->stars[star].kids;
    struct trial t = {.stars = s,
                      .number = star,
                      .star = &s->stars[star],
                      .x = x,
                      .except = except,
                      .kept = x->shingle_count,
                      .capped = sp_star_is_capped(x),
                      .overlap = overlap,
                      .beside = x->shingle_count - overlap,
                      .repeats = s->repeats,
                      .members = members};
    struct beside beside = {0};
    s->tried_count = 0;
    if (kids->indexed) {
        beside = sp_star_gather_beside(s, star, x, pivot);
        t.beside = beside.common;
        try_gathered(&t, &beside);
    }
    bool indexed = kids->indexed && wants_index(&t);
    if (indexed)
        t.lacking = sp_star_lacks_find(s, kids, x, beside.rare);
    if (t.lacking.of)
        try_lacking(&t);
    else
        try_all_litters(&t);
    bool more;
    if (!try_nearest(&t, &more) ||
        (more && !(t.lacking.of ? try_lacking_by_name(&t) : try_by_name(&t))))
        return false;
    if (!kids->indexed)
        return sp_star_kids_note(s, star, pivot, t.in_vain);
    return !indexed || t.in_vain <= NEAREST || sp_star_lacks_note(s, kids, pivot, t.in_vain);
}
