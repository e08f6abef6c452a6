/* The JSON lines that a run writes: status events and dead letters. */
#ifndef SP_RUN_LINES_H
#define SP_RUN_LINES_H

#include "protocol/message.h"
#include "run/pipeline.h"

/* Appends {"url","version_ms","status","winner_url","similarity","reason","group_id","group_size",
 * "epoch"} and a newline; `similarity` is null but for losers. */
void sp_lines_put_status(struct sp_buf *out, const struct sp_status_event *event);

/* Appends {"file","record","offset","reason","detail","raw"} and a newline; `raw` is replaced by
 * `raw_base64` where the bytes are not UTF-8. */
void sp_lines_put_dead_letter(struct sp_buf *out, const char *file,
                              const struct sp_batch_item *item);

/* The id as text, in quotes. */
void sp_lines_put_group_id(struct sp_buf *out, struct sp_group_id id);

#endif
