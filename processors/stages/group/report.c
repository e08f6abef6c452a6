/* Reads a committed store of the group stage, for reports and for the check from scratch. */
#include "base/mem.h"
#include "group/stored.h"

struct walk {
    void (*each_page)(void *arg, const struct sp_page_view *page);
    void *arg;
    enum sp_err err;
};

struct sp_page_view sp_page_actor_view(const struct sp_page_actor *p)
{
    return (struct sp_page_view){.page = p->id,
                                 .url = p->url,
                                 .version = p->version,
                                 .kind = p->kind,
                                 .target = p->target,
                                 .content = p->content,
                                 .rank = p->rank,
                                 .group = p->group,
                                 .status = p->status,
                                 .winner_url = p->winner_url,
                                 .similarity = p->similarity,
                                 .reason = p->reason,
                                 .rule = p->rule,
                                 .content_version = p->content_version,
                                 .epoch = p->epoch,
                                 .group_size = p->group_size,
                                 .in_cell = p->in_cell,
                                 .cell = p->cell,
                                 .contained_in = p->contained_in,
                                 .containment = p->containment};
}

struct sp_status_event sp_page_view_status(const struct sp_page_view *v)
{
    bool kept = sp_status_is_kept(v->status);
    return (struct sp_status_event){.page = v->page,
                                    .url = v->url,
                                    .version_ms = v->version,
                                    .status = v->status,
                                    .winner_url = v->winner_url,
                                    .similarity = v->similarity,
                                    .reason = v->reason,
                                    .group = v->group,
                                    .group_size = v->group_size,
                                    .epoch = v->epoch,
                                    .rule = v->rule,
                                    .contained_in = kept ? v->contained_in : NULL,
                                    .containment = kept ? v->containment : 0,
                                    .content = v->content};
}

static bool visit_page(void *arg, struct sp_view key, struct sp_view value)
{
    struct walk *w = arg;
    struct sp_page_actor *p = sp_calloc(1, sizeof *p);
    w->err = key.len == 1 + sizeof p->id ? sp_page_actor_decode(value, p) : SP_CORRUPT;
    if (w->err == SP_OK) {
        memcpy(&p->id, key.data + 1, sizeof p->id);
        struct sp_page_view v = sp_page_actor_view(p);
        w->each_page(w->arg, &v);
    }
    sp_page_actor_free(p);
    return w->err == SP_OK;
}

enum sp_err sp_group_each_page(struct sp_store *store,
                               void (*each)(void *arg, const struct sp_page_view *page), void *arg)
{
    struct walk w = {each, arg, SP_OK};
    enum sp_err err = sp_store_scan(store, sp_view("P", 1), sp_view(NULL, 0), visit_page, &w);
    return err != SP_OK ? err : w.err;
}

/* ---- one page, one group */

static struct sp_view make_key(char room[1 + 3 * sizeof(struct sp_id)], char kind, const void *id,
                               size_t bytes)
{
    room[0] = kind;
    memcpy(room + 1, id, bytes);
    return sp_view(room, 1 + bytes);
}

/* The page's row, or NULL with the reason in *ret_err. */
static struct sp_page_actor *read_page(struct sp_store *store, struct sp_id id,
                                       enum sp_err *ret_err)
{
    char key[1 + 3 * sizeof id];
    struct sp_view value;
    *ret_err = sp_store_get(store, make_key(key, 'P', &id, sizeof id), &value);
    if (*ret_err != SP_OK)
        return NULL;
    struct sp_page_actor *p = sp_calloc(1, sizeof *p);
    p->id = id;
    *ret_err = sp_page_actor_decode(value, p);
    if (*ret_err == SP_OK)
        return p;
    sp_page_actor_free(p);
    return NULL;
}

enum sp_err sp_group_read_page(struct sp_store *store, struct sp_id page,
                               void (*each)(void *arg, const struct sp_page_view *page), void *arg)
{
    enum sp_err err;
    struct sp_page_actor *p = read_page(store, page, &err);
    if (!p)
        return err;
    struct sp_page_view v = sp_page_actor_view(p);
    each(arg, &v);
    sp_page_actor_free(p);
    return SP_OK;
}

struct members {
    struct sp_id after; /* zero: from the first */
    bool (*each)(void *arg, const struct sp_member_view *member);
    void *arg;
    enum sp_err err;
};

/* Shows the member, read with the result w->err, and frees it. */
static bool show_member(struct members *w, struct sp_member *m, struct sp_id parent)
{
    bool more = false;
    if (w->err == SP_OK && !sp_id_is_zero(w->after) &&
        memcmp(&m->page, &w->after, sizeof m->page) <= 0) {
        more = true;
    } else if (w->err == SP_OK) {
        struct sp_member_view v = {.page = m->page,
                                   .url = m->url,
                                   .version = m->version,
                                   .content_version = m->content_version,
                                   .kind = m->kind,
                                   .content = m->content,
                                   .target = m->target,
                                   .rank = m->rank,
                                   .parent = parent,
                                   .status = m->said_status,
                                   .reason = m->said_reason,
                                   .winner = m->said_winner,
                                   .similarity = m->said_similarity};
        more = w->each(w->arg, &v);
    }
    sp_member_free(m);
    return more;
}

static bool visit_member(void *arg, struct sp_view key, struct sp_view value)
{
    struct members *w = arg;
    struct sp_member *m = sp_calloc(1, sizeof *m);
    struct sp_id parent = {0, 0};
    struct sp_view pattern;
    w->err = sp_member_decode(key, value, m, &parent, &pattern);
    return show_member(w, m, parent);
}

static void visit_packed(struct members *w, struct sp_reader *r)
{
    for (bool more = true; more && sp_reader_left(r);) {
        struct sp_member *m = sp_calloc(1, sizeof *m);
        struct sp_id parent = {0, 0};
        w->err = sp_member_read_packed(r, m, &parent);
        more = show_member(w, m, parent);
    }
}

/* Visits the single-member group inside its founder's row, if it is there. */
static enum sp_err visit_inline(struct sp_store *store, struct sp_group_id group, struct members *w)
{
    enum sp_err err;
    struct sp_page_actor *founder = read_page(store, group.founder, &err);
    if (founder && founder->inline_bytes) {
        struct sp_reader r = sp_reader(sp_view(founder->inline_group, founder->inline_bytes));
        if (sp_read_varint(&r) == group.birth)
            visit_member(w, sp_view(&group.founder, sizeof group.founder),
                         sp_view(r.at, sp_reader_left(&r)));
        err = r.failed ? SP_CORRUPT : w->err;
    }
    sp_page_actor_free(founder);
    return err == SP_NOT_FOUND ? SP_OK : err;
}

/* Scans the members' rows after w->after; `prefix` is that of all members. */
static enum sp_err scan_members(struct sp_store *store, struct sp_view prefix, struct members *w)
{
    char from[1 + 3 * sizeof(struct sp_id)];
    memcpy(from, prefix.data, prefix.len);
    memcpy(from + prefix.len, &w->after, sizeof w->after);
    return sp_store_scan(store, prefix,
                         sp_id_is_zero(w->after) ? sp_view(NULL, 0)
                                                 : sp_view(from, prefix.len + sizeof w->after),
                         visit_member, w);
}

enum sp_err
sp_group_read_members_after(struct sp_store *store, struct sp_group_id group, struct sp_id after,
                            bool (*each)(void *arg, const struct sp_member_view *member), void *arg)
{
    struct members w = {after, each, arg, SP_OK};
    char key[1 + 3 * sizeof(struct sp_id)], id[sizeof group.birth + sizeof group.founder];
    struct sp_group head = {0};
    struct sp_view value;
    memcpy(id, &group.birth, sizeof group.birth);
    memcpy(id + sizeof group.birth, &group.founder, sizeof group.founder);
    enum sp_err err = sp_store_get(store, make_key(key, 'G', id, sizeof id), &value);
    if (err != SP_OK)
        return err == SP_NOT_FOUND ? visit_inline(store, group, &w) : err;
    struct sp_reader r = sp_reader(value);
    err = sp_group_decode(&r, &head);
    sp_free(head.opens);
    if (err == SP_OK && sp_reader_left(&r))
        visit_packed(&w, &r);
    else if (err == SP_OK)
        err = scan_members(store, make_key(key, 'M', id, sizeof id), &w);
    return err != SP_OK ? err : w.err;
}
