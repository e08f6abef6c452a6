/* The committed state of an archive: the text file `state`, which is replaced as a whole. Private
 * to this folder.
 *
 * A commit syncs what was appended to the WARC file, to `known.log` (known.h), to `lines.log` (the
 * unsorted lines of the index) and to `inputs.log`, then replaces `state`, which has the length of
 * each of them. Bytes beyond these lengths do not count, so a kill leaves the archive as of a
 * commit.
 *
 * `inputs.log` says how many records were read from each input: a line when the next input begins
 * to be read, or at the end of the call, and another one if the input has grown later. `state` has
 * the line of the input that is being read. So a commit writes as much however many inputs there
 * were, and the log does not depend on when commits come. */
#ifndef SP_ARCHIVE_STATE_H
#define SP_ARCHIVE_STATE_H

#include "archive/segments.h"
#include "base/hash.h"
#include "base/map.h"

struct sp_archive_input {
    struct sp_id id;  /* key of the map: first; hash of its name without folders and its first
                       * record's header */
    uint64_t records; /* read from it, valid or not */
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
    struct sp_map inputs;
    struct sp_archive_input *reading; /* the last one from which a record was read, if its line is
                                       * not in the log; or NULL */
    char *reading_name;
    uint64_t input_bytes;
    struct sp_buf input_log; /* since the last commit */
};

/* SP_STATE_FORMAT, SP_CORRUPT, SP_IO. Without a state: found is false. Has the inputs only after
 * sp_archive_state_load_inputs. A state of version 1, which had the lines of all inputs, is read:
 * they are in input_log then. */
enum sp_err sp_archive_state_load(const char *dir, struct sp_archive_state *ret_state,
                                  struct sp_fault *fault);
enum sp_err sp_archive_state_save(const char *dir, const struct sp_archive_state *state,
                                  struct sp_fault *fault);
/* Takes the content of inputs.log. SP_CORRUPT. */
enum sp_err sp_archive_state_load_inputs(struct sp_archive_state *state, struct sp_view log);
void sp_archive_state_done(struct sp_archive_state *state);

/* The segment ends there: another one follows. */
void sp_archive_state_ended(struct sp_archive_state *state, struct sp_place end);
/* The input with this id, added if missing. Valid as long as the state. */
struct sp_archive_input *sp_archive_state_input(struct sp_archive_state *state, struct sp_id id);
/* So many of its records have been read, which is news. */
void sp_archive_state_read(struct sp_archive_state *state, struct sp_archive_input *input,
                           const char *name, uint64_t records);
/* The line of the input that was read last goes to the log. */
void sp_archive_state_leave(struct sp_archive_state *state);

#endif
