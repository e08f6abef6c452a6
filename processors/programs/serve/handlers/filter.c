/* POST /v1/filter: a ranked list in, the list without near duplicates out. */
#include <string.h>

#include "base/json_write.h"
#include "base/mem.h"
#include "serve/handler.h"

/* Without signatures, two pages count as duplicates if they have the same winner. */
struct by_status {
    struct sp_id page;
    struct sp_id winner; /* its own id if it is no loser */
    float similarity;
};

struct job {
    struct sp_serve *s;
    struct sp_serve_thread *t;
    const struct sp_list *list;
    const struct samepage_document *documents[SP_SERVE_LIST]; /* NULL: the page is unknown */
    struct samepage_verdict verdicts[SP_SERVE_LIST];
    struct by_status *statuses; /* of each, or NULL */
    struct sp_redirects *redirects;
    size_t unknown;
};

_Static_assert((int)SP_SERVE_LIST <= (int)SAMEPAGE_FILTER_DOCUMENTS, "the filter takes any list");

static struct samepage_document *of_text(struct job *j, const struct sp_list_item *item)
{
    if (!j->t->text)
        j->t->text = sp_text_new(&j->s->options.text);
    struct sp_signature *signature =
        sp_text_signature(j->t->text, item->content_type, item->text, true);
    struct samepage_document *document = sp_index_of_signature(j->s->index, signature);
    sp_signature_unref(signature);
    return document;
}

struct winner {
    struct sp_buf url;
    struct by_status *of;
    bool counts;
};

static void note_winner(void *arg, const struct sp_page_view *v)
{
    struct winner *w = arg;
    w->counts = v->status != SP_STATUS_NONE && v->status != SP_STATUS_GONE;
    w->of->similarity = v->similarity;
    if (v->winner_url)
        sp_buf_put_str(&w->url, v->winner_url);
}

/* Makes a document that equals only those of pages with the same winner. */
static enum sp_err of_status(struct job *j, struct sp_id page, struct by_status *of,
                             struct samepage_document **ret_document)
{
    struct winner w = {.of = of};
    of->page = of->winner = page;
    enum sp_err err = sp_state_page(j->t->reader, page, note_winner, &w);
    if (err == SP_OK && w.url.len)
        err = sp_state_page_id(j->t->reader, sp_buf_view(&w.url), &of->winner);
    sp_buf_done(&w.url);
    if (err != SP_OK || !w.counts)
        return err == SP_OK ? SP_NOT_FOUND : err;
    uint32_t set[sizeof of->winner / sizeof(uint32_t)];
    memcpy(set, &of->winner, sizeof set);
    size_t count = sizeof set / sizeof *set;
    *ret_document = samepage_document_from_hashes(set, count, count, count);
    return SP_OK;
}

/* Returns 0, or the status of the error response that was made. */
static unsigned find_documents(struct job *j)
{
    for (size_t i = 0; i < j->list->count; i++) {
        const struct sp_list_item *item = &j->list->items[i];
        struct samepage_document *document = NULL;
        struct sp_id page;
        if (item->text.len > SP_SERVE_TEXT_BYTES)
            return sp_respond_error(j->t, MHD_HTTP_CONTENT_TOO_LARGE,
                                    "the text of document %zu is larger than %d bytes", i,
                                    SP_SERVE_TEXT_BYTES);
        enum sp_err err = sp_state_page_id(j->t->reader, item->url, &page);
        if (item->text.data)
            document = of_text(j, item);
        else if (err == SP_OK && j->statuses)
            err = of_status(j, page, &j->statuses[i], &document);
        else if (err == SP_OK)
            err = sp_index_document(j->s->index, j->t->reader, j->redirects, page, &document);
        if (err != SP_OK && err != SP_NOT_FOUND && err != SP_NO_URL)
            return sp_respond_failed(j->t, err, "");
        j->documents[i] = document;
        j->unknown += !document;
    }
    return 0;
}

static void put_array(struct sp_buf *out, const char *key)
{
    if (out->data[out->len - 1] == ',')
        out->len--;
    sp_buf_put_str(out, key);
}

/* Writes the similarity from the statuses of the pair; that of two losers of one winner is unknown.
 */
static void put_similarity(struct job *j, size_t i)
{
    const struct samepage_verdict *v = &j->verdicts[i];
    struct sp_buf *out = &j->t->out;
    if (!j->statuses || j->list->items[i].text.data) {
        sp_json_put_float(out, v->similarity);
        return;
    }
    const struct by_status *a = &j->statuses[i], *b = &j->statuses[v->repeats];
    if (sp_id_eq(a->page, b->page))
        sp_json_put_float(out, 1);
    else if (sp_id_eq(a->winner, b->page))
        sp_json_put_float(out, a->similarity);
    else if (sp_id_eq(b->winner, a->page))
        sp_json_put_float(out, b->similarity);
    else
        sp_buf_put_str(out, "null");
}

static const char *compared(const struct job *j)
{
    if (j->statuses)
        return "statuses";
    return sp_index_of_sentences(j->s->index) ? "sentences" : "shingles";
}

static void put_verdicts(struct job *j, double threshold)
{
    struct sp_buf *out = &j->t->out;
    sp_buf_put_str(out, "{\"kept\":[");
    for (size_t i = 0; i < j->list->count; i++)
        if (j->verdicts[i].repeats == SAMEPAGE_KEPT) {
            sp_json_put_string(out, j->list->items[i].url);
            sp_buf_put_u8(out, ',');
        }
    put_array(out, "],\"dropped\":[");
    for (size_t i = 0; i < j->list->count; i++)
        if (j->verdicts[i].repeats != SAMEPAGE_KEPT) {
            sp_buf_put_str(out, "{\"url\":");
            sp_json_put_string(out, j->list->items[i].url);
            sp_buf_put_str(out, ",\"repeats\":");
            sp_json_put_string(out, j->list->items[j->verdicts[i].repeats].url);
            sp_buf_put_str(out, ",\"similarity\":");
            put_similarity(j, i);
            sp_buf_put_str(out, "},");
        }
    put_array(out, "],\"unknown\":[");
    for (size_t i = 0; i < j->list->count && j->unknown; i++)
        if (!j->documents[i]) {
            sp_json_put_string(out, j->list->items[i].url);
            sp_buf_put_u8(out, ',');
        }
    put_array(out, "],\"threshold\":");
    sp_json_put_double(out, threshold);
    sp_buf_put_str(out, ",\"compared\":");
    sp_json_put_text(out, compared(j));
    sp_buf_put_str(out, "}\n");
}

static void count(struct job *j, int kept)
{
    __atomic_add_fetch(&j->s->counters.filtered, j->list->count, __ATOMIC_RELAXED);
    __atomic_add_fetch(&j->s->counters.dropped, j->list->count - (size_t)kept, __ATOMIC_RELAXED);
}

unsigned sp_handle_filter(struct sp_serve *s, struct sp_serve_thread *t, const struct sp_query *q)
{
    struct job j = {.s = s, .t = t};
    const char *why = "";
    enum sp_err err = sp_json_lists_parse(t->json, q->body, &j.list, &why);
    if (err != SP_OK)
        return sp_respond_error(
            t, err == SP_TOO_LARGE ? MHD_HTTP_CONTENT_TOO_LARGE : MHD_HTTP_BAD_REQUEST,
            "%s; at most %d documents, as in /openapi.json", why, SP_SERVE_LIST);
    if (!s->options.state)
        j.statuses = sp_calloc(SP_SERVE_LIST, sizeof *j.statuses);
    j.redirects = sp_redirects_new(t->reader, SP_REDIRECTS_READ);
    unsigned refused = find_documents(&j);
    sp_redirects_free(j.redirects);
    if (!refused) {
        bool usual = j.list->threshold == 0 || j.list->threshold == s->options.filter_threshold;
        struct samepage_filter *filter =
            usual ? t->filter : samepage_filter_new(j.list->threshold, 0);
        count(&j, samepage_filter_run(filter, j.documents, j.list->count, j.verdicts));
        put_verdicts(&j, usual ? s->options.filter_threshold : j.list->threshold);
        if (!usual)
            samepage_filter_free(filter);
    }
    for (size_t i = 0; i < j.list->count; i++)
        samepage_document_free((struct samepage_document *)(uintptr_t)j.documents[i]);
    sp_free(j.statuses);
    return refused ? refused : MHD_HTTP_OK;
}
