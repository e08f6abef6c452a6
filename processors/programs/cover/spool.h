/* Unnamed temporary files that are written once, front to back, and then read. They vanish with the
 * process. The kernel's page cache holds what is read often, so the process itself stays small.
 *
 * The sorter is the classical external sort: runs of as many records as memory allows, each sorted,
 * then merged.
 *
 * The first error is kept until it is asked for; after it, writes do nothing. Thread rule: one
 * thread each; mapped bytes may be read by any. */
#ifndef SP_COVER_SPOOL_H
#define SP_COVER_SPOOL_H

#include "base/bytes.h"
#include "base/fault.h"

struct sp_spool {
    int fd;
    struct sp_buf buffer; /* not yet written */
    uint64_t len;         /* of all that was put, bytes */
    int error;            /* errno of the first failure, or 0 */
    void *map;
    size_t map_len;
};

/* In `directory`, which must exist. */
void sp_spool_open(struct sp_spool *s, const char *directory);
void sp_spool_close(struct sp_spool *s);
void sp_spool_put(struct sp_spool *s, const void *data, size_t len);
/* Everything put so far, readable until closed; NULL if it is empty or on failure. */
const void *sp_spool_map(struct sp_spool *s);
/* SP_IO if any call failed: the fault says why and what to do. */
enum sp_err sp_spool_check(const struct sp_spool *s, struct sp_fault *fault);

/* Records of four numbers, sorted by them from the first to the last. */
struct sp_record4 {
    uint32_t key[4];
};

struct sp_sorter {
    struct sp_record4 *records;
    size_t count;
    size_t cap;
    size_t most; /* records in memory; a power of two, as capacities are */
    struct sp_spool spool;
    uint64_t *run_ends; /* in records */
    size_t run_count;
    size_t run_cap;
    struct sp_sorter_run *runs; /* while merging */
    size_t next;                /* while everything is in memory */
};

/* At most memory_bytes are used for records. */
void sp_sorter_open(struct sp_sorter *s, const char *directory, uint64_t memory_bytes);
void sp_sorter_close(struct sp_sorter *s);
void sp_sorter_put(struct sp_sorter *s, struct sp_record4 record);
/* Ends the putting. */
enum sp_err sp_sorter_start(struct sp_sorter *s, struct sp_fault *fault);
/* The next record in order; false after the last. */
bool sp_sorter_next(struct sp_sorter *s, struct sp_record4 *ret_record);

#endif
