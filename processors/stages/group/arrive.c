/* Members enter a group: those that a `members` message brings, and the page that founds the
 * group. */
#include <stdlib.h>

#include "base/mem.h"
#include "group/members.h"
#include "group/page_actor.h"

/* A member that is in no list yet. */
static struct sp_member *member_of(struct sp_group_stage *st, struct sp_member_row *row)
{
    struct sp_member *m = sp_calloc(1, sizeof *m);
    m->page = row->page;
    m->version = row->version;
    m->content_version = row->content_version;
    m->kind = row->kind;
    m->target = row->target;
    m->rank = row->rank;
    m->url = row->url;
    m->epoch = row->epoch;
    row->url = NULL;
    if (row->signature) {
        m->content = row->signature->content_hash;
        sp_member_hold_content(st, row->signature);
    }
    return m;
}

static void enter(struct sp_group_stage *st, struct sp_group *g, struct sp_member *m)
{
    sp_member_changed(st, g, m);
    sp_group_cover_judge_later(g, m);
}

static int by_page(const void *a, const void *b)
{
    const struct sp_member_row *x = *(struct sp_member_row *const *)a;
    const struct sp_member_row *y = *(struct sp_member_row *const *)b;
    int order = sp_id_cmp(x->page, y->page);
    return order ? order : (x > y) - (x < y);
}

/* The page has heard that it is here, with the row's epoch. A member with a lower one could not
 * tell it any more when it moves on: the page would go on sending its messages here, and the group
 * sending them back. */
static void raise_epoch(struct sp_group_stage *st, struct sp_group *g, struct sp_member *m,
                        uint64_t epoch)
{
    if (epoch <= m->epoch)
        return;
    m->epoch = epoch;
    sp_member_changed(st, g, m);
    sp_group_cover_touch(g, m);
}

/* Applies the row's data about the page as a change of the member. */
static void send_change(struct sp_group_stage *st, const struct sp_group *g,
                        const struct sp_member_row *row)
{
    struct sp_message *m = sp_message_new(SP_MSG_CHANGE);
    struct sp_change *c = &m->change;
    m->page = row->page;
    c->group = g->id;
    c->version = row->version;
    c->content_version = row->content_version;
    c->page_kind = row->kind;
    c->target = row->target;
    c->rank = row->rank;
    c->url = sp_strdup(row->url);
    c->signature = row->signature ? sp_signature_ref(row->signature) : NULL;
    sp_group_stage_send(st, m);
}

/* Whether the page is a member already. */
static bool is_here(struct sp_group_stage *st, struct sp_group *g, const struct sp_member_row *row)
{
    struct sp_member *m = sp_member_find(g, row->page);
    if (!m)
        return false;
    raise_epoch(st, g, m, row->epoch);
    if (row->version > m->version)
        send_change(st, g, row);
    return true;
}

/* Frees the rows of pages that are members, or that are there twice, and closes the gaps. */
static void leave_out(struct sp_group_stage *st, struct sp_group *g, struct sp_link *link)
{
    uint32_t kept = 0;
    st->stats.taking += link->row_count;
    if (link->row_count == 1 && !sp_member_find(g, link->rows[0].page))
        return; /* as usual */
    struct sp_member_row **sorted = sp_alloc((link->row_count + 1) * sizeof *sorted);
    bool *dropped = sp_calloc(link->row_count + 1, sizeof *dropped);
    for (uint32_t i = 0; i < link->row_count; i++)
        sorted[i] = &link->rows[i];
    qsort(sorted, link->row_count, sizeof *sorted, by_page);
    for (uint32_t i = 0; i < link->row_count; i++)
        dropped[sorted[i] - link->rows] =
            is_here(st, g, sorted[i]) || (i > 0 && sp_id_eq(sorted[i]->page, sorted[i - 1]->page));
    for (uint32_t i = 0; i < link->row_count; i++)
        if (dropped[i])
            sp_member_row_done(&link->rows[i]);
        else
            link->rows[kept++] = link->rows[i];
    link->row_count = kept;
    sp_free(sorted);
    sp_free(dropped);
}

void sp_group_take_rows(struct sp_group_stage *st, struct sp_group *g, struct sp_link *link)
{
    leave_out(st, g, link);
    struct sp_member **fresh = sp_alloc((link->row_count + 1) * sizeof *fresh);
    for (uint32_t i = 0; i < link->row_count; i++) {
        fresh[i] = member_of(st, &link->rows[i]);
        if (g->large)
            sp_member_insert(st, g, fresh[i]);
        enter(st, g, fresh[i]);
    }
    if (!g->large)
        sp_members_add(st, g, fresh, link->row_count);
    sp_free(fresh);
}

/* Parents in a message that somebody else wrote could lead around in a circle, which is cut. The
 * parents of earlier members are such, so a walk ends there; each member is passed once. */
static void cut_circles(struct sp_group_stage *st, struct sp_member *const *fresh, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        for (struct sp_member *m = fresh[i]; m && m->fresh && m->mark == 0; m = m->parent) {
            m->mark = i + 1;
            st->stats.taking++;
            if (m->parent && m->parent->fresh && m->parent->mark == i + 1)
                m->parent = NULL;
        }
}

void sp_group_plant(struct sp_group_stage *st, struct sp_group *g, const struct sp_link *link)
{
    uint32_t roots = 0, count = link->row_count;
    if (g->large || !count)
        return;
    struct sp_member **fresh = sp_alloc(count * sizeof *fresh);
    for (uint32_t i = 0; i < count; i++) {
        fresh[i] = sp_member_find(g, link->rows[i].page);
        fresh[i]->fresh = true;
        fresh[i]->mark = 0;
    }
    for (uint32_t i = 0; i < count; i++)
        if (!sp_id_is_zero(link->rows[i].parent))
            fresh[i]->parent = sp_member_find(g, link->rows[i].parent);
    cut_circles(st, fresh, count);
    for (uint32_t i = 0; i < count; i++) {
        roots += !fresh[i]->parent;
        fresh[i]->fresh = false;
    }
    sp_free(fresh);
    g->unsure |= roots > 1 || (roots && link->more);
}

static struct sp_group_id next_group(const struct sp_group_stage *st, struct sp_id founder)
{
    return (struct sp_group_id){st->clock + 1, founder};
}

void sp_group_found_prefetch(const struct sp_group_stage *st, struct sp_id founder)
{
    sp_map_prefetch(&st->groups, sp_group_table_key(next_group(st, founder)));
}

void sp_group_found(struct sp_group_stage *st, struct sp_page_actor *p)
{
    p->group = next_group(st, p->id);
    st->clock = p->group.birth;
    p->epoch = (p->epoch > st->epochs ? p->epoch : st->epochs) + 1;
    sp_page_actor_changed(st, p);
    struct sp_group *g = sp_group_make(st, p->group);
    struct sp_member_row row = {
        .page = p->id,
        .version = p->version,
        .content_version = p->content_version,
        .kind = p->kind,
        .target = p->target,
        .signature = p->pending,
        .rank = p->rank,
        .url = sp_strdup(p->url),
        .epoch = p->epoch,
    };
    struct sp_member *m = member_of(st, &row);
    sp_member_insert(st, g, m);
    enter(st, g, m);
    sp_group_cover_publish(st, g);
}
