/* The memory that the caches of all stages share; see bus.h. */
#include "local/bus_internal.h"

static size_t contents_bytes(const struct sp_local_bus *bus)
{
    struct sp_contents_stats s;
    sp_contents_stats(bus->contents, &s);
    return s.cache_bytes;
}

static size_t used_bytes(const struct sp_local_bus *bus)
{
    size_t bytes = contents_bytes(bus);
    for (uint32_t i = 0; i < bus->options.tier1; i++)
        bytes += sp_group_stage_cache_bytes(bus->group[i]);
    for (uint32_t i = 0; i < bus->options.tier2; i++)
        bytes += sp_compare_stage_cache_bytes(bus->compare[i]);
    return bytes;
}

static size_t index_bytes(const struct sp_local_bus *bus)
{
    size_t bytes = 0;
    for (uint32_t i = 0; i < bus->options.tier2; i++)
        bytes += sp_compare_stage_index_bytes(bus->compare[i]);
    return bytes;
}

struct memory {
    size_t all;  /* for all caches */
    size_t sum;  /* of the shares that the options give them */
    size_t used; /* by all of them */
};

static struct memory memory_of(const struct sp_local_bus *bus)
{
    enum { PART_LEFT = 8 };
    const struct sp_local_bus_options *o = &bus->options;
    size_t sum = o->tier1 * o->group.cache_bytes + o->tier2 * o->compare.cache_bytes +
                 o->contents_cache_bytes;
    size_t index = index_bytes(bus), all = sum;
    if (o->memory_bytes && o->memory_bytes < index + sum)
        all = o->memory_bytes > index ? o->memory_bytes - index : 0;
    return (struct memory){all < sum / PART_LEFT ? sum / PART_LEFT : all, sum, used_bytes(bus)};
}

/* A cache may have what the others leave, and at least its share. When the others grow, it shrinks
 * to that share, so that together they keep to m->all. */
static size_t budget_of(const struct memory *m, size_t share, size_t used)
{
    enum { STEPS = 1024 };
    size_t own = m->all < m->sum ? share / STEPS * (m->all / (m->sum / STEPS + 1)) : share;
    size_t others = m->used - used, left = m->all > others ? m->all - others : 0;
    return left > own ? left : own;
}

void sp_local_bus_share_caches(struct sp_local_bus *bus)
{
    const struct sp_local_bus_options *o = &bus->options;
    const struct memory m = memory_of(bus);
    for (uint32_t i = 0; i < o->tier1; i++) {
        size_t used = sp_group_stage_cache_bytes(bus->group[i]);
        sp_group_stage_resize(bus->group[i], budget_of(&m, o->group.cache_bytes, used));
    }
    for (uint32_t i = 0; i < o->tier2; i++) {
        size_t used = sp_compare_stage_cache_bytes(bus->compare[i]);
        sp_compare_stage_resize(bus->compare[i], budget_of(&m, o->compare.cache_bytes, used));
    }
    sp_contents_resize(bus->contents, budget_of(&m, o->contents_cache_bytes, contents_bytes(bus)));
}

bool sp_local_bus_is_large(const struct sp_local_bus *bus)
{
    enum { LARGE_BYTES = 256 << 20 };
    return used_bytes(bus) > LARGE_BYTES;
}
