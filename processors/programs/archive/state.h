/* What is committed of an archive, in its file `state`: a text that is replaced whole. Private to
 * this folder.
 *
 * A commit brings to the disk what was appended to the WARC file, to `known.log` (known.h) and to
 * `lines.log` (the lines of the index, not sorted), and then replaces `state`, which says how long
 * each of them is. Bytes beyond these lengths do not count. So a kill leaves the archive of some
 * commit. */
#ifndef SP_ARCHIVE_STATE_H
#define SP_ARCHIVE_STATE_H

#include "archive/segments.h"
#include "base/hash.h"

struct sp_archive_input {
    struct sp_id id;  /* of its name without folders and its first record's header */
    uint64_t records; /* taken from it, good and bad */
    char *name;
};

struct sp_archive_state {
    bool found; /* there was a state to load */
    uint32_t segment;
    uint64_t segment_bytes; /* of the last one */
    uint64_t known_bytes;
    uint64_t line_bytes;
    uint64_t indexed_bytes; /* of these, what index.cdxj has at least */
    struct sp_archive_input *inputs;
    size_t input_count;
    size_t input_cap;
};

/* SP_STATE_FORMAT, SP_CORRUPT, SP_IO. Without a state: found is false. */
enum sp_err sp_archive_state_load(const char *dir, struct sp_archive_state *ret_state,
                                  struct sp_fault *fault);
enum sp_err sp_archive_state_save(const char *dir, const struct sp_archive_state *state,
                                  struct sp_fault *fault);
void sp_archive_state_done(struct sp_archive_state *state);

/* The input of that id, added where it is not there. Valid until the next call. */
struct sp_archive_input *sp_archive_state_input(struct sp_archive_state *state, struct sp_id id,
                                                const char *name);

#endif
