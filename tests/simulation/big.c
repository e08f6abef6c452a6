/* See big.h. */
#include "big.h"

#include "pages.h"

enum { SHINGLES_MAX = 80, POOL = 40 };

/* ---- texts ---- */

/* As a page of the same shingles in any order. */
static struct sp_signature *signature_of(uint32_t *shingles, uint32_t count)
{
    struct sp_signature *x = page_by_shingles(shingles, count, count, (struct sp_id){0, 0});
    x->content_hash = sp_hash128(x->hashes, count * sizeof *x->hashes);
    x->length[0] = 0;
    for (uint32_t i = 0; i < count; i++)
        x->length[x->hashes[i] % SP_DIMS]++;
    return x;
}

static uint32_t shingle(uint32_t of, uint32_t place)
{
    return (uint32_t)sp_mix64((uint64_t)of << 32 | place);
}

/* Neighbouring families differ in a sixth of their shingles, so they are not similar. A text
 * between two of them has half of these of each, and is similar to both. */
static struct sp_signature *relative(struct world *w, uint32_t family)
{
    const struct big *b = &w->big;
    uint32_t shingles[SHINGLES_MAX], count = b->size - rnd_below(&w->rnd, 3);
    uint32_t own = b->size / 6, between = rnd_chance(&w->rnd, 4) ? own / 2 : 0;
    for (uint32_t i = 0; i < b->size; i++)
        shingles[i] = shingle(1, i);
    for (uint32_t f = 1; f <= family; f++)
        for (uint32_t i = 0; i < own; i++)
            shingles[(f - 1) * own % (b->size - own) + i] = shingle(1 + f, i);
    for (uint32_t i = 0; i < between; i++)
        shingles[family * own % (b->size - own) + i] = shingle(2 + family, i);
    uint32_t changes = rnd_chance(&w->rnd, 30) ? 0 : rnd_below(&w->rnd, b->most + 1);
    for (uint32_t i = 0; i < changes; i++)
        shingles[rnd_below(&w->rnd, b->size)] = rnd_chance(&w->rnd, 70)
                                                    ? shingle(100, rnd_below(&w->rnd, POOL))
                                                    : shingle(101, (uint32_t)w->result.events);
    return signature_of(shingles, count);
}

static struct sp_signature *text(struct world *w)
{
    const struct big *b = &w->big;
    uint32_t family = b->family < b->families ? b->family : rnd_below(&w->rnd, b->families);
    uint32_t span = w->span / b->families + 1, first = family * span + rnd_below(&w->rnd, span);
    uint32_t words = rnd_chance(&w->rnd, 70) ? 12 : 10 + rnd_below(&w->rnd, 8);
    if (b->long_chain && w->result.events <= w->pages)
        first = (uint32_t)w->result.events;
    if (w->o.method != SP_METHOD_SHINGLES)
        return page_by_builder(w->o.method, first, words);
    return b->texts == BIG_CHAIN ? page_by_items(first, words, 0) : relative(w, family);
}

static void draw_text(struct world *w, struct truth *t)
{
    t->kind = SP_PAGE_CONTENT;
    t->signature = text(w);
}

static void draw_redirect(struct world *w, struct truth *t)
{
    t->kind = SP_PAGE_REDIRECT;
    t->target = w->big.aim;
    w->known[t->target] = true;
}

static void draw_dead(struct world *w, struct truth *t)
{
    (void)w;
    t->kind = SP_PAGE_DEAD;
}

/* The text of an earlier fetch. */
static void draw_home(struct world *w, struct truth *t)
{
    t->kind = SP_PAGE_CONTENT;
    t->signature = sp_signature_ref(w->crawled[w->big.home]);
}

/* ---- what happens ---- */

static uint32_t some_page(struct world *w)
{
    return rnd_below(&w->rnd, w->pages);
}

/* The first page from a random one on with this status; none: any page. */
static uint32_t some_page_that_is(struct world *w, enum sp_page_status status)
{
    uint32_t from = some_page(w);
    for (uint32_t i = 0; i < w->pages; i++)
        if (w->said[(from + i) % w->pages].status == status)
            return (from + i) % w->pages;
    return from;
}

/* The group of a loser is that of its winner. */
static struct sp_group_id group_of(const struct world *w, uint32_t page)
{
    const struct published *said = &w->said[page];
    return said->winner >= 0 ? w->said[said->winner].group : said->group;
}

static void fetch_text(struct world *w, uint32_t page)
{
    w->big.family = rnd_below(&w->rnd, w->big.families);
    sim_crawl(w, page, draw_text);
}

static void redirect(struct world *w, uint32_t page, uint32_t target)
{
    w->big.aim = target;
    sim_crawl(w, page, draw_redirect);
}

/* A page of its own group or of another one, which may redirect as well. */
static void redirect_winner(struct world *w)
{
    uint32_t winner = some_page_that_is(w, SP_STATUS_WINNER);
    redirect(w, winner,
             rnd_chance(&w->rnd, 70) ? some_page_that_is(w, SP_STATUS_LOSER) : some_page(w));
}

static void lengthen_chain(struct world *w, uint32_t page)
{
    if (page == w->big.head)
        return;
    redirect(w, page, w->big.head);
    w->big.head = page;
}

static void hit_moving(struct world *w)
{
    uint32_t page = w->big.moving, x = rnd_below(&w->rnd, 4);
    w->big.moving = w->pages;
    if (x == 0 && w->big.erased)
        sim_erase(w, page);
    else if (x == 1)
        redirect(w, page, some_page_that_is(w, SP_STATUS_WINNER));
    else if (x == 2)
        sim_crawl(w, page, draw_dead);
    else
        fetch_text(w, page);
}

/* From now on something happens to each page of a group. */
static void doom(struct world *w)
{
    struct big *b = &w->big;
    b->fate = 1 + rnd_below(&w->rnd, FATE_GONE);
    if (b->fate == FATE_ERASED && !b->erased)
        b->fate = FATE_CHANGED;
    b->doomed = group_of(w, some_page_that_is(w, SP_STATUS_LOSER));
    b->next = 0;
    b->family = rnd_below(&w->rnd, b->families);
    b->head = some_page(w);
}

/* Returns false if no page is left. */
static bool follow_fate(struct world *w)
{
    struct big *b = &w->big;
    while (b->next < w->pages && !sp_group_id_eq(group_of(w, b->next), b->doomed))
        b->next++;
    if (b->next == w->pages) {
        b->fate = FATE_NONE;
        return false;
    }
    uint32_t page = b->next++;
    if (b->fate == FATE_ERASED)
        sim_erase(w, page);
    else if (b->fate == FATE_CHANGED)
        sim_crawl(w, page, draw_text); /* all of one family */
    else if (b->fate == FATE_CHAINED)
        lengthen_chain(w, page);
    else
        sim_crawl(w, page, draw_dead);
    return true;
}

/* From now on a page that others may resemble changes its text, and returns to it, again and
 * again. */
static void begin_flaps(struct world *w)
{
    struct big *b = &w->big;
    uint32_t page = some_page_that_is(w, SP_STATUS_WINNER);
    const struct truth *t = &w->truth[page];
    if (t->kind != SP_PAGE_CONTENT || !w->crawled[t->content_version - 1])
        return;
    b->flapper = page;
    b->home = (uint32_t)t->content_version - 1;
    b->flaps = 4 + rnd_below(&w->rnd, 30);
}

static void flap(struct world *w)
{
    struct big *b = &w->big;
    bool away = b->flaps-- % 2;
    b->family = rnd_below(&w->rnd, b->families);
    if (away && rnd_chance(&w->rnd, 50))
        sim_crawl(w, b->flapper, draw_dead);
    else
        sim_crawl(w, b->flapper, away ? draw_text : draw_home);
}

void sim_big_event(struct world *w)
{
    struct big *b = &w->big;
    if (w->result.events < w->pages) {
        fetch_text(w, (uint32_t)w->result.events);
        return;
    }
    if (b->fate && follow_fate(w))
        return;
    if (b->flaps && rnd_chance(&w->rnd, 80)) {
        flap(w);
        return;
    }
    if (w->o.seed % 2 && !b->flaps && rnd_chance(&w->rnd, 4))
        begin_flaps(w);
    uint32_t x = rnd_below(&w->rnd, 100);
    if (b->moving < w->pages && rnd_chance(&w->rnd, 40))
        hit_moving(w);
    else if (x < b->erased)
        sim_erase(w, some_page_that_is(w, (enum sp_page_status)rnd_below(&w->rnd, 5)));
    else if (x < 24)
        redirect_winner(w);
    else if (x < 34)
        lengthen_chain(w, some_page(w));
    else if (x < 40)
        sim_crawl(w, some_page(w), draw_dead);
    else if (x < 44)
        redirect(w, some_page(w), some_page(w));
    else if (x < 47)
        doom(w);
    else if (x < 60)
        fetch_text(w, some_page_that_is(w, SP_STATUS_WINNER));
    else
        fetch_text(w, some_page(w));
}

void sim_big_note(struct world *w, const struct sp_message *m)
{
    if (m->kind == SP_MSG_MEMBERS && m->link.row_count)
        w->big.moving =
            sim_page_number(w, m->link.rows[rnd_below(&w->rnd, m->link.row_count)].page);
}

static bool is_backlogged(const struct world *w)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < w->process_count; i++)
        for (uint32_t c = 0; c < CHANNELS; c++)
            for (const struct sp_message *m = w->processes[i].in[c].first; m; m = m->next)
                if (++count > w->big.backlog)
                    return true;
    return false;
}

uint32_t sim_big_haste(struct world *w)
{
    if (is_backlogged(w))
        return 0;
    return w->result.events < w->pages ? 50 : w->big.fate || w->big.flaps ? 40 : 10;
}

/* ---- worlds ---- */

/* One world in 31 has a group of 2,000. Canaries keep to those that are quick. */
static bool is_huge(const struct world *w)
{
    return w->o.seed % 31 == 11 && !w->o.canary && !w->o.compare_canary;
}

uint32_t sim_big_draw(struct world *w)
{
    static const uint32_t page_counts[] = {40, 90, 90, 150, 150, 300, 512}, sizes[] = {24, 36, 72},
                          events[] = {100, 200, 400}, backlogs[] = {10, 60, 400};
    struct big *b = &w->big;
    w->pages = page_counts[rnd_below(&w->rnd, 7)];
    bool huge = is_huge(w);
    if (huge)
        w->pages = 2100 + (uint32_t)w->o.seed % (MAX_PAGES - 2100);
    w->span = w->pages / 8 + rnd_below(&w->rnd, w->pages);
    w->messages_max = 1000 * 1000;
    b->texts = rnd_chance(&w->rnd, 30) ? BIG_CHAIN : BIG_FAMILIES;
    b->long_chain = b->texts == BIG_CHAIN && w->o.seed % 2;
    w->span = b->long_chain ? w->pages : w->span;
    b->families = 1 + rnd_below(&w->rnd, 6);
    b->families = huge ? 1 : b->families;
    b->units = huge ? 200 : 0;
    b->size = sizes[rnd_below(&w->rnd, 3)];
    b->most = 1 + rnd_below(&w->rnd, b->size / 8);
    b->erased = rnd_chance(&w->rnd, 60) ? 15 : 0;
    b->moving = w->pages;
    b->backlog = backlogs[rnd_below(&w->rnd, 3)];
    w->o.batch_max = rnd_chance(&w->rnd, 50) ? 4 : 30;
    return w->pages + events[rnd_below(&w->rnd, 3)];
}

uint32_t sim_big_least(const struct world *w)
{
    return w->big.texts == BIG_CHAIN ? 10 : w->big.size - 3;
}

void sim_big_rules(struct world *w)
{
    static const uint32_t large[] = {0, 0, 3, 20}, at_once[] = {0, 1, 2, 10};
    w->group.large_from = large[rnd_below(&w->rnd, 4)];
    w->group.split_at_once = at_once[rnd_below(&w->rnd, 4)];
    w->group.settle_at_once = w->o.seed % 3 ? 0 : 1 + w->o.seed % 4;
    if (w->big.units)
        w->group.settle_at_once *= w->big.units;
    w->group.winner_margin = w->o.seed % 8 == 6 && !w->o.relation ? 1.5 : 0;
    w->group.popularity_tolerance = w->o.seed % 8 == 7 && !w->o.relation ? 0.3 : 0;
}

const char *sim_big_relation(const struct world *w)
{
    static const char *relations[] = {"a.timestamp <= b.timestamp",
                                      "containment(a, b) >= 0.9 && a.popularity <= b.popularity",
                                      "a.url < b.url || a.shingles < b.shingles && a.host = b.host",
                                      "a.popularity = b.popularity || jaccard(b, a) >= 0.9"};
    bool has = w->o.seed % 8 == 5 && w->o.method == SP_METHOD_SHINGLES;
    return has ? relations[w->o.seed / 8 % 4] : NULL;
}
