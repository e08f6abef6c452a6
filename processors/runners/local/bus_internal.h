/* What the files of the bus know of it. Private to them. */
#ifndef SP_LOCAL_BUS_INTERNAL_H
#define SP_LOCAL_BUS_INTERNAL_H

#include "local/bus.h"

struct sp_local_bus_event;

struct sp_local_bus {
    struct sp_local_bus_options options;
    struct sp_group_stage **group;
    struct sp_compare_stage **compare;
    struct sp_contents *contents;
    struct sp_contain_stage *contain; /* or NULL */
    enum sp_err contain_err;          /* error of the group stage when it was told of a container */
    struct sp_message *first;
    struct sp_message *last;
    struct sp_local_bus_event *events; /* events of the current record */
    size_t event_count;
    size_t event_cap;
    struct sp_buf texts; /* of the events */
    void (*publish)(void *arg, const struct sp_status_event *event);
    void *publish_arg;
    uint64_t sent;
    struct sp_local_bus_stats stats; /* of delivered messages; the stages have their own */
};

static inline struct sp_group_stage *sp_local_bus_group_at(const struct sp_local_bus *bus,
                                                           struct sp_id home)
{
    return bus->group[home.lo % bus->options.tier1];
}

static inline struct sp_group_stage *sp_local_bus_group(const struct sp_local_bus *bus,
                                                        const struct sp_message *m)
{
    return sp_local_bus_group_at(bus, sp_message_home(m));
}

static inline struct sp_compare_stage *sp_local_bus_compare(const struct sp_local_bus *bus,
                                                            uint32_t cell)
{
    uint32_t machine = sp_maps_machine(&bus->options.compare.maps, cell);
    return bus->compare[machine % bus->options.tier2];
}

/* Divides the memory of all caches by what each of them uses; they keep to it in their next flush.
 */
void sp_local_bus_share_caches(struct sp_local_bus *bus);

#endif
