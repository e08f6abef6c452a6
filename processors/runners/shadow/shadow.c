/* Tracks watched pages and contents, and matches fetches with statuses: see shadow.h.
 *
 * A fetch is pending until a status names its version or a newer one, because only then have the
 * stages accepted it. So a late fetch, which the stages discard, changes nothing here either. A
 * status that names a version without a fetch means that the page has content that is not watched.
 * While streaming, only drawn fetches are seen, and a newer version may be that of a fetch that was
 * not: the status must name the same version. */
#include "shadow/internal.h"

#include "base/mem.h"
#include "base/url.h"
#include "winners/winners.h"

/* The most other pages with which a page is compared at each event. */
enum { PARTNERS_MAX = 32 };

static const uint64_t URL_SEED = 0x61756469742e7572, CONTENT_SEED = 0x61756469742e636f;
static const uint32_t NEAREST = 0x18a35c97;

/* ---- the sample ---- */

static uint64_t draw_of_page(struct sp_id page)
{
    return sp_mix64(page.hi ^ URL_SEED);
}

/* The hash nearest to NEAREST by XOR. This choice is as uniform as that of the smallest hash, which
 * is not used because candidates are found by the smallest hashes. The hashes are sorted: at each
 * bit those with NEAREST's are a run. Most signatures that keep only their smallest hashes still
 * reach that far. */
static uint64_t draw_of_content(const struct sp_signature *g)
{
    const uint32_t *hashes = sp_signature_shingles(g);
    uint32_t from = 0, to = g->shingle_count;
    for (uint32_t bit = 1u << 31; bit && to - from > 1; bit >>= 1) {
        uint32_t low = from, high = to;
        while (low < high) {
            uint32_t middle = low + (high - low) / 2;
            if (hashes[middle] & bit)
                high = middle;
            else
                low = middle + 1;
        }
        if (low > from && (low == to || !(NEAREST & bit)))
            to = low;
        else
            from = low;
    }
    return sp_mix64(hashes[from] ^ CONTENT_SEED);
}

static bool says_something(const struct sp_signature *g)
{
    return g && g->shingle_total > 0;
}

uint64_t sp_shadow_limit(double share)
{
    return share >= 1 ? UINT64_MAX : share > 0 ? (uint64_t)(share * 0x1p64) : 0;
}

static bool is_drawn(uint64_t limit, struct sp_id page, const struct sp_signature *g)
{
    return draw_of_page(page) < limit || (says_something(g) && draw_of_content(g) < limit);
}

bool sp_shadow_draws(uint64_t limit, const struct sp_message *m)
{
    return limit > 0 && is_drawn(limit, m->page, m->crawled.signature);
}

static bool is_wanted(const struct sp_shadow *s, const struct sp_watched *w)
{
    return w->draw < s->limit || (w->content && w->content->draw < s->limit) ||
           (says_something(w->pending_signature) &&
            draw_of_content(w->pending_signature) < s->limit);
}

/* ---- contents ---- */

static void leave_content(struct sp_shadow *s, struct sp_watched *w)
{
    struct sp_shadow_content *c = w->content;
    if (!c)
        return;
    w->content = NULL;
    struct sp_watched *last = c->owners[--c->owner_count];
    c->owners[w->owner_at] = last;
    last->owner_at = w->owner_at;
    if (c->owner_count > 0)
        return;
    sp_shadow_near_remove(s, c);
    sp_map_remove(&s->by_content, c->hash);
    sp_signature_unref(c->signature);
    sp_free(c->owners);
    sp_free(c);
}

static void take_content(struct sp_shadow *s, struct sp_watched *w, struct sp_signature *g)
{
    struct sp_shadow_content *c = sp_map_get(&s->by_content, g->content_hash);
    if (!c) {
        c = sp_calloc(1, sizeof *c);
        c->hash = g->content_hash;
        c->signature = sp_signature_ref(g);
        c->draw = draw_of_content(g);
        sp_map_add(&s->by_content, c);
        sp_shadow_near_add(s, c);
    }
    sp_grow(&c->owners, &c->owner_cap, c->owner_count + 1);
    w->owner_at = c->owner_count;
    c->owners[c->owner_count++] = w;
    w->content = c;
}

static void set_content(struct sp_shadow *s, struct sp_watched *w, struct sp_signature *g)
{
    if (w->content && g && sp_id_eq(w->content->hash, g->content_hash))
        return;
    leave_content(s, w);
    if (says_something(g))
        take_content(s, w, g);
}

/* ---- pages ---- */

static struct sp_watched *watch(struct sp_shadow *s, struct sp_id page, const char *url)
{
    struct sp_watched *w = sp_calloc(1, sizeof *w);
    w->page = page;
    w->url = sp_strdup(url);
    w->draw = draw_of_page(page);
    w->at = s->page_count;
    sp_grow(&s->pages, &s->page_cap, s->page_count + 1);
    s->pages[s->page_count++] = w;
    sp_map_add(&s->by_page, w);
    if (s->options.watched)
        s->options.watched(s->options.arg, page, true);
    return w;
}

static void drop_pending(struct sp_watched *w)
{
    sp_signature_unref(w->pending_signature);
    w->pending_signature = NULL;
    w->pending = false;
}

static void unwatch(struct sp_shadow *s, struct sp_watched *w)
{
    sp_suspect_drop(s, w);
    leave_content(s, w);
    drop_pending(w);
    sp_map_remove(&s->by_page, w->page);
    s->pages[w->at] = s->pages[--s->page_count];
    s->pages[w->at]->at = w->at;
    if (s->options.watched)
        s->options.watched(s->options.arg, w->page, false);
    sp_free(w->url);
    sp_free(w);
}

static void thin_out(struct sp_shadow *s)
{
    while (s->page_count > s->options.most && s->limit > 0) {
        s->limit /= 2;
        s->counts.share /= 2;
        for (size_t i = s->page_count; i-- > 0;)
            if (!is_wanted(s, s->pages[i]))
                unwatch(s, s->pages[i]);
    }
}

static void touch(struct sp_shadow *s, struct sp_watched *w)
{
    if (w->touched)
        return;
    w->touched = true;
    sp_grow(&s->touched, &s->touched_cap, s->touched_count + 1);
    s->touched[s->touched_count++] = w->page;
}

/* ---- input ---- */

static bool is_late(const struct sp_watched *w, int64_t version)
{
    return version > 0 && (version < w->version || (w->pending && version < w->pending_version));
}

/* Whether the fetch was delivered before; the stages discard such fetches. */
static bool is_twice(const struct sp_watched *w, const struct sp_crawled *c)
{
    if (c->version != w->version || w->kind != c->page_kind)
        return false;
    return w->kind != SP_PAGE_CONTENT || !w->content ||
           sp_id_eq(w->content->hash, c->signature->content_hash);
}

/* Handles a fetch that found known content: the page's own, or content that the stages do not know.
 */
static void find_again(const struct sp_shadow *s, struct sp_watched *w, const struct sp_crawled *c)
{
    if (w->pending && s->options.streaming) {
        w->pending_version = c->version; /* the one that the status will name */
        w->pending_rank = c->rank;
        return;
    }
    if (w->pending || w->kind != SP_PAGE_CONTENT)
        return;
    w->pending = true;
    w->pending_version = c->version;
    w->pending_kind = w->kind;
    w->pending_rank = c->rank;
    w->pending_signature = w->content ? sp_signature_ref(w->content->signature) : NULL;
}

static void make_pending(struct sp_watched *w, const struct sp_crawled *c)
{
    drop_pending(w);
    w->pending = true;
    w->pending_version = c->version;
    w->pending_kind = c->page_kind;
    w->pending_rank = c->rank;
    w->pending_signature = c->signature ? sp_signature_ref(c->signature) : NULL;
}

void sp_shadow_fetch(struct sp_shadow *s, const struct sp_message *m)
{
    const struct sp_crawled *c = &m->crawled;
    struct sp_watched *w = sp_map_get(&s->by_page, m->page);
    if (s->options.streaming && c->version <= 0)
        return;
    if (c->version > s->now_ms)
        s->now_ms = c->version;
    if (!w) {
        if (c->page_kind == SP_PAGE_UNSEEN || !sp_shadow_draws(s->limit, m))
            return;
        w = watch(s, m->page, c->url);
    }
    if (is_late(w, c->version) || (s->options.streaming && is_twice(w, c)))
        return;
    if (c->page_kind == SP_PAGE_UNSEEN)
        find_again(s, w, c);
    else
        make_pending(w, c);
    w->pending_rank.popularity =
        sp_popularity_class(w->pending_rank.popularity, s->options.popularity_tolerance);
    touch(s, w);
    thin_out(s);
}

void sp_shadow_forget(struct sp_shadow *s, struct sp_id page)
{
    struct sp_watched *w = sp_map_get(&s->by_page, page);
    if (w)
        unwatch(s, w);
}

bool sp_shadow_watches(const struct sp_shadow *s, struct sp_id page)
{
    return sp_map_get(&s->by_page, page) != NULL;
}

/* The stages have accepted the fetch. */
static void adopt(struct sp_shadow *s, struct sp_watched *w)
{
    w->kind = w->pending_kind;
    w->rank = w->pending_rank;
    set_content(s, w, w->pending_signature);
    drop_pending(w);
}

static bool is_accepted(const struct sp_shadow *s, const struct sp_watched *w, int64_t version)
{
    return w->pending &&
           (s->options.streaming ? version == w->pending_version : version >= w->pending_version);
}

/* The page has content that the shadow has not seen. */
static void lose_sight(struct sp_shadow *s, struct sp_watched *w)
{
    if (w->version >= w->pending_version)
        drop_pending(w);
    leave_content(s, w);
    w->kind = SP_PAGE_UNSEEN;
}

static struct sp_shadow_said said_of(const struct sp_status_event *e)
{
    struct sp_shadow_said said = {.version = e->version_ms,
                                  .status = e->status,
                                  .reason = e->reason,
                                  .similarity = e->similarity,
                                  .group_size = e->group_size,
                                  .group = e->group};
    struct sp_buf canonical = {0};
    if (e->winner_url)
        sp_url_page(sp_view_str(e->winner_url), &canonical, &said.winner);
    sp_buf_done(&canonical);
    return said;
}

void sp_shadow_status(struct sp_shadow *s, const struct sp_status_event *e)
{
    struct sp_watched *w = sp_map_get(&s->by_page, e->page);
    if (!w)
        return;
    w->said = said_of(e);
    if (e->version_ms > w->version) {
        w->version = e->version_ms;
        if (is_accepted(s, w, e->version_ms))
            adopt(s, w);
        else
            lose_sight(s, w);
    }
    if (!is_wanted(s, w))
        unwatch(s, w);
    else
        touch(s, w);
}

bool sp_shadow_restore(struct sp_shadow *s, const struct sp_shadow_page_state *page,
                       const struct sp_status_event *status)
{
    if (!is_drawn(s->limit, page->page, page->signature) || sp_map_get(&s->by_page, page->page))
        return false;
    struct sp_watched *w = watch(s, page->page, page->url);
    w->version = page->version;
    w->kind = page->kind;
    w->rank = page->rank;
    w->said = said_of(status);
    set_content(s, w, page->signature);
    if (page->version > s->now_ms)
        s->now_ms = page->version;
    thin_out(s);
    return sp_map_get(&s->by_page, page->page) != NULL;
}

/* ---- judging ---- */

struct looking {
    struct sp_shadow *shadow;
    struct sp_watched *page;
    uint32_t left;
};

static bool on_similar(void *arg, struct sp_shadow_content *c, double similarity)
{
    struct looking *l = arg;
    (void)similarity;
    for (size_t i = c->owner_count; i-- > 0 && l->left > 0;)
        if (c->owners[i] != l->page) {
            l->left--;
            sp_suspect_judge(l->shadow, l->page, c->owners[i]);
        }
    return l->left > 0;
}

static void judge_page(struct sp_shadow *s, struct sp_watched *w)
{
    struct looking l = {s, w, PARTNERS_MAX};
    sp_suspect_again(s, w);
    if (!sp_shadow_settled(w))
        return;
    sp_suspect_judge(s, w, NULL);
    struct sp_watched *winner =
        w->said.status == SP_STATUS_LOSER ? sp_map_get(&s->by_page, w->said.winner) : NULL;
    if (winner && winner != w)
        sp_suspect_judge(s, w, winner);
    if (w->content)
        sp_shadow_near_each(s, w->content, on_similar, &l);
}

static void judge_touched(struct sp_shadow *s)
{
    for (size_t i = 0; i < s->touched_count; i++) {
        struct sp_watched *w = sp_map_get(&s->by_page, s->touched[i]);
        if (!w || !w->touched)
            continue;
        w->touched = false;
        if (!s->options.streaming)
            drop_pending(w); /* the stages have discarded it as late */
        if (is_wanted(s, w))
            judge_page(s, w);
        else
            unwatch(s, w);
    }
    s->touched_count = 0;
}

void sp_shadow_judge(struct sp_shadow *s, bool owed)
{
    s->looks++;
    judge_touched(s);
    sp_suspect_count(s, owed, false);
}

void sp_shadow_settle(struct sp_shadow *s)
{
    judge_touched(s);
    sp_suspect_count(s, false, true);
}

/* ---- the whole ---- */

struct sp_shadow *sp_shadow_new(const struct sp_shadow_options *options)
{
    struct sp_shadow *s = sp_calloc(1, sizeof *s);
    const struct sp_similarity_options *o = &options->similarity;
    s->options = *options;
    s->jaccard = sp_method_info(o->method)->jaccard;
    if (!s->jaccard)
        s->rule = sp_candidate_rule(o->method, o->threshold);
    s->limit = sp_shadow_limit(options->share);
    s->counts.share = options->share;
    return s;
}

void sp_shadow_free(struct sp_shadow *s)
{
    if (!s)
        return;
    s->options.watched = NULL;
    while (s->page_count > 0) {
        s->pages[s->page_count - 1]->suspects = 0; /* freed below, all at once */
        unwatch(s, s->pages[s->page_count - 1]);
    }
    sp_suspects_done(s);
    sp_shadow_near_done(&s->near);
    sp_map_done(&s->by_page);
    sp_map_done(&s->by_content);
    sp_free(s->pages);
    sp_free(s->touched);
    sp_free(s);
}

void sp_shadow_counts(const struct sp_shadow *s, struct sp_shadow_counts *ret_counts)
{
    int64_t oldest_ms = sp_suspect_oldest_ms(s);
    *ret_counts = s->counts;
    ret_counts->pages = s->page_count;
    ret_counts->suspects = s->suspects.count;
    if (oldest_ms > ret_counts->late_ms)
        ret_counts->late_ms = oldest_ms;
}
