/* See samples.h. */
#include "samples.h"

#include "base/mem.h"

uint64_t sample_u64(struct sample *s)
{
    return sp_mix64(s->state += 0x9e3779b97f4a7c15ull);
}

uint64_t sample_below(struct sample *s, uint64_t below)
{
    return sample_u64(s) % below;
}

int64_t sample_i64(struct sample *s)
{
    return (int64_t)sample_u64(s) >> sample_below(s, 64);
}

static struct sp_id some_id(struct sample *s)
{
    return (struct sp_id){sample_u64(s), sample_u64(s)};
}

static struct sp_id maybe_id(struct sample *s)
{
    return sample_below(s, 2) ? some_id(s) : (struct sp_id){0, 0};
}

struct sp_group_id sample_group_id(struct sample *s)
{
    return (struct sp_group_id){(uint64_t)sample_i64(s), some_id(s)};
}

static double some_double(struct sample *s)
{
    return sample_below(s, 4) ? (double)sample_i64(s) / 1024 : 0;
}

static float some_float(struct sample *s)
{
    return (float)sample_below(s, 1025) / 1024;
}

static char *some_url(struct sample *s)
{
    size_t len = sample_below(s, 16) ? sample_below(s, 120) : sample_below(s, 8193);
    char *url = sp_alloc(len + 1);
    for (size_t i = 0; i < len; i++)
        url[i] = (char)(1 + sample_below(s, 255));
    url[len] = 0;
    return url;
}

static char *maybe_url(struct sample *s)
{
    return sample_below(s, 2) ? some_url(s) : NULL;
}

static struct sp_signature *some_signature(struct sample *s)
{
    uint32_t shingles = (uint32_t)sample_below(s, 60), sentences = (uint32_t)sample_below(s, 9);
    struct sp_signature *g = sp_signature_alloc(shingles, sentences);
    g->params = (uint32_t)sample_u64(s);
    g->content_hash = some_id(s);
    g->language = 0x656e;
    g->length[0] = shingles + (shingles ? (uint32_t)sample_below(s, 9) : 0);
    g->length[1] = shingles ? (uint32_t)sample_below(s, 300) : 0;
    g->length[2] = 0;
    g->shingle_total = g->length[0] + g->length[1];
    uint32_t last = 0;
    for (uint32_t i = 0; i < shingles; i++)
        g->hashes[i] = last += (uint32_t)sample_below(s, 1 << 26);
    for (uint32_t i = 0; i < sentences; i++)
        g->hashes[shingles + i] = (uint32_t)sample_u64(s);
    return g;
}

static struct sp_rank some_rank(struct sample *s)
{
    return (struct sp_rank){some_double(s), (uint32_t)sample_u64(s) >> sample_below(s, 32),
                            (uint8_t)sample_below(s, 2), (uint8_t)sample_below(s, 256)};
}

static void add_edges(struct sample *s, struct sp_message *m, uint32_t least)
{
    m->edge_count = least + (uint32_t)sample_below(s, sample_below(s, 8) ? 4 : 100);
    if (m->edge_count)
        m->edges = sp_calloc(m->edge_count, sizeof *m->edges);
    for (uint32_t i = 0; i < m->edge_count; i++)
        m->edges[i] =
            (struct sp_edge){some_id(s), sample_below(s, 3) ? sample_i64(s) : SP_NO_VERSION};
}

static void add_rows(struct sample *s, struct sp_message *m)
{
    m->row_count = (uint32_t)sample_below(s, 6);
    if (m->row_count)
        m->rows = sp_calloc(m->row_count, sizeof *m->rows);
    for (uint32_t i = 0; i < m->row_count; i++) {
        struct sp_member_row *row = &m->rows[i];
        row->page = some_id(s);
        row->version = sample_i64(s);
        row->content_version = sample_i64(s);
        row->kind = (enum sp_page_kind)sample_below(s, SP_PAGE_DEAD + 1);
        row->target = maybe_id(s);
        row->signature = row->kind == SP_PAGE_CONTENT ? some_signature(s) : NULL;
        row->rank = some_rank(s);
        row->url = some_url(s);
        row->epoch = sample_u64(s) >> sample_below(s, 64);
        row->parent = maybe_id(s);
    }
}

static void fill_page_message(struct sample *s, struct sp_message *m)
{
    switch (m->kind) {
    case SP_MSG_CRAWLED:
        m->version = sample_i64(s);
        m->page_kind = (enum sp_page_kind)sample_below(s, SP_PAGE_DEAD + 1);
        m->signature = m->page_kind == SP_PAGE_CONTENT ? some_signature(s) : NULL;
        m->target = m->page_kind == SP_PAGE_REDIRECT ? some_id(s) : maybe_id(s);
        m->target_url = m->page_kind == SP_PAGE_REDIRECT ? some_url(s) : maybe_url(s);
        m->rank = some_rank(s);
        m->url = some_url(s);
        break;
    case SP_MSG_APPLIED:
        m->settled = sample_below(s, 2);
        break;
    case SP_MSG_MOVE:
        m->signature = some_signature(s);
        break;
    case SP_MSG_STATUS:
        m->status = (enum sp_page_status)sample_below(s, SP_STATUS_GONE + 1);
        m->reason = (enum sp_reason)sample_below(s, SP_REASON_EXACT + 1);
        m->winner = maybe_id(s);
        m->similarity = some_float(s);
        m->group_size = (uint32_t)sample_u64(s) >> sample_below(s, 32);
        m->url = maybe_url(s);
        /* fall through */
    case SP_MSG_ASSIGNED:
        m->epoch = sample_u64(s) >> sample_below(s, 64);
        /* fall through */
    case SP_MSG_FIND_GROUP:
        m->far = sample_group_id(s);
        break;
    default:
        break;
    }
}

static void fill_group_message(struct sample *s, struct sp_message *m)
{
    m->group = sample_group_id(s);
    if (m->kind == SP_MSG_CHANGE) {
        m->version = sample_i64(s);
        m->page_kind = (enum sp_page_kind)sample_below(s, SP_PAGE_DEAD + 1);
        if (m->page_kind == SP_PAGE_CONTENT && sample_below(s, 2))
            m->signature = some_signature(s);
        m->target = maybe_id(s);
        m->rank = some_rank(s);
        m->url = maybe_url(s);
    }
    if (m->kind == SP_MSG_CHANGE || m->kind == SP_MSG_LINK || m->kind == SP_MSG_UNION)
        m->bounced = sample_below(s, 2);
    if (m->kind >= SP_MSG_UNION)
        m->far = sample_group_id(s);
    if (m->kind == SP_MSG_MEMBERS)
        add_rows(s, m);
}

struct sp_message *sample_message(struct sample *s, enum sp_message_kind kind)
{
    struct sp_message *m = sp_message_new(kind);
    m->clock = sample_u64(s) >> sample_below(s, 64);
    m->page = some_id(s);
    if (kind != SP_MSG_CRAWLED && kind != SP_MSG_ASSIGNED)
        m->content_version = sample_i64(s);
    if (kind >= SP_MSG_PUT) {
        m->cell = (uint32_t)sample_u64(s) >> sample_below(s, 32);
        m->signature = kind != SP_MSG_REMOVE ? some_signature(s) : NULL;
        if (kind != SP_MSG_PROBE)
            m->old_content = maybe_id(s);
        m->settled = kind == SP_MSG_PUT && sample_below(s, 2);
    } else if (kind >= SP_MSG_CHANGE) {
        fill_group_message(s, m);
    } else {
        fill_page_message(s, m);
    }
    if (kind == SP_MSG_MATCH || kind == SP_MSG_FIND_GROUP ||
        (kind >= SP_MSG_LINK && kind <= SP_MSG_MEMBERS)) {
        add_edges(s, m, kind != SP_MSG_MEMBERS);
        m->url = maybe_url(s);
    }
    return m;
}

/* ---- sameness ----------------------------------------------------------------------------------
 */

static bool same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static bool same_group(struct sp_group_id a, struct sp_group_id b)
{
    return sp_group_id_eq(a, b);
}

static bool same_signature(const struct sp_signature *a, const struct sp_signature *b)
{
    if (!a || !b)
        return a == b;
    return a->params == b->params && sp_id_eq(a->content_hash, b->content_hash) &&
           memcmp(a->length, b->length, sizeof a->length) == 0 &&
           a->shingle_total == b->shingle_total && a->shingle_count == b->shingle_count &&
           a->sentence_count == b->sentence_count && a->language == b->language &&
           memcmp(a->hashes, b->hashes, 4ull * (a->shingle_count + a->sentence_count)) == 0;
}

static bool same_rank(const struct sp_rank *a, const struct sp_rank *b)
{
    return a->popularity == b->popularity && a->url_bytes == b->url_bytes &&
           a->dynamic == b->dynamic && a->unfavoured == b->unfavoured;
}

static bool same_row(const struct sp_member_row *a, const struct sp_member_row *b)
{
    return sp_id_eq(a->page, b->page) && a->version == b->version &&
           a->content_version == b->content_version && a->kind == b->kind &&
           sp_id_eq(a->target, b->target) && same_signature(a->signature, b->signature) &&
           same_rank(&a->rank, &b->rank) && same_text(a->url, b->url) && a->epoch == b->epoch &&
           sp_id_eq(a->parent, b->parent);
}

static bool same_lists(const struct sp_message *a, const struct sp_message *b)
{
    if (a->edge_count != b->edge_count || a->row_count != b->row_count)
        return false;
    for (uint32_t i = 0; i < a->edge_count; i++)
        if (!sp_id_eq(a->edges[i].page, b->edges[i].page) ||
            a->edges[i].content_version != b->edges[i].content_version)
            return false;
    for (uint32_t i = 0; i < a->row_count; i++)
        if (!same_row(&a->rows[i], &b->rows[i]))
            return false;
    return true;
}

/* Every field, also those that the kind does not have. */
bool sample_same_message(const struct sp_message *a, const struct sp_message *b)
{
    return a->kind == b->kind && a->bounced == b->bounced && a->settled == b->settled &&
           a->cell == b->cell && a->clock == b->clock && sp_id_eq(a->page, b->page) &&
           same_group(a->group, b->group) && same_group(a->far, b->far) &&
           a->version == b->version && a->content_version == b->content_version &&
           a->epoch == b->epoch && a->page_kind == b->page_kind && sp_id_eq(a->target, b->target) &&
           sp_id_eq(a->old_content, b->old_content) && same_rank(&a->rank, &b->rank) &&
           same_signature(a->signature, b->signature) && same_text(a->url, b->url) &&
           same_text(a->target_url, b->target_url) && same_lists(a, b) && a->status == b->status &&
           a->reason == b->reason && sp_id_eq(a->winner, b->winner) &&
           a->similarity == b->similarity && a->group_size == b->group_size;
}

/* ---- the edges ---------------------------------------------------------------------------------
 */

static const char text[] = "http://example.com/a/b?c=d text/html; charset=utf-8 <p>Some words.</p>";

static struct sp_view some_view(struct sample *s)
{
    size_t start = sample_below(s, sizeof text - 1);
    return sp_view(text + start, sample_below(s, sizeof text - start));
}

struct sp_page_record sample_page(struct sample *s)
{
    return (struct sp_page_record){
        .url = some_view(s),
        .fetch_time_ms = sample_below(s, 3) ? (int64_t)(sample_u64(s) >> 20) : -1,
        .http_status = sample_below(s, 4) ? 200 : (int32_t)sample_i64(s),
        .redirect_url = sample_below(s, 2) ? some_view(s) : sp_view(NULL, 0),
        .content_type = sample_below(s, 2) ? some_view(s) : sp_view(NULL, 0),
        .popularity = some_double(s),
        .content = some_view(s),
        .content_is_utf8 = sample_below(s, 2),
    };
}

bool sample_same_page(const struct sp_page_record *a, const struct sp_page_record *b)
{
    return sp_view_eq(a->url, b->url) && a->fetch_time_ms == b->fetch_time_ms &&
           a->http_status == b->http_status && sp_view_eq(a->redirect_url, b->redirect_url) &&
           sp_view_eq(a->content_type, b->content_type) && a->popularity == b->popularity &&
           sp_view_eq(a->content, b->content) && a->content_is_utf8 == b->content_is_utf8;
}

struct sp_status_event sample_status(struct sample *s)
{
    bool winner = sample_below(s, 2);
    return (struct sp_status_event){
        .url = text + sample_below(s, sizeof text),
        .version_ms = sample_i64(s),
        .status = SP_STATUS_UNIQUE + (enum sp_page_status)sample_below(s, 4),
        .winner_url = winner ? text + sample_below(s, sizeof text) : NULL,
        .similarity = winner ? some_float(s) : 0,
        .reason = (enum sp_reason)sample_below(s, SP_REASON_EXACT + 1),
        .group = sample_group_id(s),
        .group_size = (uint32_t)sample_u64(s) >> sample_below(s, 32),
        .epoch = sample_u64(s) >> sample_below(s, 64),
    };
}

bool sample_same_status(const struct sp_status_event *a, const struct sp_status_event *b)
{
    return sp_id_eq(a->page, b->page) && same_text(a->url, b->url) &&
           a->version_ms == b->version_ms && a->status == b->status &&
           same_text(a->winner_url, b->winner_url) && a->similarity == b->similarity &&
           a->reason == b->reason && same_group(a->group, b->group) &&
           a->group_size == b->group_size && a->epoch == b->epoch;
}
