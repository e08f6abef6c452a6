/* A server that says what a test wants, over real sockets: one response after another, each on a
 * connection of its own. */
#ifndef SP_TEST_STAND_IN_H
#define SP_TEST_STAND_IN_H

#include <pthread.h>

#include "base/bytes.h"

enum { STAND_IN_REQUESTS = 8 };

/* What happens to a request instead of a response. */
enum { SILENCE = -1, HANG_UP = -2, HALF = -3 /* half of the body, then it hangs up */ };

struct said {
    int status; /* 0: the end of the list */
    const char *body;
    size_t body_size; /* 0: the text's length */
};

struct stand_in {
    const struct said *script;
    struct sp_buf requests[STAND_IN_REQUESTS]; /* as they came, a 0 byte behind */
    size_t request_count;
    char url[64]; /* http://127.0.0.1:PORT */
    int listening;
    int held; /* the silent connection, -1: none */
    pthread_t thread;
};

/* The script is read until its end; then nobody listens. */
void stand_in_start(struct stand_in *s, const struct said *script);
/* Stops listening. What was requested may be read from here on; stand_in_done frees it. */
void stand_in_stop(struct stand_in *s);
void stand_in_done(struct stand_in *s);

#endif
