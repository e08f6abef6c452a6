/* The position of a run at its last barrier: how far each input was read, and how long the outputs
 * were. It is part of the same commit as the state.
 *
 * An input is known by its name and by the hash of its first bytes, so that a file that was
 * replaced under the same name is read from its start. A stream (sp_source_is_stream) is known by
 * its name alone. If the previous run was killed, the stream is continued (the same bytes must be
 * piped in again); if it ended, the stream is a new one. */
#ifndef SP_LOCAL_POSITION_H
#define SP_LOCAL_POSITION_H

#include "base/map.h"
#include "store/store.h"

struct sp_input_position {
    char *name;
    uint64_t head;       /* hash of the first head_bytes bytes */
    uint64_t head_bytes; /* at most 4,096 */
    uint64_t records;    /* handled */
    bool ended;
};

/* How far a stream of fetches has come, to refuse times that are far ahead of it. Zeroed: nothing
 * was read. */
struct sp_fetch_clock {
    int64_t latest_ms; /* the latest time that was accepted */
    uint64_t refused;  /* times refused since then, one after another */
};

struct sp_position {
    struct sp_input_position *inputs;
    size_t input_count;
    size_t input_cap;
    struct sp_map names; /* finds inputs by their names */
    char *output;        /* name, or NULL */
    uint64_t output_bytes;
    char *dead_letter;
    uint64_t dead_letter_bytes;
    struct sp_fetch_clock clock;
    uint64_t barriers; /* counted at each commit */
    bool ended;        /* the run ended at this barrier; kept in DIR/BARRIER */
};

enum sp_err sp_position_load(struct sp_store *store, struct sp_position *ret_position);
void sp_position_save(struct sp_store *store, const struct sp_position *position);
void sp_position_done(struct sp_position *position);

/* Writes the number of the barrier to DIR/BARRIER, beside the database, and whether the run has
 * ended. A database with lost or truncated files may open as an older or empty state without an
 * error; the number reveals it. To be called when the position was committed and brought to the
 * disk. */
enum sp_err sp_position_reached(const struct sp_position *position, const char *directory,
                                struct sp_fault *fault);
/* Reads DIR/BARRIER: whether the last run has ended. SP_STORE if the position, as loaded, is behind
 * what was reached; the fault says what to do. */
enum sp_err sp_position_check(struct sp_position *position, const char *directory,
                              struct sp_fault *fault);

/* The entry of that input: the one known, or a new one at its start. The name is copied; the
 * pointer is valid until the next call. */
struct sp_input_position *sp_position_input(struct sp_position *position, const char *name);
/* Called at the end of the input, with the number of records that should have been skipped and were
 * not there (sp_input_unskipped). SP_INVALID if there are any: the input is not the one that was
 * read before. */
enum sp_err sp_position_end_input(struct sp_input_position *in, uint64_t unskipped,
                                  struct sp_fault *fault);

/* Whether an input that has ended is worth a commit when so many records came since the last one:
 * each writes the entries of all inputs, and there may be more inputs than records. */
bool sp_position_is_due(const struct sp_position *position, uint64_t records);

/* Whether a fetch of that time (0: none) is at most `future_ms` ahead of what was read before it;
 * 0: any is. The hundredth time in a row that is ahead is accepted, so that a stream that really
 * has moved on is not refused for good. */
bool sp_fetch_clock_accepts(struct sp_fetch_clock *clock, int64_t time_ms, uint64_t future_ms);

#endif
