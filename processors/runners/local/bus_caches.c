/* The memory that the caches of all stages share; see bus.h. */
#include "local/bus_internal.h"

static size_t sum_of(const struct sp_local_bus_stats *s)
{
    return s->group.cache_bytes + s->compare.cache_bytes + s->contents.cache_bytes;
}

struct memory {
    size_t all;
    size_t used;
};

/* A cache may have what the others leave, and at least its share of the options. When the others
 * grow, it shrinks to that share, so that together they keep to the sum of the shares. */
static size_t budget_of(const struct memory *m, size_t share, size_t used)
{
    size_t others = m->used - used, left = m->all > others ? m->all - others : 0;
    return left > share ? left : share;
}

void sp_local_bus_share_caches(struct sp_local_bus *bus)
{
    const struct sp_local_bus_options *o = &bus->options;
    struct sp_local_bus_stats s;
    sp_local_bus_stats(bus, &s);
    const struct memory m = {o->tier1 * o->group.cache_bytes + o->tier2 * o->compare.cache_bytes +
                                 o->contents_cache_bytes,
                             sum_of(&s)};
    for (uint32_t i = 0; i < o->tier1; i++) {
        struct sp_group_stage_stats part;
        sp_group_stage_stats(bus->group[i], &part);
        sp_group_stage_resize(bus->group[i], budget_of(&m, o->group.cache_bytes, part.cache_bytes));
    }
    for (uint32_t i = 0; i < o->tier2; i++) {
        struct sp_compare_stage_stats part;
        sp_compare_stage_stats(bus->compare[i], &part);
        sp_compare_stage_resize(bus->compare[i],
                                budget_of(&m, o->compare.cache_bytes, part.cache_bytes));
    }
    sp_contents_resize(bus->contents,
                       budget_of(&m, o->contents_cache_bytes, s.contents.cache_bytes));
}

bool sp_local_bus_is_large(const struct sp_local_bus *bus)
{
    enum { LARGE_BYTES = 256 << 20 };
    struct sp_local_bus_stats s;
    sp_local_bus_stats(bus, &s);
    return sum_of(&s) > LARGE_BYTES;
}
