/* Records as they came, made of what is stored. Private to this folder. */
#ifndef SP_ARCHIVE_ORIGINALS_H
#define SP_ARCHIVE_ORIGINALS_H

#include "archive/patch.h"
#include "archive/segments.h"

struct sp_original {
    struct sp_view header;
    struct sp_view block;
    uint64_t next; /* offset behind the stored record; 0 of one that was put */
};

struct sp_originals;

/* Both are borrowed. Keeps `cache_bytes` of records, and those of the last call. */
struct sp_originals *sp_originals_new(struct sp_segments *segments, struct sp_patcher *patcher,
                                      uint64_t max_record, uint64_t cache_bytes);
void sp_originals_free(struct sp_originals *o);

/* Reads at most SP_ARCHIVE_DEPTH_MAX + 2 stored records. Views are valid until sp_originals_trim.
 * The fault says which record is damaged. */
enum sp_err sp_originals_get(struct sp_originals *o, struct sp_place place,
                             struct sp_original *ret_original, struct sp_fault *fault);
/* The record that was stored there will be asked for. */
void sp_originals_put(struct sp_originals *o, struct sp_place place, struct sp_view header,
                      struct sp_view block);
/* Gives back what is over the limit, the oldest first. */
void sp_originals_trim(struct sp_originals *o);

/* The payload of a record: the block without its HTTP header, if it has one. */
struct sp_view sp_payload(struct sp_view header, struct sp_view block);
/* The HTTP header of a response, with its empty line; empty where there is none. */
struct sp_view sp_http_header(struct sp_view header, struct sp_view block);

#endif
