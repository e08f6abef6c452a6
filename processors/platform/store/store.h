/* The state of the stages: a database of ordered key/value partitions with one atomic commit. Two
 * implementations: memory (tests, simulation) and RocksDB.
 *
 *   struct sp_db      one database; one open batch that covers all its partitions
 *   struct sp_store   one partition's view of it: its own key space
 *
 * Writes go to the open batch, and reads do not see them until sp_db_commit: a stage keeps its
 * changes in its own caches and writes each once, at the flush before the commit. So getting a key
 * that the open batch holds is a mistake of the program, which the memory implementation detects
 * with an assert. A scan shows committed rows only. Of two writes to one key in a batch the later
 * one counts.
 *
 * Errors: SP_STORE (sp_db_message says why), SP_STATE_FORMAT, SP_BUSY (another process has the
 * directory open). After SP_STORE from a commit nothing of the batch was applied, and the batch is
 * empty again: rebuild from what is committed.
 *
 * Thread rule: one thread at a time uses a database and its stores. */
#ifndef SP_STORE_STORE_H
#define SP_STORE_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/fault.h"

struct sp_db;
struct sp_store;

struct sp_rocksdb_shared;

struct sp_rocksdb_options {
    uint64_t block_cache_bytes; /* default 256 MiB */
    uint64_t memtable_bytes; /* of a write buffer, of which there are up to three; default 64 MiB */
    int background_threads;  /* default 2; all databases of a process share them */
    /* The most databases that the process will have; they share its limit on open files. 0
     * (default): 1. */
    uint32_t databases;
    /* NULL (default): the database has a block cache and write buffers of its own. Otherwise it
     * uses those of `shared`, which must outlive it, and the two sizes above are ignored. */
    struct sp_rocksdb_shared *shared;
    /* On: a thread applies commits while the caller continues, and the caller already reads their
     * rows; the next commit or sync returns an error that occurred. After a kill the state is still
     * a prefix of the commits. Off by default. */
    bool background;
    /* Off (default): a commit reaches the disk when its write buffer does. On: it is there before
     * sp_db_commit returns (with `background`, before the next commit returns). Either way the
     * state after a kill or a loss of power is a prefix of the commits. */
    bool write_ahead_log;
    /* On: commits are gathered in memory until they would fill a write buffer; they are then
     * applied together, as one sorted file, without a write buffer. A commit that fails is then
     * reported by a later commit or sync. Ignored with a write-ahead log. Off by default. */
    bool gathers;
    /* On: the process has no other database, so this one may take more. With `background` another
     * thread reads ahead the keys of sp_store_expect. With `gathers` there is a filter in memory of
     * the keys of a database that began empty, and a merge of files may need as much room on the
     * disk as all of them take. Off by default. */
    bool alone;
    /* On: a commit for which the disk has no room fails with SP_STORE and "No space left on device"
     * before RocksDB starts it. Off (default): the caller checks for room. */
    bool looks_for_room;
};

void sp_rocksdb_options_default(struct sp_rocksdb_options *ret_options);

/* The block cache and the budget of write buffers that the databases of a process share; the budget
 * is divided again as databases are opened and closed. Uses options->block_cache_bytes and
 * memtable_bytes. Never NULL. Free it after all its databases are closed; NULL is allowed. Thread
 * rule: one thread opens and closes these databases. */
struct sp_rocksdb_shared *sp_rocksdb_shared_new(const struct sp_rocksdb_options *options);
void sp_rocksdb_shared_free(struct sp_rocksdb_shared *shared);

/* An empty database in memory. Never NULL; close it with sp_db_close. */
struct sp_db *sp_db_open_memory(void);
/* For tests: a copy of the committed content of `db`, a memory database: the simulated disk after a
 * crash. */
struct sp_db *sp_db_copy_memory(const struct sp_db *db);
/* Opens the state in `directory`, and creates it if the directory is missing or empty.
 * `fingerprint` is the configuration that must not change during the life of the state, as lines
 * "key=value\n" in any order; it is stored with the state and compared each time. NULL options: the
 * defaults. SP_STATE_FORMAT: another format, another fingerprint, or files that are not ours;
 * SP_BUSY: another process has it open; SP_STORE: permissions, disk full, damage. The fault names
 * the cause (the keys that differ, both values) and what to do. */
enum sp_err sp_db_open_rocksdb(const char *directory, const char *fingerprint,
                               const struct sp_rocksdb_options *options, struct sp_db **ret_db,
                               struct sp_fault *fault);
/* Opens the state in `directory` for reading, also while another process writes to it. It changes
 * nothing there and takes no lock. It shows the state of one commit: the last one whose write
 * buffer had reached the disk (with a write-ahead log: the last one). `scratch` is a directory of
 * the caller, for RocksDB's log. `before` is an older view of the same state, whose block cache the
 * new one takes over, or NULL; the caller still closes it. Nothing may be written. SP_STORE: there
 * is no state, or it cannot be read. A later read also fails with SP_STORE if the writer has
 * deleted a file meanwhile; then open the state again. */
enum sp_err sp_db_open_reading(const char *directory, const char *scratch,
                               const struct sp_rocksdb_options *options, struct sp_db *before,
                               struct sp_db **ret_db, struct sp_fault *fault);
/* A handle for one more reading thread. It reads from the database that sp_db_reader_use names,
 * which must stay open (NULL: none, and nothing may be read). Never NULL; close it with
 * sp_db_close. */
struct sp_db *sp_db_reader(void);
void sp_db_reader_use(struct sp_db *reader, struct sp_db *db);
/* Deletes all rows of the state in `directory`, which no process may have open; its configuration
 * stays. A kill or a loss of power leaves all of the rows or none. SP_STORE: the fault says why. */
enum sp_err sp_db_wipe(const char *directory, struct sp_fault *fault);
/* The same, and its configuration is forgotten: the directory is that of a new state. */
enum sp_err sp_db_remove(const char *directory, struct sp_fault *fault);
/* A number that changes when the files of the state in `directory` change; 0 if they cannot be
 * listed. */
uint64_t sp_db_files(const char *directory);
/* Appends the fingerprint that the state in `directory` was made with. SP_STATE_FORMAT, SP_STORE
 * as above. */
enum sp_err sp_db_read_fingerprint(const char *directory, struct sp_buf *out,
                                   struct sp_fault *fault);
/* Called by a thread that takes over the database from the thread that opened it. */
void sp_db_adopt(struct sp_db *db);
/* From now on, gets and scans fail with SP_BUSY while `is_over(arg)`, also a scan under way: so
 * whoever reads much can be made to give up. NULL (default): never. */
void sp_db_interrupt(struct sp_db *db, bool (*is_over)(void *arg), void *arg);
/* Drops the open batch, releases the stores, closes. NULL is allowed. */
void sp_db_close(struct sp_db *db);

/* The view of partition `number`; owned by the database, the same at each call. */
struct sp_store *sp_db_store(struct sp_db *db, uint16_t number);

/* Applies the open batch of all partitions. After a kill at any moment the state is a prefix of the
 * commits: all or nothing of each commit, and everything committed before it. An empty batch costs
 * nothing. SP_STORE: see above. */
enum sp_err sp_db_commit(struct sp_db *db);
/* Sets a function that is called before rows of commits can reach the disk, so that it can first
 * sync the files that these rows refer to. It must sync all that was written to them before the
 * commit. Without a write-ahead log it is not called for each commit. It is called by the thread
 * that applies commits or by the caller, never by both at a time, until the database is closed. If
 * it fails, this commit and all later ones fail. Memory databases never call it. Call this before
 * the first commit. */
void sp_db_before_commits(struct sp_db *db, enum sp_err (*before)(void *arg), void *arg);
/* Turns on or off the mode for filling a database with large batches. In it, each commit becomes a
 * sorted file, which is written and synced in the background and becomes part of the database as it
 * is. The state after a kill or a loss of power is still a prefix of the commits. Needs memory for
 * two batches. Turning it off waits for the last commit and returns its error. The open batch must
 * be empty. SP_STORE: the mode is off. */
enum sp_err sp_db_fill(struct sp_db *db, bool on);
/* Returns when everything committed is on the disk. With `gathers`, the open batch must be empty.
 */
enum sp_err sp_db_sync(struct sp_db *db);
/* Rewrites all files of the database, so that no file contains data that was deleted or replaced
 * before. Takes the time to read and write all of it, and temporarily as much additional disk
 * space. The open batch must be empty. SP_STORE: nothing is lost; call it again, also after a
 * restart. */
enum sp_err sp_db_compact(struct sp_db *db);
/* Empties the open batch without applying it. */
void sp_db_discard(struct sp_db *db);
/* Calls `each` for every write of the open batch: with the key as it is stored (the partition as
 * two bytes, big-endian, then the key), and the value or `deleted`. The order is not defined,
 * except that of several writes to one key the last comes last. `each` must not call this database.
 */
void sp_db_each_write(struct sp_db *db,
                      void (*each)(void *arg, struct sp_view key, struct sp_view value,
                                   bool deleted),
                      void *arg);
/* Adds such a write to the open batch: a value without data deletes the key. The key is the stored
 * one, at least as long as a partition. */
void sp_db_write(struct sp_db *db, struct sp_view key, struct sp_view value);
/* The calls of a database since it was opened. Bytes are those of keys, including the two of the
 * partition, and values. Work of the implementation, such as reading ahead, does not count. */
struct sp_db_counts {
    uint64_t gets;       /* of keys that exist and of keys that do not */
    uint64_t rows_read;  /* got, or shown by a scan */
    uint64_t bytes_read; /* of these rows */
    uint64_t rows_put;   /* counted each time, also if a row is put again */
    uint64_t rows_deleted;
    uint64_t bytes_written;  /* of both */
    uint64_t largest_commit; /* rows put or deleted in one commit, at most */
};

void sp_db_counts(const struct sp_db *db, struct sp_db_counts *ret_counts);

/* The text of the last error; valid until the next error, or until the database is closed. */
const char *sp_db_message(const struct sp_db *db);
/* What is to be said of an error: that text if it is SP_STORE, else that of the error. */
const char *sp_db_err_text(const struct sp_db *db, enum sp_err err);
/* Approximate bytes on the disk, and of memory without the block cache. */
void sp_db_size(struct sp_db *db, uint64_t *ret_disk_bytes, uint64_t *ret_memory_bytes);

/* From now on, getting a row of this store keeps none of its neighbours in the block cache. For
 * stores with so many large rows that the cache would seldom have the next one, and would have less
 * room for those of other stores. A scan never uses the cache. */
void sp_store_leave_uncached(struct sp_store *s);
/* Gets the committed value, a view that is valid until the next call on this database.
 * SP_NOT_FOUND: there is none. */
enum sp_err sp_store_get(struct sp_store *s, struct sp_view key, struct sp_view *ret_value);
/* False: a get would find nothing. Reads nothing from the disk, so true may be wrong. */
bool sp_store_may_have(struct sp_store *s, struct sp_view key);
/* Fetches into the processor's caches what a get of that key reads first. */
void sp_store_prefetch(struct sp_store *s, struct sp_view key);
/* Announces that the key will probably be got soon. It is then read ahead if the database has
 * `background` on; otherwise nothing happens. It never changes what a get returns. */
void sp_store_expect(struct sp_store *s, struct sp_view key);
/* Whether the row of the key is in memory, for instance because it was read ahead. The value may be
 * older than the last commits, so use it only to decide what to expect next; valid until the next
 * call on this database. */
bool sp_store_peek(struct sp_store *s, struct sp_view key, struct sp_view *ret_value);
/* Both add a write to the open batch; key and value are copied. */
void sp_store_put(struct sp_store *s, struct sp_view key, struct sp_view value);
void sp_store_delete(struct sp_store *s, struct sp_view key);
/* sp_store_put for a large value, which is not copied: it must stay as it is until `release(arg)`
 * is called, by this call or a later one on the database, or by its close. */
void sp_store_put_lent(struct sp_store *s, struct sp_view key, struct sp_view value,
                       void (*release)(void *arg), void *arg);
/* Calls `each` for every committed key that starts with `prefix` and is >= `from` (if that is
 * empty, for all), in ascending order, until `each` returns false. `each` must not call this
 * database; its views are valid until it returns. */
enum sp_err sp_store_scan(struct sp_store *s, struct sp_view prefix, struct sp_view from,
                          bool (*each)(void *arg, struct sp_view key, struct sp_view value),
                          void *arg);

/* For tests: the next `calls` calls (get, scan, commit of a batch that is not empty) succeed, and
 * all later ones fail with SP_STORE; -1 turns this off. Only for memory databases. */
void sp_db_fail_after(struct sp_db *db, long calls);

#endif
