/* The committed state of an archive: the text file `state`, which is replaced as a whole. Private
 * to this folder.
 *
 * A commit syncs what was appended to the WARC file, to `known.log` (known.h) and to `lines.log`
 * (the unsorted lines of the index), then replaces `state`, which has the length of each of them.
 * Bytes beyond these lengths do not count, so a kill leaves the archive as of a commit. */
#ifndef SP_ARCHIVE_STATE_H
#define SP_ARCHIVE_STATE_H

#include "archive/segments.h"
#include "base/hash.h"
#include "base/map.h"

struct sp_archive_input {
    struct sp_id id;  /* key of the map: first; hash of its name without folders and its first
                       * record's header */
    uint64_t records; /* read from it, valid or not */
    char *name;
};

struct sp_archive_state {
    bool found; /* a state was loaded */
    uint32_t segment;
    uint64_t segment_bytes; /* of the last segment */
    uint64_t known_bytes;
    uint64_t line_bytes;
    uint64_t indexed_bytes; /* of line_bytes, indexed in index.cdxj at least */
    struct sp_place *ends;  /* where each earlier segment ends; those of older versions have none */
    size_t end_count;
    size_t end_cap;
    struct sp_archive_input **inputs; /* in the order in which they were added */
    size_t input_count;
    size_t input_cap;
    struct sp_map inputs_by_id;
};

/* SP_STATE_FORMAT, SP_CORRUPT, SP_IO. Without a state: found is false. */
enum sp_err sp_archive_state_load(const char *dir, struct sp_archive_state *ret_state,
                                  struct sp_fault *fault);
enum sp_err sp_archive_state_save(const char *dir, const struct sp_archive_state *state,
                                  struct sp_fault *fault);
void sp_archive_state_done(struct sp_archive_state *state);

/* The segment ends there: another one follows. */
void sp_archive_state_ended(struct sp_archive_state *state, struct sp_place end);
/* The input with this id, added if missing. Valid as long as the state. */
struct sp_archive_input *sp_archive_state_input(struct sp_archive_state *state, struct sp_id id,
                                                const char *name);

#endif
