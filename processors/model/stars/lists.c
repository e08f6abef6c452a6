/* The orphans of a domain, its stars that owe, and the heirs of these. The lists hold numbers, plus
 * one, in place of objects. Cost: that of a shelf (base/shelf.h), O(log n). */
#include "base/shelf.h"
#include "stars/internal.h"

/* Of numbers that have the same head. */
struct listed {
    const struct sp_stars *stars;
    uint32_t number;
    bool heir; /* numbers are stars, and have the same heir */
};

static uint32_t number_of(const void *object)
{
    return (uint32_t)((uintptr_t)object - 1);
}

static void *object_of(uint32_t number)
{
    return (void *)((uintptr_t)number + 1);
}

static int by_number(const void *key, const void *object)
{
    const struct listed *k = key;
    uint32_t a = number_of(object), b = k->number;
    if (k->heir && a != b) {
        uint64_t x = sp_star_name(k->stars, k->stars->stars[a].pivot),
                 y = sp_star_name(k->stars, k->stars->stars[b].pivot);
        if (x != y)
            return x < y ? -1 : 1;
    }
    return a < b ? -1 : a > b;
}

static void enter(struct sp_shelf *list, const struct listed *key, uint64_t head)
{
    sp_shelf_add(list, by_number, key, head, object_of(key->number));
}

static void leave(struct sp_shelf *list, const struct listed *key, uint64_t head)
{
    bool was_there = sp_shelf_remove(list, by_number, key, head);
    SP_ASSERT(was_there);
}

uint32_t sp_star_next_listed(const struct sp_shelf *list, struct sp_shelf_place *place)
{
    const void *object = sp_shelf_next(list, place);
    return object ? number_of(object) : NONE;
}

static uint32_t first_of(const struct sp_shelf *list)
{
    struct sp_shelf_place place = sp_shelf_first(list);
    return sp_star_next_listed(list, &place);
}

/* ---- orphans ---- */

void sp_star_orphan_enter(struct sp_stars *s, uint32_t row)
{
    enter(&sp_star_domain_of(s, s->rows[row].star)->orphans, &(struct listed){s, row, false},
          sp_star_name(s, row));
}

void sp_star_orphan_leave(struct sp_stars *s, uint32_t row)
{
    leave(&sp_star_domain_of(s, s->rows[row].star)->orphans, &(struct listed){s, row, false},
          sp_star_name(s, row));
}

uint32_t sp_star_first_orphan(const struct sp_stars_domain *d)
{
    return first_of(&d->orphans);
}

/* ---- stars that owe, and their heirs ---- */

/* Neither none nor lost. */
static bool names_heir(const struct star *c)
{
    return c->kids->owing->heir != NONE && c->kids->owing->heir != c->pivot;
}

static void heir_enter(struct sp_stars *s, uint32_t star)
{
    const struct star *c = &s->stars[star];
    if (names_heir(c))
        enter(&sp_star_domain_of(s, star)->heirs, &(struct listed){s, star, true},
              c->kids->owing->heir);
}

static void heir_leave(struct sp_stars *s, uint32_t star)
{
    const struct star *c = &s->stars[star];
    if (names_heir(c))
        leave(&sp_star_domain_of(s, star)->heirs, &(struct listed){s, star, true},
              c->kids->owing->heir);
}

void sp_star_owing_enter(struct sp_stars *s, uint32_t star)
{
    const struct star *c = &s->stars[star];
    enter(&sp_star_domain_of(s, star)->owing, &(struct listed){s, star, false},
          sp_star_name(s, c->pivot));
    c->kids->owing->listed = true;
    heir_enter(s, star);
}

void sp_star_owing_leave(struct sp_stars *s, uint32_t star)
{
    const struct star *c = &s->stars[star];
    leave(&sp_star_domain_of(s, star)->owing, &(struct listed){s, star, false},
          sp_star_name(s, c->pivot));
    heir_leave(s, star);
    sp_star_domain_of(s, star)->queued -= c->kids->owing->queue_count;
    c->kids->owing->listed = false;
}

uint32_t sp_star_first_owing(const struct sp_stars_domain *d)
{
    return first_of(&d->owing);
}

void sp_star_set_heir(struct sp_stars *s, uint32_t star, uint32_t heir)
{
    struct owing *o = s->stars[star].kids->owing;
    if (o->listed)
        heir_leave(s, star);
    o->heir = heir;
    if (o->listed)
        heir_enter(s, star);
}

bool sp_star_has_heir(const struct sp_stars *s, uint32_t star)
{
    uint32_t heir = s->stars[star].kids->owing->heir;
    if (heir >= s->row_cap || s->rows[heir].star == NONE)
        return false; /* the heir left before the stage was restored */
    const struct star *c = &s->stars[s->rows[heir].star];
    return c->pivot == heir && !c->headless && !c->draining;
}

uint32_t sp_star_with_heir(const struct sp_stars_domain *d, uint32_t heir)
{
    const void *object = sp_shelf_first_with(&d->heirs, heir);
    return object ? number_of(object) : NONE;
}
