/* An archive of what is new: WARC files in, WARC files out, in which nothing is kept twice.
 *
 *   whole     a record as it came
 *   revisit   a record whose payload is that of an earlier one (WARC 1.1, 6.7.2, profile
 *             identical-payload-digest): its header, its HTTP header, and where the payload is
 *   patch     an extension (docs/ARCHIVE.md): its header, and what makes its block of the block of
 * an earlier record, a Zstandard frame with that block as prefix
 *
 * Both can be restored to the byte. What a patch or a revisit is based on may be a patch itself; at
 * most `depth` lie one behind the other.
 *
 *   records.h   WARC records of the inputs     known.h      what is in the archive, and like what
 *   fields.h    headers, changed and back      originals.h  stored records as they came
 *   patch.h     Zstandard with a prefix        state.h      what is committed
 *   segments.h  the archive's WARC files       cdxj.h, index.h   the index for other tools
 *
 * The archive's files are a pure function of the inputs and the options: neither commits nor kills
 * change them. Thread rule: one thread at a time. */
#ifndef SP_ARCHIVE_ARCHIVE_H
#define SP_ARCHIVE_ARCHIVE_H

#include "base/fault.h"
#include "input/readings.h"
#include "text/text.h"

enum { SP_ARCHIVE_DEPTH_MAX = 64 };

struct sp_archive_options {
    const char *const *inputs; /* WARC files: plain, .gz, .zst; "-": standard input */
    size_t input_count;
    const char *dir;   /* made where it is missing; an archive in it is continued */
    uint32_t depth;    /* 1 to SP_ARCHIVE_DEPTH_MAX; 0: no patches */
    int patch_level;   /* of Zstandard, 1 to 19 */
    int gzip_level;    /* 1 to 9 */
    double similarity; /* of pages that are tried as bases; 0 < x <= 1 */
    uint64_t max_record_bytes;
    uint64_t segment_bytes; /* a WARC file that has so many is followed by another one */
    uint64_t commit_bytes;  /* of input, between two commits */
    uint64_t cache_bytes;   /* for records as they came */
    struct sp_text_options text;
    struct sp_readings *readings; /* may be NULL */
    /* Both may be NULL. A record that could not be read, as a sentence; bytes of input read. */
    void (*complain)(void *arg, const char *text);
    void (*progress)(void *arg, uint64_t done, uint64_t total);
    void *arg;
};

/* All but the defaults: depth 8, levels 9 and 6, similarity 0.5, 1 GiB, 64 MiB, 256 MiB. */
void sp_archive_options_default(struct sp_archive_options *ret_options);

struct sp_archive_result {
    uint64_t records; /* of this call, as all that follow */
    uint64_t passed;  /* in the archive already: an input that is continued */
    uint64_t bad;     /* could not be read */
    uint64_t whole;
    uint64_t revisits;
    uint64_t patches;
    uint64_t bytes;        /* of records, as they came, not compressed */
    uint64_t stored_bytes; /* of the archive's WARC files, the new part */
    uint64_t deepest;
};

/* Adds the inputs to the archive. SP_BUSY: another process does so. An input that was read before
 * is known by its name without folders and its first record's header, and read on from where it was
 * left: the same call again after a kill finishes what it was at. */
enum sp_err sp_archive_write(const struct sp_archive_options *options,
                             struct sp_archive_result *ret_result, struct sp_fault *fault);

struct sp_archive_restore_options {
    const char *dir;
    const char *url;    /* as in the records; NULL: all records, in the order in which they came */
    const char *output; /* "-": standard output */
    uint64_t max_record_bytes;
    uint64_t cache_bytes;
    void (*restored)(void *arg, uint64_t bytes); /* after each record; may be NULL */
    void *arg;
};

/* Writes records as they came, each followed by CR LF CR LF. SP_NOT_FOUND: nothing of that URL.
 * Works beside a process that writes, and shows what that had committed. */
enum sp_err sp_archive_restore(const struct sp_archive_restore_options *options,
                               uint64_t *ret_records, struct sp_fault *fault);

#endif
