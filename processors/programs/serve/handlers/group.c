/* /v1/group: the members of a page's group, and what links them. A group of more than
 * SP_MEMBERS_MAX members is returned in parts, one for each request. */
#include "base/json_write.h"
#include "codec/codec.h"
#include "codec/lines.h"
#include "serve/handler.h"
#include "serve/members.h"
#include "similarity/similarity.h"

enum { PAGE_DEFAULT = 200, PAGE_MAX = 1000 };

struct listing {
    struct sp_serve_thread *t;
    const struct sp_similarity_options *options; /* of the state */
    struct sp_members members;
    size_t offset;
    size_t limit;
};

static const char *kind_name(enum sp_page_kind kind)
{
    static const char *const names[] = {"unseen", "content", "redirect", "gone"};
    return names[kind];
}

static double similarity_of(struct listing *l, struct sp_group_member *a, struct sp_group_member *b)
{
    const struct sp_signature *x = sp_members_signature(l->t->reader, &l->members, a);
    const struct sp_signature *y = sp_members_signature(l->t->reader, &l->members, b);
    double similarity = -1;
    if (x && y)
        sp_similar_or_measured(l->options, x, y, &similarity);
    return similarity;
}

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Writes the pair that connects this member to the group, and the time from which the pair could
 * exist. */
static void put_link(struct listing *l, struct sp_group_member *m)
{
    struct sp_buf *out = &l->t->out;
    struct sp_group_member *to = sp_members_get(l->t->reader, &l->members, m->view.parent);
    sp_buf_put_str(out, ",\"link\":");
    if (!to) {
        sp_buf_put_str(out, "null");
        return;
    }
    bool redirect = (m->view.kind == SP_PAGE_REDIRECT && sp_id_eq(m->view.target, to->view.page)) ||
                    (to->view.kind == SP_PAGE_REDIRECT && sp_id_eq(to->view.target, m->view.page));
    double similarity = redirect ? -1 : similarity_of(l, m, to);
    sp_buf_put_str(out, "{\"url\":");
    sp_json_put_text(out, to->view.url);
    sp_buf_put_str(out, ",\"reason\":");
    sp_json_put_text(out, redirect ? "redirect" : "content");
    sp_buf_put_str(out, ",\"similarity\":");
    if (similarity < 0)
        sp_buf_put_str(out, "null");
    else
        sp_json_put_float(out, (float)similarity);
    sp_buf_put_str(out, ",\"since_ms\":");
    sp_json_put_i64(out, later(m->view.content_version, to->view.content_version));
    sp_buf_put_str(out, "}");
}

static void put_member(struct listing *l, struct sp_group_member *m)
{
    struct sp_buf *out = &l->t->out;
    const struct sp_member_view *v = &m->view;
    bool covered = v->status == SP_STATUS_LOSER;
    struct sp_group_member *winner =
        covered ? sp_members_get(l->t->reader, &l->members, v->winner) : NULL;
    sp_buf_put_str(out, "{\"url\":");
    sp_json_put_text(out, v->url);
    sp_buf_put_str(out, ",\"status\":");
    sp_json_put_text(out, v->status == SP_STATUS_NONE ? NULL : sp_status_name(v->status));
    sp_buf_put_str(out, ",\"winner_url\":");
    sp_json_put_text(out, winner ? winner->view.url : NULL);
    sp_lines_put_match(out, covered, v->similarity, v->reason);
    sp_buf_put_str(out, ",\"kind\":");
    sp_json_put_text(out, kind_name(v->kind));
    sp_buf_put_str(out, ",\"popularity\":");
    sp_json_put_double(out, v->rank.popularity);
    sp_buf_put_str(out, ",\"version_ms\":");
    sp_json_put_i64(out, v->version);
    sp_buf_put_str(out, ",\"since_ms\":");
    sp_json_put_i64(out, v->content_version);
    put_link(l, m);
    sp_buf_put_str(out, "}");
}

static void put_group(struct listing *l)
{
    struct sp_buf *out = &l->t->out;
    const struct sp_members *all = &l->members;
    size_t winners = 0, end = all->count;
    for (size_t i = 0; i < all->count; i++)
        winners += all->list[i].view.kind == SP_PAGE_CONTENT &&
                   all->list[i].view.status != SP_STATUS_LOSER;
    if (l->offset + l->limit < end)
        end = l->offset + l->limit;
    sp_buf_put_str(out, "{\"group_id\":");
    sp_lines_put_group_id(out, all->group);
    sp_buf_put_str(out, ",\"size\":");
    sp_json_put_i64(out, (int64_t)all->count);
    bool part = all->more || !sp_id_is_zero(all->after);
    sp_buf_put_str(out, part ? ",\"size_is_more\":true" : ",\"size_is_more\":false");
    const struct sp_group_member *last = all->more ? sp_members_find(all, all->last) : NULL;
    sp_buf_put_str(out, ",\"next_after\":");
    sp_json_put_text(out, last ? last->view.url : NULL);
    sp_buf_put_str(out, ",\"winners\":");
    sp_json_put_i64(out, (int64_t)winners);
    sp_buf_put_str(out, ",\"offset\":");
    sp_json_put_i64(out, (int64_t)l->offset);
    sp_buf_put_str(out, ",\"members\":[");
    for (size_t i = l->offset; i < end; i++) {
        if (i > l->offset)
            sp_buf_put_u8(out, ',');
        put_member(l, &l->members.list[i]);
    }
    sp_buf_put_str(out, "]}\n");
}

unsigned sp_handle_group(struct sp_serve *s, struct sp_serve_thread *t, const struct sp_query *q)
{
    struct listing l = {.t = t, .options = &s->options.similarity, .limit = PAGE_DEFAULT};
    unsigned refused = sp_argument_page(t, q, "url", &l.members.page);
    if (!refused && sp_argument(q, "after"))
        refused = sp_argument_page(t, q, "after", &l.members.after);
    if (refused)
        return refused;
    if (!sp_argument_number(q, "offset", SP_MEMBERS_MAX, &l.offset) ||
        !sp_argument_number(q, "limit", PAGE_MAX, &l.limit))
        return sp_respond_error(t, MHD_HTTP_BAD_REQUEST,
                                "offset is a number up to %d, limit one up to %d", SP_MEMBERS_MAX,
                                PAGE_MAX);
    enum sp_err err = sp_members_read(t->reader, &l.members);
    if (err == SP_OK)
        put_group(&l);
    sp_members_done(&l.members);
    return err == SP_OK ? MHD_HTTP_OK : sp_respond_failed(t, err, sp_argument(q, "url"));
}
