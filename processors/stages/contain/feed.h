/* Feeds the contain stage on Kafka, where it learns of pages by messages.
 *
 * In `run` the stage is called after each record, and all stages share one table of signatures. On
 * Kafka the group stage sends notes (codec/note.h) about the content of each fetch and about each
 * published status; those of one page arrive in order. For each page the feed holds the content
 * that its last status named and the contents fetched since; the next status names one of them.
 *
 *   'P' page -> flags, the content that was named, the contents fetched since
 *
 * The result is sent to the page, and is part of its statuses from then on. The page forgets it
 * when its content changes, so results must arrive in order: all travel over one channel. "None" is
 * not sent to a page that has not been told anything else.
 *
 * A pure step, like the stage; errors and rules of threads are the stage's. */
#ifndef SP_CONTAIN_FEED_H
#define SP_CONTAIN_FEED_H

#include "codec/note.h"
#include "contain/contain.h"

struct sp_contain_feed;

/* Never NULL. Options are copied, the store is borrowed; all of it is the feed's. `say` gets what
 * is to be sent (sp_contain_say in contain.h). */
struct sp_contain_feed *sp_contain_feed_new(const struct sp_contain_options *options,
                                            struct sp_store *store, size_t cache_bytes,
                                            sp_contain_say *say, void *arg);
/* NULL is allowed. */
void sp_contain_feed_free(struct sp_contain_feed *f);
/* Call once before the first step: reads all signatures of kept pages. */
enum sp_err sp_contain_feed_load(struct sp_contain_feed *f);
/* A note of the kinds fetched and said; borrowed. */
enum sp_err sp_contain_feed_step(struct sp_contain_feed *f, const struct sp_note *note);
/* Writes all changes since the last flush into the store's open batch. */
enum sp_err sp_contain_feed_flush(struct sp_contain_feed *f);
void sp_contain_feed_stats(const struct sp_contain_feed *f, struct sp_contain_stats *ret_stats);

#endif
