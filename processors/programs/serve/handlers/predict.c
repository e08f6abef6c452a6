/* /v1/predict: predicts whether a URL that was not fetched yet leads to a known page. */
#include <stdlib.h>

#include "base/url.h"
#include "serve/handler.h"
#include "serve/overview.h"

static const double CONFIDENCE = 0.9;

/* Parses an argument from 0 to 1, or returns `otherwise` if it is missing; false if it is invalid.
 */
static bool share(const struct sp_query *q, const char *name, double otherwise, double *ret_share)
{
    const char *text = sp_argument(q, name);
    char *end = NULL;
    double x = text ? strtod(text, &end) : otherwise;
    if ((text && (!*text || *end)) || !(x >= 0 && x <= 1))
        return false;
    *ret_share = x;
    return true;
}

unsigned sp_handle_predict(struct sp_serve *s, struct sp_serve_thread *t, const struct sp_query *q)
{
    const char *url = sp_argument(q, "url");
    double confidence = 0, explore = 0;
    struct sp_buf canonical = {0};
    if (!s->options.predict)
        return sp_respond_error(
            t, MHD_HTTP_NOT_FOUND,
            "this server does not predict: start it with --predict or --follow-rules");
    if (!url)
        return sp_respond_error(t, MHD_HTTP_BAD_REQUEST, "the argument url is missing");
    if (!share(q, "confidence", CONFIDENCE, &confidence) ||
        !share(q, "explore", s->options.explore, &explore))
        return sp_respond_error(t, MHD_HTTP_BAD_REQUEST,
                                "confidence and explore are numbers from 0 to 1");
    enum sp_err err = sp_url_canonical(sp_view_str(url), &canonical);
    bool made = err == SP_OK && sp_overview_predict(s->overview, sp_buf_view(&canonical),
                                                    confidence, explore, &t->out);
    sp_buf_done(&canonical);
    if (err != SP_OK)
        return sp_respond_failed(t, err, url);
    if (!made)
        return sp_respond_error(t, MHD_HTTP_SERVICE_UNAVAILABLE,
                                "the rules are still being learned: try again");
    return MHD_HTTP_OK;
}
