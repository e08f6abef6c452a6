/* See overview.h. */
#include "serve/overview.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/service.h"
#include "base/thread.h"
#include "serve/census.h"
#include "serve/predictions.h"

enum { PAUSE_MIN_MS = 5000, PAUSE_FACTOR = 10 /* times what a pass took */ };

struct sp_overview {
    struct sp_state *state;
    struct sp_followed *followed; /* NULL: none */
    struct sp_service service;
    struct sp_buf json;             /* under the lock */
    struct sp_catalogue *catalogue; /* under the lock; NULL: none yet */
    bool background;                /* no request waits for a pass, so requests may delay it */
    bool predict;
    bool (*learned)(void *arg, const struct sp_buf *lines);
    void *learned_arg;
    struct sp_predictor *predictor; /* under the lock; NULL: none yet */
};

/* Returns false if there are no new rules. */
static bool learn(struct sp_overview *o, struct sp_state_reader *r)
{
    struct sp_predictor *predictor = NULL;
    if (sp_predictions_learn(r, &predictor) != SP_OK)
        return false;
    sp_followed_apply(o->followed, predictor);
    pthread_mutex_lock(&o->service.lock);
    struct sp_predictor *before = o->predictor;
    o->predictor = predictor;
    pthread_mutex_unlock(&o->service.lock);
    sp_predictor_free(before);
    return true;
}

/* Called after the state is released, because the receiver of the rules may take long. */
static bool hand_over(const struct sp_overview *o)
{
    struct sp_buf lines = {0};
    sp_predictions_put_rules(o->predictor, SP_SERVE_RULE_CONFIDENCE, &lines);
    bool taken = o->learned(o->learned_arg, &lines);
    sp_buf_done(&lines);
    return taken;
}

/* What one pass over the pages fills. */
struct pass {
    struct sp_census *census;
    struct sp_catalogue *catalogue;
};

static void note(void *arg, const struct sp_page_view *page)
{
    const struct pass *pass = arg;
    sp_census_note(pass->census, page);
    sp_catalogue_note(pass->catalogue, page);
}

/* Returns false if the pass must be repeated even if the state does not change. */
static bool make(struct sp_overview *o, struct sp_state_reader *r)
{
    struct pass pass = {sp_census_new(), sp_catalogue_new(SP_CATALOGUE_BYTES)};
    struct sp_buf json = {0};
    bool complete = sp_state_complete(o->state); /* a part has other rules */
    sp_state_begin(r);
    if (sp_state_each_page(r, note, &pass) == SP_OK) {
        sp_census_put(pass.census, r, &json);
        sp_catalogue_sort(pass.catalogue);
        pthread_mutex_lock(&o->service.lock);
        struct sp_buf before = o->json;
        struct sp_catalogue *catalogue = o->catalogue;
        o->json = json;
        o->catalogue = pass.catalogue;
        json = before;
        pass.catalogue = catalogue;
        pthread_mutex_unlock(&o->service.lock);
    }
    bool learned = o->predict && learn(o, r);
    sp_state_end(r);
    sp_buf_done(&json);
    sp_census_free(pass.census);
    sp_catalogue_unref(pass.catalogue);
    return !o->learned || (complete && learned && hand_over(o));
}

/* The version grows when there is something new to read. */
static uint64_t version_now(const struct sp_overview *o)
{
    return sp_state_version(o->state) + sp_followed_version(o->followed);
}

static void *work(void *arg)
{
    struct sp_overview *o = arg;
    if (o->background)
        sp_thread_background();
    struct sp_state_reader *r = sp_state_reader_new(o->state);
    uint64_t version = 0;
    int64_t pause_ms = PAUSE_MIN_MS;
    do {
        if (version_now(o) == version)
            continue;
        double start = sp_clock_seconds();
        version = version_now(o);
        if (!make(o, r))
            version = 0;
        pause_ms = (int64_t)(PAUSE_FACTOR * 1000 * (sp_clock_seconds() - start));
    } while (sp_service_sleep(&o->service, pause_ms > PAUSE_MIN_MS ? pause_ms : PAUSE_MIN_MS));
    sp_state_reader_free(r);
    return NULL;
}

struct sp_overview *sp_overview_start(struct sp_state *state, struct sp_followed *followed,
                                      const struct sp_serve_options *options)
{
    struct sp_overview *o = sp_calloc(1, sizeof *o);
    struct sp_fault ignored;
    o->state = state;
    o->followed = followed;
    o->background = options->state != NULL; /* on Kafka, new statuses wait until a pass ends */
    o->predict = options->predict;
    o->learned = options->learned;
    o->learned_arg = options->learned_arg;
    sp_service_init(&o->service);
    if (sp_service_start(&o->service, work, o, &ignored) == SP_OK)
        return o;
    sp_overview_stop(o);
    return NULL;
}

void sp_overview_stop(struct sp_overview *o)
{
    if (!o)
        return;
    sp_service_done(&o->service);
    sp_buf_done(&o->json);
    sp_catalogue_unref(o->catalogue);
    sp_predictor_free(o->predictor);
    sp_free(o);
}

bool sp_overview_put(struct sp_overview *o, struct sp_buf *out)
{
    pthread_mutex_lock(&o->service.lock);
    bool made = o->json.len > 0;
    sp_buf_put_view(out, sp_buf_view(&o->json));
    pthread_mutex_unlock(&o->service.lock);
    return made;
}

struct sp_catalogue *sp_overview_catalogue(struct sp_overview *o)
{
    pthread_mutex_lock(&o->service.lock);
    struct sp_catalogue *catalogue = sp_catalogue_ref(o->catalogue);
    pthread_mutex_unlock(&o->service.lock);
    return catalogue;
}

bool sp_overview_predict(struct sp_overview *o, struct sp_view url, double confidence,
                         double explore, struct sp_buf *out)
{
    pthread_mutex_lock(&o->service.lock); /* held for the microseconds of a few look-ups */
    bool made = o->predictor != NULL;
    if (made)
        sp_predictions_put(o->predictor, url, confidence, explore, out);
    pthread_mutex_unlock(&o->service.lock);
    return made;
}
