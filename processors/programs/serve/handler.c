/* See handler.h. */
#include "serve/handler.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/json_write.h"
#include "base/url.h"

unsigned sp_respond_error(struct sp_serve_thread *t, unsigned status, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    sp_buf_reset(&t->out);
    sp_buf_put_str(&t->out, "{\"error\":");
    sp_json_put_text(&t->out, text);
    sp_buf_put_str(&t->out, "}\n");
    return status;
}

unsigned sp_respond_failed(struct sp_serve_thread *t, enum sp_err err, const char *url)
{
    if (err == SP_NOT_FOUND)
        return sp_respond_error(t, MHD_HTTP_NOT_FOUND, "nothing is known about %.300s", url);
    if (err == SP_NO_URL)
        return sp_respond_error(t, MHD_HTTP_BAD_REQUEST,
                                "not a usable URL: it needs a scheme and a host, no spaces, and at "
                                "most %d bytes",
                                (int)SP_URL_MAX_BYTES);
    if (err == SP_STORE) {
        t->state_failed = true;
        return sp_respond_error(t, MHD_HTTP_SERVICE_UNAVAILABLE,
                                "the state cannot be read right now: try again; if this lasts, see "
                                "the log of the service");
    }
    return sp_respond_error(t, MHD_HTTP_INTERNAL_SERVER_ERROR, "%s", sp_err_text(err));
}

const char *sp_argument(const struct sp_query *q, const char *name)
{
    return MHD_lookup_connection_value(q->connection, MHD_GET_ARGUMENT_KIND, name);
}

unsigned sp_argument_page(struct sp_serve_thread *t, const struct sp_query *q, const char *name,
                          struct sp_id *ret_page)
{
    const char *url = sp_argument(q, name);
    if (!url)
        return sp_respond_error(t, MHD_HTTP_BAD_REQUEST, "the argument %s is missing", name);
    enum sp_err err = sp_state_page_id(t->reader, sp_view_str(url), ret_page);
    return err == SP_OK ? 0 : sp_respond_failed(t, err, url);
}

bool sp_argument_number(const struct sp_query *q, const char *name, size_t most, size_t *ret_number)
{
    const char *text = sp_argument(q, name);
    char *end = NULL;
    if (!text)
        return true;
    if (*text < '0' || *text > '9')
        return false;
    unsigned long long n = strtoull(text, &end, 10);
    if (*end || n > most)
        return false;
    *ret_number = (size_t)n;
    return true;
}
