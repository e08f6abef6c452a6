/* What the stages of a bus have counted; see bus.h. */
#include "local/bus_internal.h"

/* The fields of both statistics. The build fails if one is missing here. */
#define GROUP_COUNTERS(X)                                                                          \
    X(pages)                                                                                       \
    X(late)                                                                                        \
    X(unchanged)                                                                                   \
    X(again_unknown)                                                                               \
    X(erased)                                                                                      \
    X(erased_unknown)                                                                              \
    X(settled)                                                                                     \
    X(left_alone)                                                                                  \
    X(rechecks)                                                                                    \
    X(merges)                                                                                      \
    X(splits)                                                                                      \
    X(put_off)                                                                                     \
    X(told_later)                                                                                  \
    X(split_later)                                                                                 \
    X(departed)                                                                                    \
    X(bounces)                                                                                     \
    X(relinks)                                                                                     \
    X(moves)                                                                                       \
    X(compared)                                                                                    \
    X(repairs)                                                                                     \
    X(repair_compared)                                                                             \
    X(held_against)                                                                                \
    X(taking)                                                                                      \
    X(hops)                                                                                        \
    X(searched)                                                                                    \
    X(hub_probes)                                                                                  \
    X(cache_bytes)
#define COMPARE_COUNTERS(X)                                                                        \
    X(rows)                                                                                        \
    X(probes)                                                                                      \
    X(star_probes)                                                                                 \
    X(contacts)                                                                                    \
    X(candidates)                                                                                  \
    X(postings)                                                                                    \
    X(matches)                                                                                     \
    X(row_loads)                                                                                   \
    X(rows_to_move)                                                                                \
    X(index_bytes)                                                                                 \
    X(cache_bytes)

#define ADD(field) sum->field += part->field;
#define ONCE(field) char field; /* a field twice does not compile */
struct group_counters {
    GROUP_COUNTERS(ONCE)
};
struct compare_counters {
    COMPARE_COUNTERS(ONCE)
};
_Static_assert(sizeof(struct sp_group_stage_stats) ==
                   sizeof(struct group_counters) * sizeof(uint64_t),
               "a counter of the group stage is not added up");
_Static_assert(sizeof(struct sp_compare_stage_stats) ==
                   sizeof(struct compare_counters) * sizeof(uint64_t),
               "a counter of the compare stage is not added up");

static void add_group(struct sp_group_stage_stats *sum, const struct sp_group_stage_stats *part)
{
    GROUP_COUNTERS(ADD)
}

static void add_compare(struct sp_compare_stage_stats *sum,
                        const struct sp_compare_stage_stats *part)
{
    COMPARE_COUNTERS(ADD)
}

void sp_local_bus_stats(const struct sp_local_bus *bus, struct sp_local_bus_stats *ret_stats)
{
    struct sp_local_bus_stats sum = bus->stats;
    for (uint32_t i = 0; i < bus->options.tier1; i++) {
        struct sp_group_stage_stats s;
        sp_group_stage_stats(bus->group[i], &s);
        add_group(&sum.group, &s);
    }
    for (uint32_t i = 0; i < bus->options.tier2; i++) {
        struct sp_compare_stage_stats s;
        sp_compare_stage_stats(bus->compare[i], &s);
        add_compare(&sum.compare, &s);
    }
    sp_contents_stats(bus->contents, &sum.contents);
    if (bus->contain)
        sp_contain_stage_stats(bus->contain, &sum.contain);
    *ret_stats = sum;
}
