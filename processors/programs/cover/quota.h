/* How many documents of a host are kept, whatever the relation says: the future work of Paudel et
 * al., section 6. Private to this folder.
 *
 *   least   of each host at least so many are kept, or all that there are: to the cover are added
 *           the lightest, and of equal ones the last. The result is a cover still; it has no more
 *           documents than the smallest such one and those that were added.
 *   most    of each host at most so many are kept: those that cover most, then the lightest. Of the
 *           others, and of what they covered, each is now covered by a kept document of which the
 *           graph knows that it covers it, the one that shares most. The rest are left out: neither
 *           kept nor covered. */
#ifndef SP_COVER_QUOTA_H
#define SP_COVER_QUOTA_H

#include "cover/components.h"

struct sp_quota {
    uint32_t least; /* 0: any number */
    uint32_t most;  /* 0: any number */
};

struct sp_quota_stats {
    uint64_t added;
    uint64_t left_out;
};

struct sp_quota_options {
    struct sp_quota quota;
    const struct sp_documents *documents; /* with the field host */
    const struct sp_relation *relation;
    const uint32_t *stands_for; /* components.h */
};

/* Time: sorting the documents, and a look at each arc. Errors as sp_graph_sort. */
enum sp_err sp_quota_apply(const struct sp_quota_options *options, struct sp_graph *graph,
                           struct sp_decisions *decisions, struct sp_quota_stats *stats,
                           struct sp_fault *fault);

#endif
