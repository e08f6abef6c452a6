/* One hub: its members, its signature and what it touches; and lists of hubs. See large.h. */
#include "base/mem.h"
#include "group/large.h"

struct sp_member *sp_hub_next(const struct sp_hub *h, struct sp_shelf_place *place)
{
    if (h->several.count)
        return sp_shelf_next(&h->several, place);
    return place->at++ ? NULL : h->best;
}

void sp_hub_list_add(struct sp_hub_list *list, struct sp_hub *h)
{
    sp_grow(&list->hubs, &list->cap, list->count + 1);
    list->hubs[list->count++] = h;
}

void sp_hub_list_drop_gone(struct sp_hub_list *list)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < list->count; i++)
        if (list->hubs[i]->best)
            list->hubs[kept++] = list->hubs[i];
    list->count = kept;
}

struct sp_hub *sp_hub_at(const struct sp_large *l, uint32_t row)
{
    return l->rows[row];
}

struct sp_signature *sp_hub_signature(struct sp_group_stage *st, struct sp_hub *h)
{
    struct sp_signature *s;
    if (h->signature)
        return h->signature;
    enum sp_err err = sp_contents_get(st->contents, h->content, &s);
    if (err != SP_OK) {
        sp_group_stage_note(st, err);
        return NULL;
    }
    h->signature = sp_signature_ref(s);
    sp_hub_list_add(&h->group->large->borrowed, h);
    sp_member_note_holder(st, h->group);
    return s;
}

bool sp_hub_probe(struct sp_group_stage *st, struct sp_hub *h, struct sp_touches *ret_touches)
{
    const struct sp_signature *s = sp_hub_signature(st, h);
    *ret_touches = (struct sp_touches){0};
    if (!s)
        return false;
    st->stats.hub_probes++;
    enum sp_err err = sp_stars_probe(h->group->large->domain, s, h->row, ret_touches);
    if (err != SP_OK)
        sp_group_stage_note(st, err);
    return err == SP_OK;
}

/* Most hubs have one member, and that of a group that was read would have to be read as well. */
float sp_hub_own_similarity(struct sp_hub *h)
{
    struct sp_group_stage *st = h->group->large->stage;
    if (h->own_similarity < 0) {
        double own = 1;
        const struct sp_signature *s = sp_hub_signature(st, h);
        if (s)
            sp_similar(&st->options.similarity, s, s, &own);
        h->own_similarity = (float)own;
    }
    return h->own_similarity;
}
