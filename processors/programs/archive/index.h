/* index.cdxj: the lines of lines.log, sorted. Private to this folder. */
#ifndef SP_ARCHIVE_INDEX_H
#define SP_ARCHIVE_INDEX_H

#include "archive/segments.h"

/* Replaces the index by one of the log's first `log_bytes`. Sorts runs of `memory_bytes` and merges
 * them: O(n log n) for all lines. */
enum sp_err sp_index_write(const char *dir, uint64_t log_bytes, uint64_t memory_bytes,
                           struct sp_fault *fault);

/* The positions of the URL's records, ascending; the caller frees them (sp_free). Searches the
 * index by bisection, and the log from byte `from` to `to`, which the index may lack. */
enum sp_err sp_index_find(const char *dir, struct sp_view url, uint64_t from, uint64_t to,
                          struct sp_place **ret_places, size_t *ret_count, struct sp_fault *fault);

/* Calls `each` for the records of the log's first `log_bytes`, or, if there is no log, for those of
 * the index: the position and length of the gzip member. */
void sp_index_each(const char *dir, uint64_t log_bytes,
                   void (*each)(void *arg, struct sp_place place, uint64_t length), void *arg);

#endif
