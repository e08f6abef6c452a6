/* See watching.h. */
#include "local/watching.h"

#include "base/json_write.h"
#include "base/mem.h"

enum { FORMAT = 1 };
static const char KEY[] = "audit";

struct sp_watching {
    struct sp_shadow *shadow;
    struct sp_store *meta;
    struct sp_local_bus *bus;
    struct sp_watching_report before; /* of earlier runs, with the examples of all */
};

/* ---- the report ---- */

void sp_watching_report_done(struct sp_watching_report *report)
{
    sp_buf_done(&report->examples);
}

static uint64_t bits_of(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static double double_of(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

enum sp_err sp_watching_load(struct sp_store *meta, struct sp_watching_report *ret_report)
{
    struct sp_view value;
    enum sp_err err = sp_store_get(meta, sp_view_str(KEY), &value);
    if (err != SP_OK)
        return err;
    struct sp_watching_report report = {0};
    struct sp_reader r = sp_reader(value);
    if (sp_read_u8(&r) != FORMAT)
        return SP_STATE_FORMAT;
    report.missing = sp_read_varint(&r);
    report.wrong = sp_read_varint(&r);
    report.judged = sp_read_varint(&r);
    report.pages = sp_read_varint(&r);
    report.suspects = sp_read_varint(&r);
    report.late_ms = sp_read_zigzag(&r);
    report.asked = double_of(sp_read_u64(&r));
    report.share = double_of(sp_read_u64(&r));
    report.example_count = sp_read_u32(&r);
    struct sp_view examples = sp_read_bytes(&r, sp_reader_left(&r));
    if (r.failed || !(report.share >= 0 && report.share <= 1))
        return SP_CORRUPT;
    sp_buf_put_view(&report.examples, examples);
    *ret_report = report;
    return SP_OK;
}

static void save_report(struct sp_store *meta, const struct sp_watching_report *r)
{
    struct sp_buf out = {0};
    sp_buf_put_u8(&out, FORMAT);
    sp_buf_put_varint(&out, r->missing);
    sp_buf_put_varint(&out, r->wrong);
    sp_buf_put_varint(&out, r->judged);
    sp_buf_put_varint(&out, r->pages);
    sp_buf_put_varint(&out, r->suspects);
    sp_buf_put_zigzag(&out, r->late_ms);
    sp_buf_put_u64(&out, bits_of(r->asked));
    sp_buf_put_u64(&out, bits_of(r->share));
    sp_buf_put_u32(&out, r->example_count);
    sp_buf_put_view(&out, sp_buf_view(&r->examples));
    sp_store_put(meta, sp_view_str(KEY), sp_buf_view(&out));
    sp_buf_done(&out);
}

void sp_watching_put_json(const struct sp_watching_report *r, struct sp_buf *out)
{
    const struct {
        const char *name;
        uint64_t n;
    } counts[] = {{"\"missing\":", r->missing},
                  {",\"wrong\":", r->wrong},
                  {",\"judged\":", r->judged},
                  {",\"pages\":", r->pages},
                  {",\"suspects\":", r->suspects}};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        sp_buf_put_str(out, counts[i].name);
        sp_json_put_i64(out, (int64_t)counts[i].n);
    }
    sp_buf_put_str(out, ",\"late_seconds\":");
    sp_json_put_double(out, (double)r->late_ms / 1e3);
    sp_buf_put_str(out, ",\"share\":");
    sp_json_put_double(out, r->share);
    sp_buf_put_str(out, ",\"examples\":[");
    sp_buf_put_view(out, sp_buf_view(&r->examples));
    sp_buf_put_u8(out, ']');
}

void sp_watching_report(const struct sp_watching *w, struct sp_watching_report *ret_report)
{
    struct sp_shadow_counts now;
    *ret_report = (struct sp_watching_report){0};
    if (!w)
        return;
    sp_shadow_counts(w->shadow, &now);
    *ret_report = w->before;
    ret_report->missing += now.missing;
    ret_report->wrong += now.wrong;
    ret_report->judged += now.judged;
    ret_report->pages = now.pages;
    ret_report->suspects = now.suspects;
    if (now.late_ms > ret_report->late_ms)
        ret_report->late_ms = now.late_ms;
    ret_report->share = now.share;
}

static void on_alarm(void *arg, const struct sp_shadow_alarm *alarm)
{
    struct sp_watching *w = arg;
    struct sp_buf *out = &w->before.examples;
    if (w->before.example_count >= SP_WATCHING_EXAMPLES)
        return;
    bool missing = alarm->kind == SP_SHADOW_MISSING;
    sp_buf_put_str(out, w->before.example_count++ ? ",{\"kind\":" : "{\"kind\":");
    sp_json_put_text(out, missing ? "missing" : "wrong");
    sp_buf_put_str(out, ",\"what\":");
    sp_json_put_text(out, alarm->what);
    sp_buf_put_str(out, ",\"url\":");
    sp_json_put_text(out, alarm->url);
    sp_buf_put_str(out, ",\"other_url\":");
    sp_json_put_text(out, alarm->other_url);
    sp_buf_put_str(out, ",\"similarity\":");
    sp_json_put_float(out, (float)alarm->similarity);
    sp_buf_put_u8(out, '}');
}

/* ---- the pages ---- */

enum sp_err sp_watching_forget(struct sp_store *meta, const struct sp_id *pages, size_t count)
{
    struct sp_watching_report report;
    char key[SP_ID_KEY_BYTES];
    for (size_t i = 0; i < count; i++)
        sp_store_delete(meta, sp_id_key(key, 'A', pages[i]));
    enum sp_err err = sp_watching_load(meta, &report);
    if (err != SP_OK)
        return err == SP_NOT_FOUND ? SP_OK : err;
    if (report.example_count) {
        report.example_count = 0;
        sp_buf_reset(&report.examples);
        save_report(meta, &report);
    }
    sp_watching_report_done(&report);
    return SP_OK;
}

static void on_watched(void *arg, struct sp_id page, bool watched)
{
    struct sp_watching *w = arg;
    char key[SP_ID_KEY_BYTES];
    if (watched)
        sp_store_put(w->meta, sp_id_key(key, 'A', page), sp_view(NULL, 0));
    else
        sp_store_delete(w->meta, sp_id_key(key, 'A', page));
}

struct restoring {
    struct sp_watching *watching;
    struct sp_id *pages;
    size_t count;
    size_t cap;
    enum sp_err err;
};

static bool note_page(void *arg, struct sp_view key, struct sp_view value)
{
    struct restoring *r = arg;
    (void)value;
    if (key.len != SP_ID_KEY_BYTES)
        return true;
    sp_grow(&r->pages, &r->cap, r->count + 1);
    memcpy(&r->pages[r->count++], key.data + 1, sizeof *r->pages);
    return true;
}

/* A copy of borrowed data, because nothing else may be read inside a call of the store. */
struct restored {
    struct sp_shadow_page_state page;
    struct sp_status_event status;
    struct sp_id content;
    bool found;
};

static void on_page(void *arg, const struct sp_page_view *v)
{
    struct restored *x = arg;
    x->page = (struct sp_shadow_page_state){v->page, sp_strdup(v->url), v->version,
                                            v->kind, v->rank,           NULL};
    x->status = sp_page_view_status(v);
    x->status.url = x->page.url;
    x->status.winner_url = sp_strdup(x->status.winner_url);
    x->content = v->content;
    x->found = true;
}

/* Restores a page, unless it is no longer in the sample because audit.share is smaller now. */
static enum sp_err restore_page(struct sp_watching *w, struct sp_db *db, uint32_t tier1,
                                struct sp_id page)
{
    struct restored x = {0};
    char key[SP_ID_KEY_BYTES];
    uint16_t partition = (uint16_t)(SP_BUS_STORE_TIER1 + page.lo % tier1);
    enum sp_err err = sp_group_read_page(sp_db_store(db, partition), page, on_page, &x);
    if (err == SP_OK && x.found && x.page.kind == SP_PAGE_CONTENT)
        err = sp_local_bus_signature(w->bus, x.content, &x.page.signature);
    if (err == SP_NOT_FOUND)
        err = SP_OK;
    if (err == SP_OK && !(x.found && sp_shadow_restore(w->shadow, &x.page, &x.status)))
        sp_store_delete(w->meta, sp_id_key(key, 'A', page));
    sp_free((char *)(uintptr_t)x.page.url);
    sp_free((char *)(uintptr_t)x.status.winner_url);
    return err;
}

static enum sp_err restore(struct sp_watching *w, struct sp_db *db, uint32_t tier1)
{
    struct restoring r = {.watching = w};
    enum sp_err err = sp_store_scan(w->meta, sp_view_str("A"), sp_view(NULL, 0), note_page, &r);
    for (size_t i = 0; i < r.count && err == SP_OK; i++)
        err = restore_page(w, db, tier1, r.pages[i]);
    sp_free(r.pages);
    return err;
}

/* ---- the whole ---- */

enum sp_err sp_watching_new(const struct sp_shadow_options *options, struct sp_db *db,
                            uint32_t tier1, struct sp_local_bus *bus,
                            struct sp_watching **ret_watching)
{
    struct sp_shadow_options o = *options;
    *ret_watching = NULL;
    if (!(o.share > 0))
        return SP_OK;
    struct sp_watching *w = sp_calloc(1, sizeof *w);
    w->bus = bus;
    w->meta = sp_db_store(db, SP_BUS_STORE_META);
    enum sp_err err = sp_watching_load(w->meta, &w->before);
    if (err == SP_NOT_FOUND)
        err = SP_OK;
    /* The next run begins with the share to which this one had to reduce. */
    bool same = w->before.asked == o.share && w->before.share > 0;
    w->before.asked = o.share;
    o.share = same ? w->before.share : o.share;
    o.alarm = on_alarm;
    o.watched = on_watched;
    o.arg = w;
    w->shadow = sp_shadow_new(&o);
    if (err == SP_OK)
        err = restore(w, db, tier1);
    if (err != SP_OK) {
        sp_watching_free(w);
        return err;
    }
    *ret_watching = w;
    return SP_OK;
}

void sp_watching_free(struct sp_watching *w)
{
    if (!w)
        return;
    sp_shadow_free(w->shadow);
    sp_watching_report_done(&w->before);
    sp_free(w);
}

void sp_watching_fetch(struct sp_watching *w, const struct sp_message *crawled)
{
    if (w)
        sp_shadow_fetch(w->shadow, crawled);
}

void sp_watching_status(struct sp_watching *w, const struct sp_status_event *event)
{
    if (w)
        sp_shadow_status(w->shadow, event);
}

void sp_watching_judge(struct sp_watching *w)
{
    if (w)
        sp_shadow_judge(w->shadow, sp_local_bus_owes(w->bus));
}

void sp_watching_settle(struct sp_watching *w)
{
    if (w)
        sp_shadow_settle(w->shadow);
}

void sp_watching_save(struct sp_watching *w)
{
    struct sp_watching_report report;
    if (!w)
        return;
    sp_watching_report(w, &report);
    save_report(w->meta, &report);
}
