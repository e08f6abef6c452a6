/* See redirects.h. Each call that reads a redirect is a walk, and each redirect belongs to the walk
 * that has read it first. A walk that meets another one ends as that one did; a walk that meets
 * itself is in a loop. So all walks together read each redirect once. */
#include "serve/redirects.h"

#include "base/map.h"
#include "base/mem.h"

struct redirect {
    struct sp_id page; /* key of the map: first */
    uint32_t walk;
};

struct walk {
    struct sp_redirects_end end;
    enum sp_err err;
};

struct sp_redirects {
    struct sp_state_reader *reader;
    uint32_t left; /* redirects that may still be read */
    struct sp_map read;
    struct walk *walks;
    uint32_t count;
    uint32_t cap;
};

struct sp_redirects *sp_redirects_new(struct sp_state_reader *r, uint32_t most)
{
    struct sp_redirects *w = sp_calloc(1, sizeof *w);
    w->reader = r;
    w->left = most;
    return w;
}

void sp_redirects_free(struct sp_redirects *w)
{
    if (!w)
        return;
    sp_map_free_objects(&w->read);
    sp_free(w->walks);
    sp_free(w);
}

struct where {
    struct sp_redirects_end end;
    struct sp_id target;
    enum sp_page_kind kind;
    bool covered;
    struct sp_buf *winner; /* where to put the URL; NULL: it is not asked for */
};

static void note(void *arg, const struct sp_page_view *v)
{
    struct where *w = arg;
    w->end = (struct sp_redirects_end){v->content, v->group};
    w->target = v->target;
    w->kind = v->kind;
    w->covered = v->status == SP_STATUS_LOSER && v->winner_url;
    if (w->winner && w->covered)
        sp_buf_put_str(w->winner, v->winner_url);
}

/* SP_NOT_FOUND also for a page that has no content and leads nowhere. */
static enum sp_err read_page(struct sp_redirects *w, struct sp_id page, struct where *where)
{
    enum sp_err err = sp_state_page(w->reader, page, note, where);
    bool useful = where->kind == SP_PAGE_CONTENT || where->kind == SP_PAGE_REDIRECT;
    return err == SP_OK && !useful ? SP_NOT_FOUND : err;
}

/* The content of the winner that covers the end of this redirect's chain. */
static enum sp_err read_winner(struct sp_redirects *w, struct sp_id page,
                               struct sp_redirects_end *ret_end)
{
    struct sp_buf url = {0};
    struct where where = {.winner = &url};
    struct sp_id winner;
    enum sp_err err = read_page(w, page, &where);
    if (err == SP_OK)
        err =
            where.covered ? sp_state_page_id(w->reader, sp_buf_view(&url), &winner) : SP_NOT_FOUND;
    where = (struct where){0};
    if (err == SP_OK)
        err = read_page(w, winner, &where);
    sp_buf_done(&url);
    if (err == SP_OK && where.kind != SP_PAGE_CONTENT)
        err = SP_NOT_FOUND; /* its status is not written yet */
    if (err == SP_OK)
        *ret_end = where.end;
    return err;
}

static void put_redirect(struct sp_redirects *w, struct sp_id page)
{
    struct redirect *r = sp_alloc(sizeof *r);
    *r = (struct redirect){page, w->count};
    sp_map_add(&w->read, r);
    w->left--;
}

/* Ends at content, at nothing, at a redirect that was read before, or where no more may be read. */
static enum sp_err walk_from(struct sp_redirects *w, struct sp_id page,
                             struct sp_redirects_end *ret_end)
{
    for (struct where where = {0};; page = where.target) {
        const struct redirect *met = sp_map_get(&w->read, page);
        if (met && met->walk == w->count)
            return SP_NOT_FOUND; /* a loop */
        if (met) {
            *ret_end = w->walks[met->walk].end;
            return w->walks[met->walk].err;
        }
        enum sp_err err = read_page(w, page, &where);
        *ret_end = where.end;
        if (err != SP_OK || where.kind == SP_PAGE_CONTENT)
            return err;
        if (w->left == 0)
            return read_winner(w, page, ret_end);
        put_redirect(w, page);
    }
}

enum sp_err sp_redirects_follow(struct sp_redirects *w, struct sp_id page,
                                struct sp_redirects_end *ret_end)
{
    struct walk walk = {0};
    walk.err = walk_from(w, page, &walk.end);
    sp_grow(&w->walks, &w->cap, w->count + 1);
    w->walks[w->count++] = walk;
    if (walk.err == SP_OK)
        *ret_end = walk.end;
    return walk.err;
}
