/* A scripted HTTP server on real sockets: one response after another, each on its own
 * connection. */
#ifndef SP_TEST_STAND_IN_H
#define SP_TEST_STAND_IN_H

#include <pthread.h>

#include "base/bytes.h"

enum { STAND_IN_REQUESTS = 8 };

/* What a request gets instead of a response. */
enum { SILENCE = -1, HANG_UP = -2, HALF = -3 /* half of the body, then the connection closes */ };

struct said {
    int status; /* 0: the end of the list */
    const char *body;
    size_t body_size; /* 0: length of the text */
};

struct stand_in {
    const struct said *script;
    struct sp_buf requests[STAND_IN_REQUESTS]; /* as received, followed by a 0 byte */
    size_t request_count;
    char url[64]; /* http://127.0.0.1:PORT */
    int listening;
    int held; /* the connection that gets no response; -1: none */
    pthread_t thread;
};

/* Serves the script to its end, then stops listening. */
void stand_in_start(struct stand_in *s, const struct said *script);
/* Stops listening. The requests may be read from now on; stand_in_done frees them. */
void stand_in_stop(struct stand_in *s);
void stand_in_done(struct stand_in *s);

#endif
