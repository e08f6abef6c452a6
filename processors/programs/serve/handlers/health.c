/* /livez and /readyz. */
#include "base/clock.h"
#include "serve/handler.h"

unsigned sp_handle_livez(struct sp_serve *s, struct sp_serve_thread *t, const struct sp_query *q)
{
    (void)s, (void)q;
    sp_buf_put_str(&t->out, "alive\n");
    return MHD_HTTP_OK;
}

enum { READY_MS = 30000 };

static int64_t rules_read_ms(struct sp_followed *followed)
{
    struct sp_followed_stats stats;
    sp_followed_stats(followed, &stats);
    return stats.read_ms;
}

unsigned sp_handle_readyz(struct sp_serve *s, struct sp_serve_thread *t, const struct sp_query *q)
{
    (void)q;
    int64_t age = sp_clock_ms() - __atomic_load_n(&s->counters.refreshed_ms, __ATOMIC_RELAXED);
    if (age >= READY_MS)
        return sp_respond_error(t, MHD_HTTP_SERVICE_UNAVAILABLE,
                                "the state could not be followed for %lld ms", (long long)age);
    age = s->followed ? sp_clock_ms() - rules_read_ms(s->followed) : 0;
    if (age >= READY_MS)
        return sp_respond_error(t, MHD_HTTP_SERVICE_UNAVAILABLE,
                                "the rules could not be read for %lld ms", (long long)age);
    sp_buf_put_str(&t->out, "ready\n");
    return MHD_HTTP_OK;
}
