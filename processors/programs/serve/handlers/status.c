/* /v1/status: the status event of a page, as other readers of statuses see it. */
#include "codec/lines.h"
#include "serve/handler.h"

static void put_status(void *arg, const struct sp_page_view *p)
{
    struct sp_serve_thread *t = arg;
    struct sp_status_event event = sp_page_view_status(p);
    sp_buf_reset(&t->out);
    if (p->status != SP_STATUS_NONE)
        sp_lines_put_status(&t->out, &event);
}

unsigned sp_handle_status(struct sp_serve *s, struct sp_serve_thread *t, const struct sp_query *q)
{
    struct sp_id page;
    unsigned refused = sp_argument_page(t, q, "url", &page);
    (void)s;
    if (refused)
        return refused;
    enum sp_err err = sp_state_page(t->reader, page, put_status, t);
    if (err == SP_OK && t->out.len == 0)
        err = SP_NOT_FOUND; /* known only as the target of a redirect */
    return err == SP_OK ? MHD_HTTP_OK : sp_respond_failed(t, err, sp_argument(q, "url"));
}
