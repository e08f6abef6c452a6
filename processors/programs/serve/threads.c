/* See threads.h. */
#include "serve/threads.h"

#include "base/mem.h"

enum { RECENT_SETS = 1024 };

struct sp_serve_thread *sp_serve_thread(struct sp_serve *s)
{
    static _Thread_local struct sp_serve_thread *mine;
    if (mine && mine->serve == s)
        return mine;
    struct sp_serve_thread *t = sp_calloc(1, sizeof *t);
    t->serve = s;
    t->reader = sp_state_reader_new(s->state);
    t->filter = samepage_filter_new(s->options.filter_threshold, RECENT_SETS);
    t->json = sp_json_lists_new(SP_SERVE_LIST);
    pthread_mutex_lock(&s->threads_lock);
    t->next = s->threads;
    s->threads = t;
    pthread_mutex_unlock(&s->threads_lock);
    mine = t;
    return t;
}

void sp_serve_threads_done(struct sp_serve *s)
{
    for (struct sp_serve_thread *t = s->threads, *next; t; t = next) {
        next = t->next;
        sp_state_reader_free(t->reader);
        samepage_filter_free(t->filter);
        sp_text_free(t->text);
        sp_json_lists_free(t->json);
        sp_parser_free(t->parser);
        sp_buf_done(&t->out);
        sp_free(t);
    }
    s->threads = NULL;
}
