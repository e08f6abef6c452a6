/* State behind the stages: a database of ordered key/value partitions with one
 * atomic commit. Two implementations: memory (tests, simulation) and RocksDB.
 *
 *   struct sp_db      one database; one open batch that covers all its partitions
 *   struct sp_store   one partition's view of it: its own key space
 *
 * Writes go to the open batch and are invisible to reads until sp_db_commit: a stage
 * keeps what it changed in its own caches and writes it once, at the flush before the
 * commit. Getting a key that the open batch holds is a mistake of ours: the memory
 * implementation asserts it. A scan shows committed rows only. Of two writes to one key in
 * a batch the later one counts.
 *
 * Errors: SP_STORE (why: sp_db_message), SP_STATE_FORMAT, SP_BUSY (another process
 * holds the directory). After SP_STORE from a commit nothing of the batch was applied, and
 * the batch is empty again: rebuild from what is committed.
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
    uint64_t memtable_bytes;    /* each of up to three; default 64 MiB */
    int background_threads;     /* default 2; those of a process serve all its databases */
    uint32_t
        databases; /* how many the process has at most, which share its files; 0 (default): 1 */
    /* NULL (default): a block cache and write buffers of its own. Else those, and of the two
     * budgets above only what `shared` was made with counts. Outlives the database. */
    struct sp_rocksdb_shared *shared;
    /* A commit is applied by a thread of its own while the caller goes on, which reads it all the
     * same: what failed is said by the next commit or sync. After a kill the state is still a
     * prefix of the commits. Another thread reads the rows named by sp_store_expect. */
    bool background;
    /* Off (default): a commit reaches the disk when its write buffer does. On: it is there before
     * sp_db_commit returns. Either way the state after a kill, or a loss of power, is a prefix of
     * the commits. */
    bool write_ahead_log;
    /* On: a commit for which the disk has no room fails with SP_STORE and "No space left on device"
     * before RocksDB starts it. Off (default): the caller checks for room. */
    bool looks_for_room;
};

void sp_rocksdb_options_default(struct sp_rocksdb_options *ret_options);

/* What the databases of a process have in common: one block cache, and one budget of write buffers
 * that is divided again as databases come and go. One thread opens and closes them. */
struct sp_rocksdb_shared *sp_rocksdb_shared_new(const struct sp_rocksdb_options *options);
void sp_rocksdb_shared_free(struct sp_rocksdb_shared *shared);

struct sp_db *sp_db_open_memory(void);
/* A memory database with the committed content of `db` (a memory one): the simulated
 * disk after a crash. */
struct sp_db *sp_db_copy_memory(const struct sp_db *db);
/* Opens the state in `directory`, creating it if it is missing; an empty directory will do.
 * `fingerprint` is the configuration that must not change over the state's life, as
 * lines "key=value\n" in any order; it is kept with the state and compared at each open.
 * NULL options: the default.
 *   SP_STATE_FORMAT  another format, another fingerprint, or files that are not ours
 *   SP_BUSY          another process has it open
 *   SP_STORE         permissions, disk full, damage
 * The fault names the cause (the keys that differ, both values) and what to do. */
enum sp_err sp_db_open_rocksdb(const char *directory, const char *fingerprint,
                               const struct sp_rocksdb_options *options, struct sp_db **ret_db,
                               struct sp_fault *fault);
/* Opens the state in `directory` to read it, also while another process writes to it: nothing in it
 * is changed, no lock is taken. It always shows the state of some commit: the last one whose write
 * buffer had reached the disk (with a write-ahead log: the last one). `scratch` is a directory of
 * the caller's own, for RocksDB's log. `before`, or NULL, is an older view of the same state, whose
 * cache the new one takes over; close it all the same. Nothing may be written. SP_STORE where there
 * is no state, or it cannot be read; a read fails with SP_STORE as well where the writer has
 * deleted a file meanwhile: open it again. */
enum sp_err sp_db_open_reading(const char *directory, const char *scratch,
                               const struct sp_rocksdb_options *options, struct sp_db *before,
                               struct sp_db **ret_db, struct sp_fault *fault);
/* A handle for one more thread. It reads from the database that it was last told to use, which must
 * stay open (NULL: none, and nothing may be read). */
struct sp_db *sp_db_reader(void);
void sp_db_reader_use(struct sp_db *reader, struct sp_db *db);
/* Deletes all rows of the state in `directory`, which nobody has open; its configuration stays. A
 * kill or a loss of power leaves all of them or none. SP_STORE. */
enum sp_err sp_db_wipe(const char *directory, struct sp_fault *fault);
/* A number that changes when the files of the state in `directory` change; 0 if they cannot be
 * listed. */
uint64_t sp_db_files(const char *directory);
/* Appends the fingerprint that the state in `directory` was made with. SP_STATE_FORMAT, SP_STORE
 * as above. */
enum sp_err sp_db_read_fingerprint(const char *directory, struct sp_buf *out,
                                   struct sp_fault *fault);
/* The calling thread is the one that uses the database from now on; another one has opened it. */
void sp_db_adopt(struct sp_db *db);
/* Drops the open batch, releases the stores, closes. NULL is allowed. */
void sp_db_close(struct sp_db *db);

/* The view of partition `number`; owned by the database, the same at each call. */
struct sp_store *sp_db_store(struct sp_db *db, uint16_t number);

/* Applies the open batch of all partitions. After a kill at any moment what is there is a prefix of
 * the commits: either all or nothing of each, and with it everything committed before. Empty
 * batches are free. */
enum sp_err sp_db_commit(struct sp_db *db);
/* From now on `before` is called before rows of commits can come to the disk: by the thread that
 * applies commits or by the caller, never by two at a time, not for each commit where there is no
 * write-ahead log. So what it brings to the disk, of what was there at a commit, is there before
 * that commit's rows. When it fails, so do this commit and all that follow. Memory databases never
 * call it. It must be callable until the database is closed. Before the first commit. */
void sp_db_before_commits(struct sp_db *db, enum sp_err (*before)(void *arg), void *arg);
/* On: for filling a database with large batches. Each commit becomes a sorted file, written and
 * synced in the background and taken over by the database as it is; what is found after a kill, or
 * a loss of power, is a prefix of the commits as ever. Memory: two batches. Off: waits for the
 * last, whose error it returns. The batch is empty at both. SP_STORE: it is off. */
enum sp_err sp_db_fill(struct sp_db *db, bool on);
/* Brings everything committed to the disk. */
enum sp_err sp_db_sync(struct sp_db *db);
/* Rewrites all files of the database, so that nothing is left in any of what was deleted or
 * replaced before. Takes as long as to read and write all of it, and as much room on the disk
 * again. The batch is empty. SP_STORE: nothing is lost; it can be called again, also after a
 * restart. */
enum sp_err sp_db_compact(struct sp_db *db);
void sp_db_discard(struct sp_db *db);
/* Calls `each` for every write of the open batch: the key as it is stored (two bytes of partition,
 * big-endian, then the key), and the value, or `deleted`. In no particular order, but of several
 * writes to one key the last comes last. No other call on this database inside. */
void sp_db_each_write(struct sp_db *db,
                      void (*each)(void *arg, struct sp_view key, struct sp_view value,
                                   bool deleted),
                      void *arg);
/* What was asked of a database since it was opened. Bytes are those of keys, with the two of the
 * partition, and values. What an implementation does besides, as reading ahead, is not in it. */
struct sp_db_counts {
    uint64_t gets;       /* of keys that exist and of keys that do not */
    uint64_t rows_read;  /* got, or shown by a scan */
    uint64_t bytes_read; /* of these rows */
    uint64_t rows_put;   /* each time, also those that a batch or the stage puts again */
    uint64_t rows_deleted;
    uint64_t bytes_written; /* of both */
};

void sp_db_counts(const struct sp_db *db, struct sp_db_counts *ret_counts);

/* What went wrong last, for people. */
const char *sp_db_message(const struct sp_db *db);
/* Bytes on disk, and of memory outside the block cache, as the implementation knows them. */
void sp_db_size(struct sp_db *db, uint64_t *ret_disk_bytes, uint64_t *ret_memory_bytes);

/* The committed value: a view valid until the next call on this database. SP_NOT_FOUND
 * where there is none. */
enum sp_err sp_store_get(struct sp_store *s, struct sp_view key, struct sp_view *ret_value);
/* The key will be got soon, perhaps: it is read ahead where commits are applied in the background,
 * and nothing happens elsewhere. Never changes what a get returns. */
void sp_store_expect(struct sp_store *s, struct sp_view key);
/* Into the open batch; key and value are copied. */
void sp_store_put(struct sp_store *s, struct sp_view key, struct sp_view value);
void sp_store_delete(struct sp_store *s, struct sp_view key);
/* Calls `each` for every committed key that starts with `prefix` and is >= `from` (an empty
 * `from`: from the first), ascending, until it returns false. Inside `each` no other
 * call on this database is allowed; its views end with it. */
enum sp_err sp_store_scan(struct sp_store *s, struct sp_view prefix, struct sp_view from,
                          bool (*each)(void *arg, struct sp_view key, struct sp_view value),
                          void *arg);

/* Tests: `calls` more calls (get, scan, commit of a batch that is not empty) succeed, then every
 * one fails with SP_STORE; -1 turns it off. Memory implementation only. */
void sp_db_fail_after(struct sp_db *db, long calls);

#endif
