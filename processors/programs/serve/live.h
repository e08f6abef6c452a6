/* The latest status events, for readers that follow them. At most SP_LIVE_EVENTS and SP_LIVE_BYTES
 * are kept; a reader that falls further behind is told how many it has missed. Private to
 * this folder and its tests. Thread rule: any. */
#ifndef SP_SERVE_LIVE_H
#define SP_SERVE_LIVE_H

#include "base/bytes.h"

enum { SP_LIVE_EVENTS = 4096, SP_LIVE_BYTES = 4 << 20 };

struct sp_live;

struct sp_live *sp_live_new(void);
/* NULL is allowed. */
void sp_live_free(struct sp_live *l);

/* A status event as JSON, without a newline. */
void sp_live_put(struct sp_live *l, struct sp_view event);
/* The number that the next event will have; the first has 1. */
uint64_t sp_live_next(struct sp_live *l);
/* Appends events from number *at on, as server-sent events, until they are about `bytes`; *at is
 * then the number of what follows. A number that was never given is taken for that of the next. */
void sp_live_read(struct sp_live *l, uint64_t *at, size_t bytes, struct sp_buf *out);

#endif
