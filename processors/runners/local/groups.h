/* The listing of all groups that `run --groups` writes. */
#ifndef SP_LOCAL_GROUPS_H
#define SP_LOCAL_GROUPS_H

#include "local/bus.h"

/* Counts of the pages' latest statuses. */
struct sp_group_totals {
    uint64_t status_counts[SP_STATUS_GONE + 1];
    uint64_t groups;     /* with at least one page that was fetched */
    uint64_t duplicates; /* of these, with two or more */
};

enum sp_err sp_groups_count(struct sp_db *db, uint32_t tier1, struct sp_group_totals *ret_totals);

/* Writes one line a group to the file, replacing it: {"group_id","members":[{"url","status",
 * "winner_url","similarity"}]}. Members in order of URL, groups in order of their first member, so
 * that the listing is a pure function of the groups. Pages that are known only as the target of
 * a redirect are left out. The file appears complete or not at all. */
enum sp_err sp_groups_write(struct sp_db *db, uint32_t tier1, const char *file,
                            struct sp_fault *fault);

#endif
