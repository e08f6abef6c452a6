/* The data of each thread that handles requests. Private to this folder. */
#ifndef SP_SERVE_THREADS_H
#define SP_SERVE_THREADS_H

#include "input/input.h"
#include "serve/request.h"
#include "serve/server.h"

enum { SP_NONCE_TEXT = 33 };

struct sp_serve_thread {
    const struct sp_serve *serve;
    struct sp_state_reader *reader;
    struct samepage_filter *filter; /* with the usual threshold */
    struct sp_text *text;           /* made when first needed */
    struct sp_json_lists *json;
    struct sp_parser *parser;  /* made when first needed */
    char nonce[SP_NONCE_TEXT]; /* of the page under way */
    struct sp_buf out;         /* the response */
    bool state_failed;         /* a file of the state was gone: another try may succeed */
    struct sp_serve_thread *next;
};

/* The calling thread's, made when it first asks; libmicrohttpd starts and ends the threads. */
struct sp_serve_thread *sp_serve_thread(struct sp_serve *s);
/* Of all threads, which have ended. */
void sp_serve_threads_done(struct sp_serve *s);

#endif
