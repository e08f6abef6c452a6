/* The state directory of a `samepage run`, read while the run may write to it. Private to this
 * folder.
 *
 * A struct sp_state is shared; each thread reads through a struct sp_state_reader of its own.
 * Between sp_state_begin and sp_state_end a reader sees the state as one commit left it, whatever
 * sp_state_refresh finds meanwhile. */
#ifndef SP_SERVE_STATE_H
#define SP_SERVE_STATE_H

#include "group/group.h"
#include "local/watching.h"
#include "serve/statuses.h"

struct sp_state;
struct sp_state_reader;

/* Errors as sp_db_open_reading; opens and removes a directory for RocksDB's log. */
enum sp_err sp_state_open(const char *directory, uint32_t tier1, struct sp_state **ret_state,
                          struct sp_fault *fault);
/* The statuses as a state without signatures, which takes them over. */
struct sp_state *sp_state_of_statuses(struct sp_statuses *statuses);
/* To be called after all readers have ended. NULL is allowed. */
void sp_state_close(struct sp_state *state);

/* Follows the writer: opens the state again if its files have changed, or where `must`. Any
 * thread; one waits for another. */
enum sp_err sp_state_refresh(struct sp_state *state, bool must);
/* Grows when there is something new to see; any thread. */
uint64_t sp_state_version(const struct sp_state *state);

/* False: it is the statuses of a topic that is still being read for the first time; any thread. */
bool sp_state_complete(const struct sp_state *state);

struct sp_state_reader *sp_state_reader_new(struct sp_state *state);
void sp_state_reader_free(struct sp_state_reader *r);
void sp_state_begin(struct sp_state_reader *r);
void sp_state_end(struct sp_state_reader *r);
/* Why the last read failed with SP_STORE; valid until the next read. */
const char *sp_state_message(const struct sp_state_reader *r);
/* The version that is seen since sp_state_begin. */
uint64_t sp_state_seen(const struct sp_state_reader *r);

/* All below, inside begin and end. SP_STORE: a file that was needed is gone, or the disk fails;
 * refresh, begin again. */

/* The page's id; SP_NO_URL if the URL is not usable. */
enum sp_err sp_state_page_id(struct sp_state_reader *r, struct sp_view url, struct sp_id *ret_page);
enum sp_err sp_state_page(struct sp_state_reader *r, struct sp_id page,
                          void (*each)(void *arg, const struct sp_page_view *page), void *arg);
/* The members after that page, in the order of their ids; a zero id: all. The page need not be a
 * member any more. */
enum sp_err sp_state_members(struct sp_state_reader *r, struct sp_group_id group,
                             struct sp_id after,
                             bool (*each)(void *arg, const struct sp_member_view *member),
                             void *arg);
/* Of a member of that group. */
enum sp_err sp_state_signature(struct sp_state_reader *r, struct sp_group_id group,
                               struct sp_id content, struct sp_signature **ret_signature);
enum sp_err sp_state_each_page(struct sp_state_reader *r,
                               void (*each)(void *arg, const struct sp_page_view *page), void *arg);
/* Records handled, of all inputs, and whether all were read to their end; 0 and false where the
 * state says nothing of it. */
void sp_state_position(struct sp_state_reader *r, uint64_t *ret_records, bool *ret_ended);
/* What the run found in its pages (docs/AUDIT.md). SP_NOT_FOUND: it watches none. */
enum sp_err sp_state_audit(struct sp_state_reader *r, struct sp_watching_report *ret_report);

#endif
