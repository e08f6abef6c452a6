/* Keeps the kids of a star by kind, size and overlap with the pivot, so that a bound rules out many
 * at once. Also keeps track of adopted kids and orphans. */
#include <string.h>

#include "base/mem.h"
#include "stars/internal.h"

/* The litters before those of that kind. */
static uint32_t litters_before(const struct kids *kids, int kind)
{
    uint32_t before = 0;
    for (int i = 0; i < kind; i++)
        before += kids->litter_counts[i];
    return before;
}

struct litters sp_star_litters(const struct kids *kids, int kind)
{
    uint32_t before = litters_before(kids, kind), count = kids->litter_counts[kind];
    return (struct litters){count ? kids->litters + before : NULL, count};
}

/* The first litter of that kind that is not before (kept, overlap). */
static uint32_t litter_place(const struct kids *kids, int kind, uint32_t kept, uint32_t overlap)
{
    uint32_t lo = litters_before(kids, kind), hi = lo + kids->litter_counts[kind];
    while (lo < hi) {
        uint32_t mid = (lo + hi) / 2;
        const struct litter *m = &kids->litters[mid];
        if (m->kept < kept || (m->kept == kept && m->overlap < overlap))
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* So many are allocated for `count`. Adding or removing one moves those behind it anyway. */
static uint32_t litters_room(uint32_t count)
{
    uint32_t power = 31 - (uint32_t)__builtin_clz(count | 1),
             step = power > 2 ? 1u << (power - 2) : 1;
    return (count + step - 1) / step * step;
}

static void make_room(struct sp_stars *s, struct kids *kids, uint32_t before, uint32_t count)
{
    uint32_t room = litters_room(count), room_before = litters_room(before);
    if (room == room_before)
        return;
    kids->litters = sp_realloc(kids->litters, (room ? room : 1) * sizeof *kids->litters);
    s->stats.bytes += ((uint64_t)room - room_before) * sizeof *kids->litters;
}

/* The litter of a kid's kind and sizes, which is made if there is none. */
static struct litter *litter_make(struct sp_stars *s, struct kids *kids, const struct row *r)
{
    uint32_t at = litter_place(kids, r->kind, r->kept, r->overlap);
    uint32_t end = litters_before(kids, r->kind + 1), all = litters_before(kids, KID_KINDS);
    if (at < end && kids->litters[at].kept == r->kept && kids->litters[at].overlap == r->overlap)
        return &kids->litters[at];
    make_room(s, kids, all, all + 1);
    struct litter *new = &kids->litters[at];
    memmove(new + 1, new, (all - at) * sizeof *new);
    *new = (struct litter){.kept = r->kept, .overlap = r->overlap};
    kids->litter_counts[r->kind]++;
    return new;
}

static void litter_end(struct sp_stars *s, struct kids *kids, int kind, struct litter *empty)
{
    kids->litter_counts[kind]--;
    uint32_t left = litters_before(kids, KID_KINDS);
    memmove(empty, empty + 1, (left - (size_t)(empty - kids->litters)) * sizeof *empty);
    make_room(s, kids, left + 1, left);
}

/* ---- the rows of a litter: a heap by name, so that the first are found without looking at all
 * ---- */

static bool is_before(const struct sp_stars *s, uint32_t a, uint32_t b)
{
    uint64_t x = sp_star_name(s, a), y = sp_star_name(s, b);
    return x < y || (x == y && a < b);
}

static void put_at(struct sp_stars *s, struct litter *l, uint32_t at, uint32_t row)
{
    l->rows[at] = row;
    s->rows[row].place = at;
}

/* Puts the row where it belongs, at the free place `at` or above it. */
static void sift_up(struct sp_stars *s, struct litter *l, uint32_t at, uint32_t row)
{
    for (; at > 0 && is_before(s, row, l->rows[(at - 1) / 2]); at = (at - 1) / 2)
        put_at(s, l, at, l->rows[(at - 1) / 2]);
    put_at(s, l, at, row);
}

/* The same, at `at` or below it. */
static void sift_down(struct sp_stars *s, struct litter *l, uint32_t at, uint32_t row)
{
    for (uint32_t child; (child = 2 * at + 1) < l->count; at = child) {
        child += child + 1 < l->count && is_before(s, l->rows[child + 1], l->rows[child]);
        if (!is_before(s, l->rows[child], row))
            break;
        put_at(s, l, at, l->rows[child]);
    }
    put_at(s, l, at, row);
}

static size_t heap_bytes(const struct litter *l)
{
    return l->count > 1 ? (l->rows[-1] + 1ull) * sizeof *l->rows : 0;
}

/* Makes room for so many rows, two or more. */
static void heap_resize(struct litter *l, uint32_t cap)
{
    uint32_t *block = l->count > 1 ? l->rows - 1 : NULL, only = l->only;
    block = sp_realloc(block, (cap + 1ull) * sizeof *block);
    block[0] = cap;
    if (l->count == 1)
        block[1] = only;
    l->rows = block + 1;
}

static void heap_put(struct sp_stars *s, struct litter *l, uint32_t row)
{
    if (l->count == 0) {
        l->only = row;
        l->count = 1;
        s->rows[row].place = 0;
        return;
    }
    s->stats.bytes -= heap_bytes(l);
    if (l->count == 1 || l->count == l->rows[-1])
        heap_resize(l, (uint32_t)(l->count + l->count / 4 + 1));
    l->count++;
    s->stats.bytes += heap_bytes(l);
    sift_up(s, l, (uint32_t)l->count - 1, row);
}

/* One row is left, and needs no heap. */
static void heap_end(struct sp_stars *s, struct litter *l)
{
    uint32_t *rows = l->rows;
    s->stats.bytes -= (rows[-1] + 1ull) * sizeof *rows;
    l->only = rows[0];
    sp_free(rows - 1);
}

static void heap_take(struct sp_stars *s, struct litter *l, uint32_t at)
{
    if (--l->count == 0)
        return;
    uint32_t last = l->rows[l->count];
    if (at < l->count && at > 0 && is_before(s, last, l->rows[(at - 1) / 2]))
        sift_up(s, l, at, last);
    else if (at < l->count)
        sift_down(s, l, at, last);
    if (l->count == 1)
        heap_end(s, l);
}

uint64_t sp_star_litters_bytes(const struct kids *kids)
{
    uint32_t count = litters_before(kids, KID_KINDS);
    uint64_t bytes = litters_room(count) * sizeof *kids->litters;
    for (uint32_t i = 0; i < count; i++)
        bytes += heap_bytes(&kids->litters[i]);
    return bytes;
}

void sp_star_litters_free(struct kids *kids)
{
    uint32_t count = litters_before(kids, KID_KINDS);
    for (uint32_t i = 0; i < count; i++)
        if (kids->litters[i].count > 1)
            sp_free(kids->litters[i].rows - 1);
    sp_free(kids->litters);
}

static uint32_t adoption_key(uint32_t adopter)
{
    return (uint32_t)sp_mix64(~(uint64_t)adopter);
}

static uint32_t adopter_of(const struct sp_stars *s, uint32_t row)
{
    return sp_counts_get(&s->adopters, row) - 1;
}

static void adoption_begin(struct sp_stars *s, uint32_t row, uint32_t adopter)
{
    sp_counts_add(&s->adopters, row, adopter + 1);
    sp_star_table_add(s->beside, adoption_key(adopter), row);
}

static void adoption_end(struct sp_stars *s, uint32_t row)
{
    sp_star_table_remove(s->beside, adoption_key(adopter_of(s, row)), row);
    sp_counts_forget(&s->adopters, row);
}

/* The place of an orphan in the list of its domain. */
static uint32_t orphan_place(const struct sp_stars_domain *d, uint64_t name)
{
    uint32_t lo = 0, hi = d->orphan_count;
    while (lo < hi) {
        uint32_t mid = (lo + hi) / 2;
        if (sp_star_name(d->stars, d->orphans[mid]) > name)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

static void orphan_enter(struct sp_stars_domain *d, uint32_t row)
{
    uint32_t at = orphan_place(d, sp_star_name(d->stars, row));
    sp_grow(&d->orphans, &d->orphan_cap, d->orphan_count + 1);
    memmove(d->orphans + at + 1, d->orphans + at, (d->orphan_count++ - at) * sizeof *d->orphans);
    d->orphans[at] = row;
}

static void orphan_leave(struct sp_stars_domain *d, uint32_t row)
{
    uint32_t at = orphan_place(d, sp_star_name(d->stars, row));
    while (d->orphans[at] != row)
        at++;
    d->orphan_count--;
    memmove(d->orphans + at, d->orphans + at + 1, (d->orphan_count - at) * sizeof *d->orphans);
}

void sp_star_litter_enter(struct sp_stars *s, uint32_t row, enum kid_kind kind, uint32_t adopter)
{
    struct row *r = &s->rows[row];
    struct star *c = &s->stars[r->star];
    r->kind = kind;
    heap_put(s, litter_make(s, c->kids, r), row);
    r->orphan = kind == FRINGE && adopter == ORPHAN;
    c->kids->rows[kind]++;
    if (kind == ADOPTED)
        adoption_begin(s, row, adopter);
    else if (r->orphan)
        orphan_enter(sp_star_domain_of(s, r->star), row);
}

void sp_star_litter_leave(struct sp_stars *s, uint32_t row)
{
    struct row *r = &s->rows[row];
    struct star *c = &s->stars[r->star];
    struct litter *l = litter_make(s, c->kids, r);
    SP_ASSERT(r->place < l->count && sp_star_litter_rows(l)[r->place] == row);
    heap_take(s, l, r->place);
    c->kids->rows[r->kind]--;
    if (l->count == 0)
        litter_end(s, c->kids, r->kind, l);
    if (r->kind == ADOPTED)
        adoption_end(s, row);
    else if (r->orphan)
        orphan_leave(sp_star_domain_of(s, r->star), row);
    r->orphan = false;
}

static uint32_t one_adopted_by(const struct sp_stars *s, uint32_t adopter)
{
    struct sp_star_list list = sp_star_table_get(s->beside, adoption_key(adopter));
    const uint32_t *rows = sp_star_numbers(&list);
    for (uint32_t i = list.count; i > 0; i--) {
        const struct row *r = &s->rows[rows[i - 1]];
        if (r->star != NONE && r->kind == ADOPTED && adopter_of(s, rows[i - 1]) == adopter)
            return rows[i - 1];
    }
    return NONE;
}

void sp_star_orphan_all(struct sp_stars *s, uint32_t adopter)
{
    for (uint32_t row; (row = one_adopted_by(s, adopter)) != NONE;) {
        sp_star_litter_leave(s, row);
        sp_star_litter_enter(s, row, FRINGE, ORPHAN);
        sp_star_row_changed(s, row);
    }
}

uint32_t sp_star_kids_count(const struct kids *kids)
{
    return sp_star_kids_of_kind(kids, CHILD) + sp_star_kids_of_kind(kids, ADOPTED) +
           sp_star_kids_of_kind(kids, FRINGE);
}

uint32_t sp_star_kids_of_kind(const struct kids *kids, enum kid_kind kind)
{
    return kids ? kids->rows[kind] : 0;
}

struct kid sp_star_kid_at(const struct sp_stars *s, uint32_t row)
{
    const struct row *r = &s->rows[row];
    uint32_t adopter = r->kind == ADOPTED ? adopter_of(s, row) : r->orphan ? ORPHAN : NONE;
    return (struct kid){row, r->kept, r->overlap, (enum kid_kind)r->kind, adopter};
}

void sp_star_kids_each(const struct sp_stars *s, const struct kids *kids,
                       void (*each)(void *arg, struct kid kid), void *arg)
{
    for (int kind = 0; kids && kind < KID_KINDS; kind++) {
        struct litters l = sp_star_litters(kids, kind);
        for (uint32_t i = 0; i < l.count; i++)
            for (uint32_t k = 0; k < l.items[i].count; k++)
                each(arg, sp_star_kid_at(s, sp_star_litter_rows(&l.items[i])[k]));
    }
}

struct first {
    const struct sp_stars *stars;
    uint32_t *rows;
    uint32_t count;
    uint32_t most;
    uint32_t kinds;
};

static void note_first(void *arg, struct kid kid)
{
    struct first *f = arg;
    uint64_t name = sp_star_name(f->stars, kid.row);
    if (!(f->kinds >> kid.kind & 1) ||
        (f->count == f->most && sp_star_name(f->stars, f->rows[f->most - 1]) <= name))
        return;
    uint32_t at = f->count < f->most ? f->count++ : f->most - 1;
    for (; at > 0 && sp_star_name(f->stars, f->rows[at - 1]) > name; at--)
        f->rows[at] = f->rows[at - 1];
    f->rows[at] = kid.row;
}

uint32_t sp_star_kids_first(const struct sp_stars *s, const struct kids *kids, uint32_t kinds,
                            uint32_t most, uint32_t *ret_rows)
{
    struct first f = {s, ret_rows, 0, most, kinds};
    sp_star_kids_each(s, kids, note_first, &f);
    return f.count;
}
