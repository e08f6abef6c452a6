/* Restores original records from stored ones. Private to this folder. */
#ifndef SP_ARCHIVE_ORIGINALS_H
#define SP_ARCHIVE_ORIGINALS_H

#include "archive/patch.h"
#include "archive/segments.h"

struct sp_original {
    struct sp_view header;
    struct sp_view block;
    uint64_t next; /* offset after the stored record; 0 if it was put */
};

struct sp_originals;

/* Both are borrowed. Caches `cache_bytes` of records besides those of the last call. */
struct sp_originals *sp_originals_new(struct sp_segments *segments, struct sp_patcher *patcher,
                                      uint64_t max_record, uint64_t cache_bytes);
void sp_originals_free(struct sp_originals *o);

/* Reads at most SP_ARCHIVE_DEPTH_MAX + 2 stored records. Views are valid until sp_originals_trim.
 * The fault names the damaged record. SP_TOO_LARGE: it, or one that it is based on, has more than
 * max_record bytes. */
enum sp_err sp_originals_get(struct sp_originals *o, struct sp_place place,
                             struct sp_original *ret_original, struct sp_fault *fault);
/* Caches a record that was just stored, because it will probably be read. */
void sp_originals_put(struct sp_originals *o, struct sp_place place, struct sp_view header,
                      struct sp_view block);
/* Evicts records above the limit, the oldest first. */
void sp_originals_trim(struct sp_originals *o);

/* The payload of a record: the block without its HTTP header, if it has one. */
struct sp_view sp_payload(struct sp_view header, struct sp_view block);
/* The HTTP header of a response, with its empty line; empty if there is none. */
struct sp_view sp_http_header(struct sp_view header, struct sp_view block);

#endif
