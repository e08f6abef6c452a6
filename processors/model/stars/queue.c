/* The queue of an owing star: its kids in the order in which they are taken.
 *
 * A headless star gives up the farthest first, because probes find the nearest: so a row that
 * relies on a kid relies on one that is among the last to leave, and rarely has to probe again. Of
 * equally near kids, probes find the one with the smallest name, which therefore leaves last.
 *
 * A draining star keeps kids that have been taken, so it notes how far it has come: kids are taken
 * by name, and `passed` is the name of the last one. After a restart the queue goes on behind it.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "stars/bits.h"
#include "stars/internal.h"

struct queued {
    uint64_t turn; /* among kids equally far from the pivot, the smallest comes first */
    uint32_t row;
    uint32_t apart; /* from the pivot of a headless star; else 0 */
};

struct filling {
    struct sp_stars *stars;
    struct queued *items;
    uint32_t count;
    uint64_t from; /* the least name */
    bool headless;
};

static void add(void *arg, struct kid kid)
{
    struct filling *f = arg;
    uint64_t name = sp_star_name(f->stars, kid.row);
    if (name < f->from)
        return;
    f->items[f->count++] =
        f->headless
            ? (struct queued){~name, kid.row, sp_star_apart(f->stars, kid.kept, kid.overlap)}
            : (struct queued){name, kid.row, 0};
}

/* The reverse of the order in which they are taken. */
static int last_first(const void *a, const void *b)
{
    const struct queued *x = a, *y = b;
    if (x->apart != y->apart)
        return x->apart < y->apart ? -1 : 1;
    return x->turn > y->turn ? -1 : x->turn < y->turn;
}

void sp_star_queue_fill(struct sp_stars *s, uint32_t star)
{
    const struct star *c = &s->stars[star];
    struct kids *kids = c->kids;
    struct owing *o = kids->owing;
    struct filling f = {s, sp_alloc((sp_star_kids_count(kids) + 1ull) * sizeof *f.items), 0,
                        o->passed ? o->passed + 1 : 0, c->headless};
    sp_star_kids_each(s, kids, add, &f);
    qsort(f.items, f.count, sizeof *f.items, last_first);
    sp_free(o->queue);
    o->queue = sp_alloc((f.count + 1) * sizeof *o->queue);
    s->stats.bytes += ((uint64_t)f.count + 1 - o->queue_room) * sizeof *o->queue;
    o->queue_room = f.count + 1;
    for (uint32_t i = 0; i < f.count; i++)
        o->queue[i] = f.items[i].row;
    sp_star_domain_of(s, star)->queued += (uint64_t)f.count - o->queue_count;
    o->queue_count = f.count;
    sp_free(f.items);
}

uint32_t sp_star_queue_take(struct sp_stars *s, uint32_t star)
{
    struct owing *o = s->stars[star].kids->owing;
    while (o->queue_count) {
        uint32_t row = o->queue[--o->queue_count];
        sp_star_domain_of(s, star)->queued--;
        if (s->rows[row].star == star && s->rows[row].place != NONE)
            return row;
    }
    return NONE;
}

void sp_star_queue_put_back(struct sp_stars *s, uint32_t star)
{
    s->stars[star].kids->owing->queue_count++;
    sp_star_domain_of(s, star)->queued++;
}
