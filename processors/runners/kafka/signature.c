/* The signature stage as a worker runs it: crawled pages in, messages of tier 1 out. */
#include "base/mem.h"
#include "kafka/page_reader.h"
#include "kafka/sender.h"
#include "kafka/stages.h"
#include "shadow/shadow.h"

struct signature_stage {
    struct sp_sender sender;
    struct sp_page_reader *reader;
    uint64_t audited; /* bound of the draws of pages in the sample; 0: there is none */
    uint64_t cut;     /* pages */
};

static enum sp_err signature_open(void *arg, struct sp_worker *w, struct sp_store *store,
                                  void **ret_stage)
{
    const struct sp_stage_options *o = arg;
    struct signature_stage *s = sp_calloc(1, sizeof *s);
    (void)store;
    s->sender.worker = w;
    s->sender.maps = &o->compare.maps;
    s->reader = sp_page_reader_new(o);
    s->audited = sp_shadow_limit(o->audit_share);
    *ret_stage = s;
    return SP_OK;
}

static void *signature_reader(void *arg)
{
    return sp_page_reader_new(arg);
}

static void signature_reader_free(void *reader)
{
    sp_page_reader_free(reader);
}

static enum sp_err signature_prepare(void *arg, struct sp_fault *fault)
{
    const struct sp_stage_options *o = arg;
    return o->schemas ? sp_schemas_reach(o->schemas, fault) : SP_OK;
}

/* A copy for the audit (watch.h), in the same transaction. An erased page is deleted there, sampled
 * or not: what it said before is not known here. A fetch without a time is not watched. */
static void send_fetch(struct signature_stage *s, struct sp_message *m)
{
    struct sp_id page = m->page;
    bool erased = m->kind == SP_MSG_ERASE;
    bool copied =
        s->audited > 0 && !erased && m->crawled.version > 0 && sp_shadow_draws(s->audited, m);
    sp_sender_send(&s->sender, m);
    if (copied || (erased && s->audited > 0))
        sp_worker_emit(s->sender.worker, SP_TOPIC_AUDIT, 0, sp_view(&page, sizeof page),
                       erased ? (struct sp_view){0} : sp_buf_view(&s->sender.bytes));
}

static enum sp_err signature_read(void *reader, struct sp_view key, struct sp_view value,
                                  struct sp_worker_reading *ret_reading)
{
    return sp_page_reader_read(reader, key, value, ret_reading);
}

static void signature_pass(void *stage, const struct sp_worker_reading *reading)
{
    struct signature_stage *s = stage;
    s->cut += reading->cut;
    if (reading->message)
        send_fetch(s, reading->message);
}

static enum sp_err signature_step(void *stage, struct sp_view key, struct sp_view value,
                                  const char **ret_why)
{
    struct sp_worker_reading r;
    enum sp_err err =
        sp_page_reader_read(((struct signature_stage *)stage)->reader, key, value, &r);
    *ret_why = r.why;
    if (err == SP_OK)
        signature_pass(stage, &r);
    return err;
}

static void signature_measure(void *stage, struct sp_stage_measure *sum)
{
    const struct signature_stage *s = stage;
    sum->cut += s->cut;
}

static enum sp_err nothing_to_flush(void *stage)
{
    (void)stage;
    return SP_OK;
}

static void signature_close(void *stage)
{
    struct signature_stage *s = stage;
    sp_page_reader_free(s->reader);
    sp_sender_done(&s->sender);
    sp_free(s);
}

struct sp_worker_stage sp_stage_signature(const struct sp_stage_options *options)
{
    return (struct sp_worker_stage){.name = "signature",
                                    .input = SP_TOPIC_PAGES,
                                    .outputs = {SP_TOPIC_TIER1, SP_TOPIC_AUDIT},
                                    .output_count = 1 + (options->audit_share > 0),
                                    .prepare = signature_prepare,
                                    .open = signature_open,
                                    .step = signature_step,
                                    .read = signature_read,
                                    .pass = signature_pass,
                                    .reader_new = signature_reader,
                                    .reader_free = signature_reader_free,
                                    .measure = signature_measure,
                                    .flush = nothing_to_flush,
                                    .close = signature_close,
                                    .arg = (void *)(uintptr_t)options};
}
