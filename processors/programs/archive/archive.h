/* Stores WARC files without duplicates. A record is stored in one of three forms:
 *
 *   whole     unchanged
 *   revisit   for a payload that an earlier record has (WARC 1.1, 6.7.2, profile
 *             identical-payload-digest): its header, its HTTP header, and the payload's position
 *   patch     an extension (docs/ARCHIVE.md): its header, and a Zstandard frame that has the
 *             block of an earlier record as prefix
 *
 * All are restored byte for byte. The base of a patch or a revisit may itself be a patch, in chains
 * of at most `depth`.
 *
 *   records.h   WARC records of the inputs     known.h      finds stored records by content
 *   fields.h    changed headers, and back      originals.h  restores original records
 *   patch.h     Zstandard with a prefix        state.h      what is committed
 *   segments.h  the archive's WARC files       cdxj.h, index.h   the index for other tools
 *
 * The archive's files are a pure function of the inputs and the options: they do not depend on when
 * commits or kills come. Thread rule: one thread at a time. */
#ifndef SP_ARCHIVE_ARCHIVE_H
#define SP_ARCHIVE_ARCHIVE_H

#include "base/fault.h"
#include "input/readings.h"
#include "text/text.h"

enum { SP_ARCHIVE_DEPTH_MAX = 64 };

struct sp_archive_options {
    const char *const *inputs; /* WARC files: plain, .gz, .zst; "-": standard input */
    size_t input_count;
    const char *dir;   /* created if missing; an existing archive is continued */
    uint32_t depth;    /* 1 to SP_ARCHIVE_DEPTH_MAX; 0: no patches */
    int patch_level;   /* of Zstandard, 1 to 19 */
    int gzip_level;    /* 1 to 9 */
    double similarity; /* minimum for the base of a patch; 0 < x <= 1 */
    uint64_t max_record_bytes;
    uint64_t segment_bytes; /* a WARC file of this size is followed by the next one */
    uint64_t commit_bytes;  /* input bytes between two commits */
    uint64_t cache_bytes;   /* for restored records */
    struct sp_text_options text;
    struct sp_readings *readings; /* may be NULL */
    /* Both may be NULL. A message for each record that cannot be read; the bytes of input read. */
    void (*complain)(void *arg, const char *text);
    void (*progress)(void *arg, uint64_t done, uint64_t total);
    void *arg;
};

/* Sets all fields that have a default: depth 8, levels 9 and 6, similarity 0.5, 1 GiB, 64 MiB, 256
 * MiB. */
void sp_archive_options_default(struct sp_archive_options *ret_options);

struct sp_archive_result {
    uint64_t records; /* in this call, as in all fields below */
    uint64_t passed;  /* skipped: an earlier call has stored them */
    uint64_t bad;     /* could not be read */
    uint64_t whole;
    uint64_t revisits;
    uint64_t patches;
    uint64_t bytes;        /* of the original records, uncompressed */
    uint64_t stored_bytes; /* added to the archive's WARC files */
    uint64_t deepest;
};

/* Adds the inputs to the archive. SP_BUSY: another process is writing to it. An input is identified
 * by its name without folders and the header of its first record; one that was read before is
 * continued where reading stopped, so after a kill the same call completes its work. */
enum sp_err sp_archive_write(const struct sp_archive_options *options,
                             struct sp_archive_result *ret_result, struct sp_fault *fault);

struct sp_archive_restore_options {
    const char *dir;
    const char *url;    /* as in the records; NULL: all records, in their original order */
    const char *output; /* "-": standard output */
    uint64_t max_record_bytes;
    uint64_t cache_bytes;
    /* Both may be NULL. After each record; a message for each part that is lost. */
    void (*restored)(void *arg, uint64_t bytes);
    void (*lost)(void *arg, const char *text);
    void *arg;
};

/* Writes the original records, each followed by CR LF CR LF. SP_NOT_FOUND: no record of that URL.
 * SP_CORRUPT: some are lost because files of the archive are damaged. SP_TOO_LARGE: some, or those
 * that they are based on, have more than max_record_bytes. All others were written. May run beside
 * a writing process; it then sees the last commit. */
enum sp_err sp_archive_restore(const struct sp_archive_restore_options *options,
                               uint64_t *ret_records, struct sp_fault *fault);

#endif
