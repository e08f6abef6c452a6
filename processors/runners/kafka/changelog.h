/* Writes the records of a changelog, one after another, into a task's database. Private to this
 * folder.
 *
 * Rows come to the database in batches of bounded size; the task's stored row says how far it is,
 * and whether a marker is still to come (`partial`). What a changelog holds is not trusted. */
#ifndef SP_KAFKA_CHANGELOG_H
#define SP_KAFKA_CHANGELOG_H

#include "kafka/task.h"

struct sp_changelog_record {
    int64_t offset;
    struct sp_view key;   /* shorter than two bytes: a marker */
    struct sp_view value; /* data NULL: deleted */
};

/* Several markers share a commit; a commit is cheaper than as many as there were transactions. */
struct sp_changelog {
    size_t batch_bytes; /* of rows in memory; 0: 16 MiB */
    int64_t from;       /* records before it are in the database already and are only checked */
    bool each_marker;   /* commits at each */
    uint64_t applied;   /* records */
    uint64_t markers;
    size_t uncommitted; /* bytes since the last commit */
    size_t unmarked;    /* records since the last marker */
};

/* SP_INVALID: a marker that cannot be read. SP_STATE_FORMAT: the marker is of another life than the
 * database. Errors of the store. */
enum sp_err sp_changelog_apply(struct sp_changelog *c, struct sp_task *t,
                               const struct sp_changelog_record *record);

/* Call at the end of the changelog. Records after the last marker are not part of the state. If
 * they share a batch with records that are, the batch is dropped, and *ret_again says that it must
 * be read again. SP_STATE_FORMAT: some of them are in the database already; restore it from the
 * start, up to t->read_until. */
enum sp_err sp_changelog_end(struct sp_changelog *c, struct sp_task *t, bool *ret_again);

#endif
