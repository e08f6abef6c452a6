/* The record batches of Kafka's log (magic 2), as a fetch returns them. Private to this folder.
 *
 *   batch    offset 8, length 4, leader epoch 4, magic 1, checksum 4, attributes 2, offset of the
 *            last record 4, times 8 and 8, producer 8, epoch 2, sequence 4, number of records 4,
 *            records; numbers are big-endian
 *   record   length, attributes 1, time, offset, length of the key, key, length of the value,
 *            value, headers; numbers are zigzag, offsets are relative to the batch, a length of -1
 *            means that there is none
 *
 * A reader skips what was aborted, as a consumer with isolation.level=read_committed does. Nothing
 * is copied, and the bytes are not trusted. Checksums are not compared; librdkafka does not do so
 * either unless check.crcs is set. */
#ifndef SP_KAFKA_BATCHES_H
#define SP_KAFKA_BATCHES_H

#include "base/bytes.h"
#include "kafka/changelog.h"

/* A transaction that was aborted, of which a fetch may have records. */
struct sp_aborted {
    int64_t producer;
    int64_t first;  /* the offset of its first record */
    bool seen_over; /* of the reader: its abort marker was read */
};

struct sp_batches {
    struct sp_view left;        /* batches that were not begun */
    struct sp_aborted *aborted; /* borrowed */
    size_t aborted_count;
    struct sp_view batch; /* the rest of the records of the batch under way */
    uint32_t count;       /* of these records */
    int64_t base;         /* the offset of that batch */
    int64_t from;         /* earlier records are skipped */
    int64_t next;         /* the offset after all that was read, or skipped */
    bool strange; /* batches of another magic, compressed, or damaged: `next` is where they begin */
};

/* `next` of the returned reader is `from`. */
struct sp_batches sp_batches(struct sp_view batches, struct sp_aborted *aborted, size_t count,
                             int64_t from);
/* False: no whole batch is left, or the rest is strange. */
bool sp_batches_next(struct sp_batches *r, struct sp_changelog_record *ret_record);
/* The offset after the last whole batch, `from` if there is none. */
int64_t sp_batches_end(struct sp_view batches, int64_t from);

#endif
