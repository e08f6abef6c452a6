/* Prefetches what the next crawled pages will make the stage read, or lets the store read it ahead.
 * What is known of a page that was crawled before is scattered over the memory, and each object
 * leads to the next one: page, group, member. */
#include "base/mem.h"
#include "base/prefetch.h"
#include "group/large.h"
#include "group/stored.h"

static void prefetch_large(const struct sp_large *l, struct sp_id page, bool member)
{
    if (!member)
        sp_shelf_prefetch(&l->members, page.hi);
    else
        sp_prefetch_bytes(sp_shelf_first_with(&l->members, page.hi), sizeof(struct sp_member));
}

/* A page of a small group with others is left to the step itself. */
static void prefetch_group(const struct sp_group *g, struct sp_id page, uint32_t step)
{
    const struct sp_member *first = g->count == 1 && !g->large && step > 1 ? g->members[0] : NULL;
    if (step == 0)
        sp_prefetch_bytes(g, sizeof *g);
    else if (g->large)
        prefetch_large(g->large, page, step > 1);
    else if (step == 1)
        sp_prefetch(g->members);
    else if (step == 2)
        sp_prefetch_bytes(first, first ? sizeof *first : 0);
    else if (first)
        sp_prefetch(first->url);
}

/* Where a new page will be in the lists of a large group. The guess is that it joins the group that
 * the last one joined. */
static void prefetch_places(const struct sp_large *l, const struct sp_message *crawled)
{
    const struct sp_crawled *c = &crawled->crawled;
    sp_shelf_prefetch(&l->members, crawled->page.hi);
    sp_shelf_prefetch(&l->ranks, sp_rank_head(&c->rank, crawled->page));
    sp_map_prefetch(&l->hubs, c->signature->content_hash);
}

void sp_group_stage_prefetch(struct sp_group_stage *st, const struct sp_message *crawled)
{
    sp_map_prefetch(&st->pages, crawled->page);
    sp_page_actor_key(st, crawled->page);
    sp_store_prefetch(st->store, sp_buf_view(&st->key));
    if (!crawled->crawled.signature)
        return;
    sp_contents_prefetch(st->contents, crawled->crawled.signature->content_hash, 0);
    if (st->grown)
        prefetch_places(st->grown->large, crawled);
}

bool sp_group_stage_follow(const struct sp_group_stage *st, const struct sp_message *crawled,
                           uint32_t step, uint32_t *ret_cell, struct sp_id *ret_content)
{
    const struct sp_page_actor *p = sp_map_guess(&st->pages, crawled->page);
    const struct sp_signature *s = crawled->crawled.signature;
    if (step == 0)
        sp_prefetch_bytes(p, p ? sizeof *p : 0);
    if (!p || step == 0)
        return p;
    if (step == 1)
        sp_prefetch(p->url);
    if (s && sp_id_eq(s->content_hash, p->content))
        return false; /* the content is the same: only the page is read */
    struct sp_id key = sp_group_table_key(p->group);
    const struct sp_group *g = step > 1 ? sp_map_guess(&st->groups, key) : NULL;
    if (step == 1)
        sp_map_prefetch(&st->groups, key);
    else if (g)
        prefetch_group(g, crawled->page, step - 2);
    sp_contents_prefetch(st->contents, p->content, step - 1);
    *ret_cell = p->cell;
    *ret_content = p->cell_content;
    return p->in_cell;
}

/* ---- for the store */

void sp_group_stage_expect_page(struct sp_group_stage *st, struct sp_id page)
{
    if (sp_map_get(&st->pages, page))
        return;
    sp_page_actor_key(st, page);
    sp_store_expect(st->store, sp_buf_view(&st->key));
}

/* What of a page leads to other rows. */
struct glance {
    enum sp_page_kind kind;
    struct sp_id content;
    struct sp_group_id group;
    bool founded; /* a group of one is in its row */
    bool in_cell;
    uint32_t cell;
    struct sp_id cell_content;
};

static struct glance glance_of(const struct sp_page_actor *p)
{
    return (struct glance){p->kind,    p->content, p->group,       p->inline_bytes > 0,
                           p->in_cell, p->cell,    p->cell_content};
}

/* False: the page's row is not in memory. */
static bool glance(struct sp_group_stage *st, struct sp_id page, struct glance *ret_glance)
{
    const struct sp_page_actor *p = sp_map_get(&st->pages, page);
    struct sp_view value;
    if (p) {
        *ret_glance = glance_of(p);
        return !p->gone;
    }
    sp_page_actor_key(st, page);
    if (!sp_store_peek(st->store, sp_buf_view(&st->key), &value))
        return false;
    struct sp_page_actor *stored = sp_calloc(1, sizeof *stored);
    bool good = sp_page_actor_decode(value, stored) == SP_OK;
    *ret_glance = glance_of(stored);
    sp_page_actor_free(stored);
    return good;
}

void sp_group_stage_expect(struct sp_group_stage *st, const struct sp_message *crawled)
{
    sp_group_stage_expect_page(st, crawled->page);
    if (crawled->crawled.signature)
        sp_contents_expect_hold(st->contents, crawled->crawled.signature->content_hash);
}

bool sp_group_stage_expect_known(struct sp_group_stage *st, const struct sp_message *crawled,
                                 uint32_t *ret_cell, struct sp_id *ret_content)
{
    const struct sp_signature *s = crawled->crawled.signature;
    struct glance p;
    if (!glance(st, crawled->page, &p) || (s && sp_id_eq(s->content_hash, p.content)))
        return false; /* if the content is the same, only the page is read */
    if (!p.founded)
        sp_group_stage_expect_group(st, p.group);
    if (p.kind == SP_PAGE_CONTENT)
        sp_contents_expect_drop(st->contents, p.content);
    *ret_cell = p.cell;
    *ret_content = p.cell_content;
    return p.in_cell;
}

bool sp_group_stage_guess_group(struct sp_group_stage *st, struct sp_id page,
                                struct sp_group_id *ret_group)
{
    struct glance p;
    if (!glance(st, page, &p) || p.founded)
        return false;
    *ret_group = p.group;
    return true;
}

void sp_group_stage_expect_group(struct sp_group_stage *st, struct sp_group_id group)
{
    if (sp_map_get(&st->groups, sp_group_table_key(group)))
        return;
    sp_group_key(st, 'G', group);
    sp_store_expect(st->store, sp_buf_view(&st->key));
}
