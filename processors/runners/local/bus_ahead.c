/* What records that will be fed soon need: the stages announce it to the store, which reads it
 * ahead, or prefetch it into the processor's caches. See bus.h. */
#include "local/bus_internal.h"

static struct sp_compare_stage *compare_for(const struct sp_local_bus *bus,
                                            const struct sp_signature *s)
{
    return sp_local_bus_compare(bus, sp_maps_cell(&bus->options.compare.maps, s));
}

void sp_local_bus_prefetch(const struct sp_local_bus *bus, const struct sp_message *crawled,
                           bool fed)
{
    const struct sp_signature *s = crawled->crawled.signature;
    sp_group_stage_prefetch(sp_local_bus_group(bus, crawled), crawled);
    if (s)
        sp_compare_stage_prefetch(compare_for(bus, s), s, fed);
}

bool sp_local_bus_follow(const struct sp_local_bus *bus, const struct sp_message *crawled,
                         uint32_t step)
{
    uint32_t cell;
    struct sp_id content;
    bool known =
        sp_group_stage_follow(sp_local_bus_group(bus, crawled), crawled, step, &cell, &content);
    if (known && step > 0)
        sp_compare_stage_follow(sp_local_bus_compare(bus, cell), cell, content, crawled->page,
                                step - 1);
    return known;
}

/* The pages that own the rows. */
static void expect_owners(struct sp_local_bus *bus, const struct sp_signature *s,
                          struct sp_local_bus_trail *trail)
{
    for (uint32_t i = 0; i < trail->found.count; i++) {
        struct sp_id *page = &trail->pages[i];
        *page = (struct sp_id){0, 0};
        if (sp_compare_stage_expect_owner(compare_for(bus, s), trail->found.rows[i], s, page))
            sp_group_stage_expect_page(sp_local_bus_group_at(bus, *page), *page);
    }
}

static void expect_groups(struct sp_local_bus *bus, const struct sp_local_bus_trail *trail)
{
    for (uint32_t i = 0; i < trail->found.count; i++) {
        struct sp_id page = trail->pages[i];
        struct sp_group_id group;
        if (!sp_id_is_zero(page) &&
            sp_group_stage_guess_group(sp_local_bus_group_at(bus, page), page, &group))
            sp_group_stage_expect_group(sp_local_bus_group_at(bus, group.founder), group);
    }
}

void sp_local_bus_expect(struct sp_local_bus *bus, const struct sp_message *crawled, uint32_t step,
                         struct sp_local_bus_trail *trail)
{
    const struct sp_signature *s = crawled->crawled.signature;
    struct sp_group_stage *group = sp_local_bus_group(bus, crawled);
    uint32_t cell;
    struct sp_id content;
    if (step == 0) {
        trail->found.count = 0;
        sp_group_stage_expect(group, crawled);
        if (s)
            sp_compare_stage_expect(compare_for(bus, s), s, &trail->found);
    } else if (step == 1) {
        if (sp_group_stage_expect_known(group, crawled, &cell, &content))
            sp_compare_stage_expect_leave(sp_local_bus_compare(bus, cell), cell, content,
                                          crawled->page);
        if (s)
            expect_owners(bus, s, trail);
    } else {
        expect_groups(bus, trail);
    }
}
