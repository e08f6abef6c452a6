/* Shared by the two implementations of store.h. Keys here are full keys: the partition as two
 * big-endian bytes, then the stage's key. store.c adds and removes the partition, so that an
 * implementation has one ordered key space. Private to this folder. */
#ifndef SP_STORE_IMPL_H
#define SP_STORE_IMPL_H

#include "store/store.h"

#define SP_PARTITION_BYTES 2

struct sp_db_ops {
    enum sp_err (*get)(struct sp_db *db, struct sp_view key, struct sp_view *ret_value);
    bool (*may_have)(struct sp_db *db, struct sp_view key);
    void (*prefetch)(struct sp_db *db, struct sp_view key); /* NULL: nothing to do */
    void (*expect)(struct sp_db *db, struct sp_view key);   /* NULL: nothing to do */
    bool (*peek)(struct sp_db *db, struct sp_view key, struct sp_view *ret_value); /* or NULL */
    void (*put)(struct sp_db *db, struct sp_view key, struct sp_view value);
    /* NULL: put, then release */
    void (*put_lent)(struct sp_db *db, struct sp_view key, struct sp_view value,
                     void (*release)(void *arg), void *arg);
    void (*erase)(struct sp_db *db, struct sp_view key);
    /* Visits the full keys >= from that start with prefix; from >= prefix. */
    enum sp_err (*scan)(struct sp_db *db, struct sp_view prefix, struct sp_view from,
                        bool (*each)(void *arg, struct sp_view key, struct sp_view value),
                        void *arg);
    enum sp_err (*commit)(struct sp_db *db);
    enum sp_err (*sync)(struct sp_db *db);          /* NULL: nothing to do */
    enum sp_err (*compact)(struct sp_db *db);       /* NULL: nothing to do */
    enum sp_err (*fill)(struct sp_db *db, bool on); /* NULL: nothing to do */
    /* NULL: nothing to do */
    void (*before_commits)(struct sp_db *db, enum sp_err (*before)(void *arg), void *arg);
    void (*adopt)(struct sp_db *db); /* NULL: nothing to do */
    void (*discard)(struct sp_db *db);
    void (*each_write)(struct sp_db *db,
                       void (*each)(void *arg, struct sp_view key, struct sp_view value,
                                    bool deleted),
                       void *arg);
    void (*size)(struct sp_db *db, uint64_t *ret_disk_bytes, uint64_t *ret_memory_bytes);
    void (*fail_after)(struct sp_db *db, long calls);
    void (*close)(struct sp_db *db); /* frees everything but the fields of struct sp_db */
};

struct sp_store {
    struct sp_db *db;
    bool uncached;
    unsigned char partition[SP_PARTITION_BYTES];
};

/* The first member of each implementation's struct. */
struct sp_db {
    const struct sp_db_ops *ops;
    struct sp_store *stores[256]; /* by high byte of the partition: 256 each, or NULL */
    struct sp_buf key;            /* the full key of the call under way */
    struct sp_buf from;           /* the key at which the scan under way starts */
    bool scanning;                /* a scan is under way: no other call is allowed */
    bool uncached;              /* the get or expect under way leaves nothing in the block cache */
    bool (*is_over)(void *arg); /* NULL, or reads fail while it is true */
    void *is_over_arg;
    struct sp_db_counts counts;
    uint64_t committed_rows; /* put or deleted before the open batch */
    char message[1024];      /* of the last error */
};

#endif
