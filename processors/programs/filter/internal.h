/* What the files of the filter share. Private to this folder. */
#ifndef SP_FILTER_INTERNAL_H
#define SP_FILTER_INTERNAL_H

#include <stdbool.h>

#include "base/hash.h"
#include "samepage/filter.h"

struct samepage_document {
    uint32_t refs; /* atomic */
    uint32_t count;
    uint32_t total;
    bool complete;       /* count == total */
    struct sp_id digest; /* of all above and the hashes */
    uint32_t hashes[];   /* ascending */
};

#endif
