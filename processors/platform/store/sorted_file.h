/* Writes a sorted table file of RocksDB, in C++, because the C interface cannot say that the file
 * will be read soon: it drops the file from the kernel's cache while writing it, and merging then
 * reads all of it from the disk. Private to this folder. Thread rule: one thread at a time. */
#ifndef SP_STORE_SORTED_FILE_H
#define SP_STORE_SORTED_FILE_H

#ifdef __cplusplus
extern "C" { /* also for what the headers declare */
#endif

#include "store/batch.h"

struct sp_sorted_file;

/* `filter_bits` a key for the file's filter. With prefix_bytes, not 0, the filter also has the
 * prefixes of so many bytes. Never NULL. */
struct sp_sorted_file *sp_sorted_file_new(int filter_bits, size_t prefix_bytes, size_t block_bytes);
/* NULL is allowed. */
void sp_sorted_file_free(struct sp_sorted_file *f);
/* Writes all rows of a sorted batch to a file of that name, which must not exist. The system begins
 * to write it to the disk; ingesting the file syncs it. Returns NULL, or RocksDB's error
 * (rocksdb_free). */
char *sp_sorted_file_write(struct sp_sorted_file *f, const char *path,
                           const struct sp_write_batch *batch);

#ifdef __cplusplus
}
#endif

#endif
