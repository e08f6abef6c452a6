/* Which pieces of a large group leave, and when, depends on its members only, not on the state of
 * the index of its hubs: a stage that is opened again after each message, and so makes the index
 * each time, lets the same pieces leave in the same step. */

#include "story.h"

enum { STORIES = 100, FETCHES = 160 };

static uint64_t number;          /* of the story */
static uint64_t drawn;           /* random numbers of the story so far */
static bool starts_again;        /* after each fetch */
static char was[FETCHES][PAGES]; /* the first page of each page's group after each fetch */
static uint64_t put_off;         /* splits, while the stage stayed open */

static uint32_t draw(uint32_t below)
{
    return (uint32_t)(sp_mix64(number << 32 | drawn++) % below);
}

/* Notes the first page of each page's group. */
static void note_groups(struct world *w, char *first)
{
    struct sp_group_id groups[PAGES];
    for (int page = 0; page < PAGES; page++) {
        groups[page] = group_of(w, (char)('A' + page));
        first[page] = 0;
        while (!sp_group_id_eq(groups[(int)first[page]], groups[page]))
            first[page]++;
    }
}

/* Texts form a chain, of which many places have one page only. */
static uint32_t text(void)
{
    uint32_t step = 5 + number % 6, places = 13 + number % 7;
    return draw(100) < 10 ? 5000 + draw(2) : draw(places) * step + draw(2);
}

static void fetch(struct world *w, uint32_t i)
{
    char page = (char)('A' + (i < PAGES ? i : draw(PAGES)));
    uint32_t what = i < PAGES ? 100 : draw(100);
    if (what < 5)
        redirect(w, page, (char)('A' + draw(PAGES)));
    else if (what < 15)
        die(w, page);
    else
        crawl(w, page, text());
}

static void live(struct world *w)
{
    char now[PAGES];
    w->options.split_at_once = 3 + number % 5;
    restart(w);
    w->busy = true;
    drawn = 0;
    if (w->options.large_from != 1)
        return;
    for (uint32_t i = 0; i < FETCHES; i++) {
        fetch(w, i);
        if (starts_again)
            restart(w);
        if (i < PAGES)
            continue;
        note_groups(w, starts_again ? now : was[i]);
        if (starts_again)
            CU_ASSERT(memcmp(now, was[i], PAGES) == 0);
    }
    if (!starts_again)
        put_off += stats_of(w).split_later;
}

TEST(which_pieces_leave_depends_on_the_members_only)
{
    for (number = 0; number < STORIES; number++)
        for (int again = 0; again < 2; again++) {
            starts_again = again;
            tell(live);
        }
    CU_ASSERT(put_off > STORIES);
}
