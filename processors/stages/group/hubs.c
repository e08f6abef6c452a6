/* Makes and frees hubs: each has a row number in the star index, and lives while it has members or
 * followers. */
#include "base/mem.h"
#include "group/large.h"

static void take_row(struct sp_large *l, struct sp_hub *h)
{
    if (l->free_row_count) {
        h->row = l->free_rows[--l->free_row_count];
    } else {
        h->row = l->row_count++;
        sp_grow(&l->rows, &l->row_cap, l->row_count);
    }
    l->rows[h->row] = h;
}

struct sp_hub *sp_hub_new(struct sp_group *g, struct sp_id content)
{
    struct sp_hub *h = sp_calloc(1, sizeof *h);
    h->content = content;
    h->group = g;
    h->own_similarity = -1;
    take_row(g->large, h);
    return h;
}

void sp_hub_free(struct sp_hub *h)
{
    struct sp_large *l = h->group->large;
    sp_grow(&l->free_rows, &l->free_row_cap, l->free_row_count + 1);
    l->free_rows[l->free_row_count++] = h->row;
    l->rows[h->row] = NULL;
    sp_pattern_forget(h);
    sp_shelf_done(&h->several);
    sp_signature_unref(h->signature);
    sp_free(h);
}

/* ---- followers */

static void unfollow(struct sp_hub *h)
{
    struct sp_hub *winner = h->winner;
    h->winner = NULL;
    if (!winner || winner == h)
        return;
    *h->at_follower = h->next_follower;
    if (h->next_follower)
        h->next_follower->at_follower = h->at_follower;
    if (--winner->followers == 0 && winner->over)
        sp_hub_free(winner);
}

void sp_hub_follow(struct sp_hub *h, struct sp_hub *winner)
{
    if (winner == h->winner)
        return;
    unfollow(h);
    h->winner = winner;
    if (!winner || winner == h)
        return;
    winner->followers++;
    h->next_follower = winner->first_follower;
    h->at_follower = &winner->first_follower;
    if (h->next_follower)
        h->next_follower->at_follower = &h->next_follower;
    winner->first_follower = h;
}
