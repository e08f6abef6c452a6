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

static void add_edges(struct sample *s, struct sp_link *link, uint32_t least)
{
    link->edge_count = least + (uint32_t)sample_below(s, sample_below(s, 8) ? 4 : 100);
    if (link->edge_count)
        link->edges = sp_calloc(link->edge_count, sizeof *link->edges);
    for (uint32_t i = 0; i < link->edge_count; i++)
        link->edges[i] =
            (struct sp_edge){some_id(s), sample_below(s, 3) ? sample_i64(s) : SP_NO_VERSION};
}

static void add_rows(struct sample *s, struct sp_link *link)
{
    struct sp_signature *last = NULL;
    link->row_count = (uint32_t)sample_below(s, 6);
    if (link->row_count)
        link->rows = sp_calloc(link->row_count, sizeof *link->rows);
    for (uint32_t i = 0; i < link->row_count; i++) {
        struct sp_member_row *row = &link->rows[i];
        row->page = some_id(s);
        row->version = sample_i64(s);
        row->content_version = sample_i64(s);
        row->kind = (enum sp_page_kind)sample_below(s, SP_PAGE_DEAD + 1);
        row->target = maybe_id(s);
        if (row->kind == SP_PAGE_CONTENT && last && sample_below(s, 2))
            row->signature = sp_signature_ref(last);
        else if (row->kind == SP_PAGE_CONTENT)
            row->signature = last = some_signature(s);
        row->rank = some_rank(s);
        row->url = some_url(s);
        row->epoch = sample_u64(s) >> sample_below(s, 64);
        row->parent = maybe_id(s);
    }
}

static void fill_crawled(struct sample *s, struct sp_crawled *c)
{
    c->version = sample_i64(s);
    c->page_kind = (enum sp_page_kind)sample_below(s, SP_PAGE_DEAD + 1);
    c->signature = c->page_kind == SP_PAGE_CONTENT ? some_signature(s) : NULL;
    c->target = c->page_kind == SP_PAGE_REDIRECT ? some_id(s) : maybe_id(s);
    c->target_url = c->page_kind == SP_PAGE_REDIRECT ? some_url(s) : maybe_url(s);
    c->rank = some_rank(s);
    c->url = some_url(s);
    c->as_of = c->page_kind == SP_PAGE_UNSEEN ? sample_i64(s) : 0;
}

static void fill_verdict(struct sample *s, struct sp_verdict *v)
{
    v->content_version = sample_i64(s);
    v->status = (enum sp_page_status)sample_below(s, SP_STATUS_GONE + 1);
    v->reason = (enum sp_reason)sample_below(s, SP_REASON_EXACT + 1);
    v->rule = (enum sp_rank_rule)sample_below(s, SP_RANK_OVERRIDE + 1);
    v->winner = maybe_id(s);
    v->similarity = some_float(s);
    v->group_size = (uint32_t)sample_u64(s) >> sample_below(s, 32);
    v->winner_url = maybe_url(s);
    v->epoch = sample_u64(s) >> sample_below(s, 64);
    v->far = sample_group_id(s);
    v->far.birth += v->far.birth == 0;
}

static void fill_change(struct sample *s, struct sp_message *m)
{
    struct sp_change *c = &m->change;
    c->content_version = sample_i64(s);
    c->group = sample_group_id(s);
    c->version = sample_i64(s);
    c->page_kind = (enum sp_page_kind)sample_below(s, SP_PAGE_DEAD + 1);
    if (c->page_kind == SP_PAGE_CONTENT && sample_below(s, 2))
        c->signature = some_signature(s);
    c->target = maybe_id(s);
    c->rank = some_rank(s);
    c->url = maybe_url(s);
    m->bounced = sample_below(s, 2);
}

/* Fills the group of the page and, for messages between groups, that of the other one. */
static void fill_link(struct sample *s, struct sp_message *m)
{
    enum sp_message_kind kind = m->kind;
    struct sp_link *link = &m->link;
    link->content_version = sample_i64(s);
    if (kind != SP_MSG_MATCH && kind != SP_MSG_FIND_GROUP)
        link->group = sample_group_id(s);
    if (kind == SP_MSG_LINK || kind == SP_MSG_UNION)
        m->bounced = sample_below(s, 2);
    if (kind != SP_MSG_MATCH && kind != SP_MSG_LINK)
        link->far = sample_group_id(s);
    if (kind == SP_MSG_FIND_GROUP || kind == SP_MSG_UNION || kind == SP_MSG_DISSOLVE)
        link->far_level = (uint32_t)sample_below(s, SP_GROUP_LEVELS);
    if (kind == SP_MSG_MEMBERS) {
        link->more = sample_below(s, 2);
        add_rows(s, link);
    }
    add_edges(s, link, kind != SP_MSG_MEMBERS);
    link->url = maybe_url(s);
}

static void fill(struct sample *s, struct sp_message *m)
{
    switch (m->kind) {
    case SP_MSG_CRAWLED:
        fill_crawled(s, &m->crawled);
        break;
    case SP_MSG_APPLIED:
        m->applied.content_version = sample_i64(s);
        m->applied.settled = sample_below(s, 2);
        break;
    case SP_MSG_MATCH:
    case SP_MSG_FIND_GROUP:
    case SP_MSG_LINK:
    case SP_MSG_UNION:
    case SP_MSG_DISSOLVE:
    case SP_MSG_MEMBERS:
        fill_link(s, m);
        break;
    case SP_MSG_ASSIGNED:
        m->assigned.epoch = sample_u64(s) >> sample_below(s, 64);
        m->assigned.far = sample_group_id(s);
        break;
    case SP_MSG_STATUS:
        fill_verdict(s, &m->verdict);
        break;
    case SP_MSG_MOVE:
        m->move.content_version = sample_i64(s);
        m->move.signature = some_signature(s);
        break;
    case SP_MSG_CHANGE:
        fill_change(s, m);
        break;
    case SP_MSG_ERASE:
        m->erase.url = some_url(s);
        break;
    case SP_MSG_WAIT:
        m->wait.group = sample_group_id(s);
        m->wait.far = sample_group_id(s);
        m->page = (struct sp_id){0, 0}; /* concerns groups, not a page */
        break;
    case SP_MSG_PUT:
        m->put.content_version = sample_i64(s);
        m->put.cell = (uint32_t)sample_u64(s) >> sample_below(s, 32);
        m->put.signature = some_signature(s);
        m->put.old_content = maybe_id(s);
        m->put.settled = sample_below(s, 2);
        break;
    case SP_MSG_REMOVE:
        m->remove.content_version = sample_i64(s);
        m->remove.cell = (uint32_t)sample_u64(s) >> sample_below(s, 32);
        m->remove.old_content = maybe_id(s);
        break;
    case SP_MSG_PROBE:
        m->probe.content_version = sample_i64(s);
        m->probe.cell = (uint32_t)sample_u64(s) >> sample_below(s, 32);
        m->probe.signature = some_signature(s);
        break;
    case SP_MSG_AGAIN:
        m->again.cell = (uint32_t)sample_u64(s) >> sample_below(s, 32);
        m->again.from = (uint32_t)sample_u64(s) >> sample_below(s, 32);
        m->again.content = some_id(s);
        m->page = (struct sp_id){0, 0}; /* concerns a row, not a page */
        break;
    }
}

struct sp_message *sample_message(struct sample *s, enum sp_message_kind kind)
{
    struct sp_message *m = sp_message_new(kind);
    m->clock = sample_u64(s) >> (4 + sample_below(s, 60));
    m->page = some_id(s);
    fill(s, m);
    return m;
}

/* ---- equality ---- */

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

static bool same_link(const struct sp_link *a, const struct sp_link *b)
{
    if (!same_group(a->group, b->group) || !same_group(a->far, b->far) ||
        a->far_level != b->far_level || a->more != b->more ||
        a->content_version != b->content_version || !same_text(a->url, b->url) ||
        a->edge_count != b->edge_count || a->row_count != b->row_count)
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

static bool same_crawled(const struct sp_crawled *a, const struct sp_crawled *b)
{
    return a->version == b->version && a->page_kind == b->page_kind && a->as_of == b->as_of &&
           sp_id_eq(a->target, b->target) && same_rank(&a->rank, &b->rank) &&
           same_signature(a->signature, b->signature) && same_text(a->url, b->url) &&
           same_text(a->target_url, b->target_url);
}

static bool same_verdict(const struct sp_verdict *a, const struct sp_verdict *b)
{
    return same_group(a->far, b->far) && a->epoch == b->epoch &&
           a->content_version == b->content_version && a->status == b->status &&
           a->reason == b->reason && a->rule == b->rule && sp_id_eq(a->winner, b->winner) &&
           same_text(a->winner_url, b->winner_url) && a->similarity == b->similarity &&
           a->group_size == b->group_size;
}

static bool same_change(const struct sp_change *a, const struct sp_change *b)
{
    return same_group(a->group, b->group) && a->version == b->version &&
           a->content_version == b->content_version && a->page_kind == b->page_kind &&
           sp_id_eq(a->target, b->target) && same_rank(&a->rank, &b->rank) &&
           same_signature(a->signature, b->signature) && same_text(a->url, b->url);
}

static bool same_payload(const struct sp_message *a, const struct sp_message *b)
{
    switch (a->kind) {
    case SP_MSG_CRAWLED:
        return same_crawled(&a->crawled, &b->crawled);
    case SP_MSG_APPLIED:
        return a->applied.content_version == b->applied.content_version &&
               a->applied.settled == b->applied.settled;
    case SP_MSG_MATCH:
    case SP_MSG_FIND_GROUP:
    case SP_MSG_LINK:
    case SP_MSG_UNION:
    case SP_MSG_DISSOLVE:
    case SP_MSG_MEMBERS:
        return same_link(&a->link, &b->link);
    case SP_MSG_ASSIGNED:
        return same_group(a->assigned.far, b->assigned.far) &&
               a->assigned.epoch == b->assigned.epoch;
    case SP_MSG_STATUS:
        return same_verdict(&a->verdict, &b->verdict);
    case SP_MSG_MOVE:
        return a->move.content_version == b->move.content_version &&
               same_signature(a->move.signature, b->move.signature);
    case SP_MSG_CHANGE:
        return same_change(&a->change, &b->change);
    case SP_MSG_ERASE:
        return same_text(a->erase.url, b->erase.url);
    case SP_MSG_WAIT:
        return same_group(a->wait.group, b->wait.group) && same_group(a->wait.far, b->wait.far);
    case SP_MSG_PUT:
        return a->put.cell == b->put.cell && a->put.settled == b->put.settled &&
               a->put.content_version == b->put.content_version &&
               same_signature(a->put.signature, b->put.signature) &&
               sp_id_eq(a->put.old_content, b->put.old_content);
    case SP_MSG_REMOVE:
        return a->remove.cell == b->remove.cell &&
               a->remove.content_version == b->remove.content_version &&
               sp_id_eq(a->remove.old_content, b->remove.old_content);
    case SP_MSG_PROBE:
        return a->probe.cell == b->probe.cell &&
               a->probe.content_version == b->probe.content_version &&
               same_signature(a->probe.signature, b->probe.signature);
    case SP_MSG_AGAIN:
        return a->again.cell == b->again.cell && a->again.from == b->again.from &&
               sp_id_eq(a->again.content, b->again.content);
    }
    return false;
}

/* Compares every field, even those that this kind does not encode. */
bool sample_same_message(const struct sp_message *a, const struct sp_message *b)
{
    return a->kind == b->kind && a->bounced == b->bounced && a->clock == b->clock &&
           sp_id_eq(a->page, b->page) && same_payload(a, b);
}

/* ---- extreme values ---- */

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
        .as_of_ms = sample_below(s, 2) ? (int64_t)(sample_u64(s) >> 20) : 0,
    };
}

bool sample_same_page(const struct sp_page_record *a, const struct sp_page_record *b)
{
    return sp_view_eq(a->url, b->url) && a->fetch_time_ms == b->fetch_time_ms &&
           a->http_status == b->http_status && sp_view_eq(a->redirect_url, b->redirect_url) &&
           sp_view_eq(a->content_type, b->content_type) && a->popularity == b->popularity &&
           sp_view_eq(a->content, b->content) && a->content_is_utf8 == b->content_is_utf8 &&
           a->as_of_ms == b->as_of_ms;
}

struct sp_status_event sample_status(struct sample *s)
{
    bool winner = sample_below(s, 2), contained = sample_below(s, 2);
    return (struct sp_status_event){
        .url = text + sample_below(s, sizeof text),
        .version_ms = sample_i64(s),
        .status = SP_STATUS_UNIQUE + (enum sp_page_status)sample_below(s, 4),
        .winner_url = winner ? text + sample_below(s, sizeof text) : NULL,
        .similarity = winner ? some_float(s) : 0,
        .reason = (enum sp_reason)sample_below(s, SP_REASON_EXACT + 1),
        .rule = (enum sp_rank_rule)sample_below(s, SP_RANK_OVERRIDE + 1),
        .group = sample_group_id(s),
        .group_size = (uint32_t)sample_u64(s) >> sample_below(s, 32),
        .epoch = sample_u64(s) >> (1 + sample_below(s, 63)),
        .contained_in = contained ? text + sample_below(s, sizeof text) : NULL,
        .containment = contained ? some_float(s) : 0,
    };
}

bool sample_same_status(const struct sp_status_event *a, const struct sp_status_event *b)
{
    return sp_id_eq(a->page, b->page) && same_text(a->url, b->url) &&
           a->version_ms == b->version_ms && a->status == b->status &&
           same_text(a->winner_url, b->winner_url) && a->similarity == b->similarity &&
           a->reason == b->reason && a->rule == b->rule && same_group(a->group, b->group) &&
           a->group_size == b->group_size && a->epoch == b->epoch &&
           same_text(a->contained_in, b->contained_in) && a->containment == b->containment;
}
