/* /v1/compare: compares two pages by what the state keeps of them: hashes of shingles, and lengths.
 */
#include "base/json_write.h"
#include "serve/handler.h"
#include "similarity/intersect.h"
#include "similarity/similarity.h"

struct side {
    struct sp_id page;
    struct sp_group_id group;
    struct sp_id content;
    enum sp_page_kind kind;
    struct sp_signature *signature;
};

static void note_side(void *arg, const struct sp_page_view *v)
{
    struct side *side = arg;
    side->group = v->group;
    side->content = v->content;
    side->kind = v->kind;
}

/* Returns 0, or the status of the error response that was made. */
static unsigned read_side(struct sp_serve_thread *t, const struct sp_query *q, const char *name,
                          struct side *side)
{
    unsigned refused = sp_argument_page(t, q, name, &side->page);
    if (refused)
        return refused;
    enum sp_err err = sp_state_page(t->reader, side->page, note_side, side);
    if (err == SP_OK && side->kind != SP_PAGE_CONTENT)
        return sp_respond_error(t, MHD_HTTP_NOT_FOUND, "%s has no content of its own: %.300s", name,
                                sp_argument(q, name));
    if (err == SP_OK)
        err = sp_state_signature(t->reader, side->group, side->content, &side->signature);
    return err == SP_OK ? 0 : sp_respond_failed(t, err, sp_argument(q, name));
}

static void put_side(struct sp_buf *out, const struct side *side, const char *url)
{
    const struct sp_signature *s = side->signature;
    sp_buf_put_str(out, "{\"url\":");
    sp_json_put_text(out, url);
    sp_buf_put_str(out, ",\"shingles\":");
    sp_json_put_i64(out, s->shingle_total);
    sp_buf_put_str(out, ",\"shingles_kept\":");
    sp_json_put_i64(out, s->shingle_count);
    sp_buf_put_str(out, ",\"lengths\":[");
    for (size_t d = 0; d < SP_DIMS; d++) {
        if (d)
            sp_buf_put_u8(out, ',');
        sp_json_put_i64(out, s->length[d]);
    }
    sp_buf_put_str(out, "],\"language\":");
    char language[3] = {(char)(s->language >> 8), (char)(s->language & 0xff), 0};
    sp_json_put_text(out, s->language ? language : NULL);
    sp_buf_put_u8(out, '}');
}

bool sp_similar_or_measured(const struct sp_similarity_options *o, const struct sp_signature *a,
                            const struct sp_signature *b, double *ret_similarity)
{
    if (sp_similar(o, a, b, ret_similarity))
        return true;
    *ret_similarity = sp_similarity(o, a, b);
    return false;
}

static void put_comparison(struct sp_serve *s, struct sp_buf *out, const struct sp_signature *a,
                           const struct sp_signature *b)
{
    const struct sp_similarity_options *options = &s->options.similarity;
    double similarity;
    bool similar = sp_similar_or_measured(options, a, b, &similarity);
    size_t shared = sp_intersect(a->hashes, a->shingle_count, b->hashes, b->shingle_count, 0);
    bool capped = a->shingle_count < a->shingle_total || b->shingle_count < b->shingle_total;
    sp_buf_put_str(out, ",\"similarity\":");
    sp_json_put_float(out, (float)similarity);
    sp_buf_put_str(out, capped ? ",\"exact\":false" : ",\"exact\":true");
    sp_buf_put_str(out, ",\"shared_kept\":");
    sp_json_put_i64(out, (int64_t)shared);
    sp_buf_put_str(out, ",\"length_bound\":");
    sp_json_put_float(out, (float)sp_length_bound(a->length, b->length));
    sp_buf_put_str(out, ",\"threshold\":");
    sp_json_put_double(out, options->threshold);
    sp_buf_put_str(out, similar ? ",\"near_duplicates\":true" : ",\"near_duplicates\":false");
    sp_buf_put_str(out, sp_id_eq(a->content_hash, b->content_hash) ? ",\"equal_words\":true}\n"
                                                                   : ",\"equal_words\":false}\n");
}

unsigned sp_handle_compare(struct sp_serve *s, struct sp_serve_thread *t, const struct sp_query *q)
{
    struct side a = {.signature = NULL}, b = {.signature = NULL};
    unsigned refused = read_side(t, q, "a", &a);
    if (!refused)
        refused = read_side(t, q, "b", &b);
    if (!refused) {
        sp_buf_put_str(&t->out, "{\"a\":");
        put_side(&t->out, &a, sp_argument(q, "a"));
        sp_buf_put_str(&t->out, ",\"b\":");
        put_side(&t->out, &b, sp_argument(q, "b"));
        put_comparison(s, &t->out, a.signature, b.signature);
    }
    sp_signature_unref(a.signature);
    sp_signature_unref(b.signature);
    return refused ? refused : MHD_HTTP_OK;
}
