/* The latest status of every page from the status topic, in memory, for a server without a state. A
 * thread follows the topic from its beginning. The topic has no signatures, so two pages can only
 * be related through their statuses. Private to this folder.
 *
 * Thread rule: any thread, between begin and end. */
#ifndef SP_SERVE_STATUSES_H
#define SP_SERVE_STATUSES_H

#include "base/fault.h"
#include "group/group.h"
#include "serve/live.h"

struct sp_statuses;

struct sp_serve_options;

/* Of the options: properties, topic, passed_over and told. Events go to `live` too. SP_IO if no
 * broker replies or there is no such topic. */
enum sp_err sp_statuses_start(const struct sp_serve_options *options, struct sp_live *live,
                              struct sp_statuses **ret_statuses, struct sp_fault *fault);
void sp_statuses_stop(struct sp_statuses *s);

/* Without a thread: for tests, which say the events themselves. */
struct sp_statuses *sp_statuses_new(void);
struct sp_status_event;
void sp_statuses_apply(struct sp_statuses *s, const struct sp_status_event *event);
/* The page was erased. */
void sp_statuses_forget(struct sp_statuses *s, const char *url);
/* The topic was deleted and recreated. */
void sp_statuses_clear(struct sp_statuses *s);

/* Events so far; UINT64_MAX after the topic could no longer be followed. */
uint64_t sp_statuses_version(const struct sp_statuses *s);

/* Whether all events that the topic had at the start have been read; true without a thread. */
bool sp_statuses_caught_up(const struct sp_statuses *s);

void sp_statuses_begin(struct sp_statuses *s);
void sp_statuses_end(struct sp_statuses *s);
/* Like the functions of the same name in state.h. Members have no content, parent or rank, because
 * the topic does not contain them. */
enum sp_err sp_statuses_page(struct sp_statuses *s, struct sp_id page,
                             void (*each)(void *arg, const struct sp_page_view *page), void *arg);
enum sp_err sp_statuses_members(struct sp_statuses *s, struct sp_group_id group, struct sp_id after,
                                bool (*each)(void *arg, const struct sp_member_view *member),
                                void *arg);
/* For tests, which are alone: how many members these calls have looked at. */
uint64_t sp_statuses_looked_at(const struct sp_statuses *s);
enum sp_err sp_statuses_each_page(struct sp_statuses *s,
                                  void (*each)(void *arg, const struct sp_page_view *page),
                                  void *arg);

#endif
