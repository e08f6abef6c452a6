/* Connections that are sent status events as they come (GET /v1/events): server-sent events, as the
 * HTML standard describes them, section 9.2. At most SP_SERVE_STREAMS; one with nothing to send is
 * suspended, and holds no thread. Once a second all are woken: what is new is sent, or a comment,
 * which shows that the connection is still there. Private to this folder. */
#ifndef SP_SERVE_STREAMS_H
#define SP_SERVE_STREAMS_H

#include "serve/server.h"

struct sp_streams *sp_streams_new(void);
/* When the daemon has ended. NULL is allowed. */
void sp_streams_free(struct sp_streams *streams);

/* A place for one; false: all are taken. It becomes a stream or is given back. */
bool sp_streams_take(struct sp_streams *streams);
/* The response that follows the events from `from` on (0: what comes from now on), with a place
 * that was taken. NULL: there is no memory for it, and the place is given back. `sent` is called
 * when something was sent. */
struct MHD_Response *sp_stream_response(struct sp_serve *s, struct MHD_Connection *connection,
                                        uint64_t from, void (*sent)(struct MHD_Connection *c));

/* Once a second. */
void sp_streams_wake(struct sp_streams *streams);
/* All end, before the daemon does. */
void sp_streams_end(struct sp_streams *streams);

#endif
