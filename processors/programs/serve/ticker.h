/* A thread that, once a second, checks whether the state has changed, records its position, and
 * closes connections that finish no request. Private to this folder. */
#ifndef SP_SERVE_TICKER_H
#define SP_SERVE_TICKER_H

#include "serve/server.h"

/* Notes the state's position for the first time. */
void sp_ticker_init(struct sp_serve *s);
void sp_ticker_start(struct sp_serve *s);
/* Also if it was not started. */
void sp_ticker_stop(struct sp_serve *s);
/* After everything that looks at the history; also if it was not initialised. */
void sp_ticker_done(struct sp_serve *s);

#endif
