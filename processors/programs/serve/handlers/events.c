/* /v1/history: the status events of a page, as a run wrote them. /v1/events: the events of all
 * pages, as they arrive. */
#include "base/json_write.h"
#include "base/url.h"
#include "serve/handler.h"
#include "serve/log.h"
#include "serve/streams.h"

enum { EVENTS_DEFAULT = 100, EVENTS_MAX = 1000 };

unsigned sp_handle_history(struct sp_serve *s, struct sp_serve_thread *t, const struct sp_query *q)
{
    struct sp_id page;
    size_t limit = EVENTS_DEFAULT;
    bool more = false;
    unsigned refused = sp_argument_page(t, q, "url", &page);
    if (refused)
        return refused;
    if (!sp_argument_number(q, "limit", EVENTS_MAX, &limit) || limit == 0)
        return sp_respond_error(t, MHD_HTTP_BAD_REQUEST, "limit is a number from 1 to %d",
                                EVENTS_MAX);
    if (!s->log)
        return sp_respond_error(
            t, MHD_HTTP_NOT_FOUND,
            "a state holds only the last status of a page: start the server with --statuses "
            "FILE, the output of the run");
    if (!sp_log_ready(s->log))
        return sp_respond_error(t, MHD_HTTP_SERVICE_UNAVAILABLE,
                                "the files of --statuses are still being read: try again");
    sp_buf_put_str(&t->out, "{\"events\":[");
    enum sp_err err = sp_log_events(s->log, page, limit, &t->out, &more);
    if (err == SP_IO)
        return sp_respond_error(t, MHD_HTTP_INTERNAL_SERVER_ERROR,
                                "a file of --statuses has changed");
    if (err != SP_OK)
        return sp_respond_failed(t, err, sp_argument(q, "url"));
    sp_buf_put_str(&t->out, more ? "],\"more\":true}\n" : "],\"more\":false}\n");
    return MHD_HTTP_OK;
}

unsigned sp_handle_events(struct sp_serve *s, struct sp_serve_thread *t, const struct sp_query *q)
{
    (void)q;
    if (!s->live)
        return sp_respond_error(
            t, MHD_HTTP_NOT_FOUND,
            "there is no source of new statuses: start the server with --statuses FILE, the "
            "output of the run, or with --kafka and without --state");
    return sp_streams_take(s->streams)
               ? MHD_HTTP_OK
               : sp_respond_error(t, MHD_HTTP_SERVICE_UNAVAILABLE,
                                  "%d clients already follow the statuses", SP_SERVE_STREAMS);
}
