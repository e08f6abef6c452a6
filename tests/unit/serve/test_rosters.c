/* The members of groups of the status topic, in parts: the right ones whatever events come between,
 * and at the same cost however many others there are. */
#include <stdio.h>

#include "harness.h"
#include "serve/statuses.h"

enum { PAGES = 48, GROUPS = 3, NOBODY = -1, PART = 50 };

static struct sp_group_id group_of(uint64_t number)
{
    return (struct sp_group_id){number, {1, 2}};
}

static void url_of(int page, char url[40])
{
    snprintf(url, 40, "http://%d.example/", page);
}

/* `winner`: NOBODY, or of a loser. */
static void say(struct sp_statuses *s, int page, int winner, uint64_t group)
{
    char url[40], of_winner[40];
    url_of(page, url);
    url_of(winner, of_winner);
    struct sp_status_event e = {.url = url,
                                .version_ms = 7,
                                .status = winner == NOBODY ? SP_STATUS_WINNER : SP_STATUS_LOSER,
                                .winner_url = winner == NOBODY ? NULL : of_winner,
                                .reason = winner == NOBODY ? SP_REASON_NONE : SP_REASON_CONTENT,
                                .group = group_of(group)};
    sp_statuses_apply(s, &e);
}

static void forget(struct sp_statuses *s, int page)
{
    char url[40];
    url_of(page, url);
    sp_statuses_forget(s, url);
}

struct part {
    struct sp_id last;
    uint32_t count;
    uint32_t most;
    bool seen[PAGES]; /* of pages with such numbers */
};

static bool note(void *arg, const struct sp_member_view *member)
{
    struct part *p = arg;
    int number = NOBODY;
    if (p->count == p->most)
        return false;
    CU_ASSERT_EQUAL_FATAL(sscanf(member->url, "http://%d.example/", &number), 1);
    CU_ASSERT(memcmp(&p->last, &member->page, sizeof p->last) < 0);
    CU_ASSERT(number >= PAGES || !p->seen[number]);
    if (number < PAGES)
        p->seen[number] = true;
    p->last = member->page;
    p->count++;
    return true;
}

/* Continues after the last one. */
static void list(struct sp_statuses *s, uint64_t group, uint32_t most, struct part *p)
{
    p->count = 0;
    p->most = most;
    sp_statuses_begin(s);
    CU_ASSERT_EQUAL(sp_statuses_members(s, group_of(group), p->last, note, p), SP_OK);
    sp_statuses_end(s);
}

/* ---- the right ones ---- */

struct model {
    bool known;
    int winner;
    uint64_t group;
};

static bool is_member(const struct model *pages, int page, uint64_t group)
{
    const struct model *p = &pages[page];
    if (p->known && p->winner != NOBODY)
        p = &pages[p->winner];
    return pages[page].known && p->known && p->winner == NOBODY && p->group == group;
}

static void check_groups(struct sp_statuses *s, const struct model *pages)
{
    for (uint64_t group = 0; group < GROUPS; group++) {
        struct part p = {0};
        do
            list(s, group, 7, &p);
        while (p.count == 7);
        for (int page = 0; page < PAGES; page++)
            CU_ASSERT_EQUAL(p.seen[page], is_member(pages, page, group));
    }
}

/* Most pages lose to one of four, so that these have too many losers to move one by one. */
TEST(whatever_events_come_the_members_are_those_of_the_last_events)
{
    enum { EVENTS = 4000, STARS = 4 };
    struct sp_statuses *s = sp_statuses_new();
    struct model pages[PAGES] = {{0}};
    for (uint64_t i = 0; i < EVENTS; i++) {
        uint64_t random = sp_mix64(i + 1);
        int page = (int)(random % PAGES), to = (int)(random >> 16 & 63);
        struct model *p = &pages[page];
        to = to < PAGES && random >> 24 & 1 ? to : to % STARS;
        if ((random >> 32) % 10 == 0) {
            p->known = false;
            forget(s, page);
        } else {
            bool loses = page < STARS ? (random >> 40) % 4 == 0 : (random >> 40) % 8 > 0;
            *p = (struct model){true, loses ? to : NOBODY, (random >> 48) % GROUPS};
            say(s, page, p->winner, p->group);
        }
        if (i % 8 < 5) /* else rosters follow, or are missing, for several events */
            check_groups(s, pages);
    }
    sp_statuses_clear(s);
    memset(pages, 0, sizeof pages);
    check_groups(s, pages);
    sp_statuses_stop(s);
}

TEST(more_groups_can_be_asked_for_than_have_rosters)
{
    enum { MANY = 200 };
    struct sp_statuses *s = sp_statuses_new();
    for (int round = 0; round < 3; round++)
        for (int group = 0; group < MANY; group++) {
            struct part p = {0};
            say(s, PAGES + group, NOBODY, (uint64_t)group);
            for (int loser = 0; loser <= round; loser++)
                say(s, PAGES + MANY * (loser + 1) + group, PAGES + group, 0);
            list(s, (uint64_t)group, PART, &p);
            CU_ASSERT_EQUAL(p.count, (uint32_t)round + 2);
        }
    sp_statuses_stop(s);
}

/* ---- the cost ---- */

/* The members that a part looks at on average, when the group was listed before: the last one of
 * the part before, those of the part, and the one behind it. Between two parts come events: of a
 * winner and of losers, a new loser, one that leaves, and a pair of pages from another group. */
static double looked_at(int pages)
{
    enum { PARTS = 40 };
    struct sp_statuses *s = sp_statuses_new();
    struct part p = {0};
    for (int page = 0; page < pages; page++)
        say(s, PAGES + page, page % 100 ? PAGES + page - page % 100 : NOBODY, 1);
    list(s, 1, PART, &p);
    uint64_t before = sp_statuses_looked_at(s);
    CU_ASSERT(before >= (uint64_t)pages);
    for (int part = 0; part < PARTS; part++) {
        int other = PAGES + pages + 3 * part;
        say(s, PAGES + 100 * part, NOBODY, 1);
        say(s, PAGES + 100 * part + 1, PAGES + 100 * part, 1);
        say(s, other, PAGES, 1);
        forget(s, PAGES + 100 * part + 2);
        say(s, other + 1, NOBODY, 2);
        say(s, other + 2, other + 1, 2);
        say(s, other + 1, NOBODY, 1); /* with its loser */
        list(s, 1, PART, &p);
        CU_ASSERT_EQUAL(p.count, PART);
    }
    double mean = (double)(sp_statuses_looked_at(s) - before) / PARTS;
    sp_statuses_stop(s);
    printf("    a group of %d: %.1f members looked at for a part of %d\n", pages, mean, PART);
    return mean;
}

TEST(a_part_looks_at_as_many_members_in_a_group_four_times_as_large)
{
    CU_ASSERT(looked_at(5000) <= PART + 2);
    CU_ASSERT(looked_at(20000) <= PART + 2);
}

/* A winner with many losers moves away: the roster is made again, but not for each of the events
 * that follow. */
TEST(a_group_is_looked_at_as_a_whole_again_if_many_of_its_members_have_left)
{
    enum { LOSERS = 3000 };
    struct sp_statuses *s = sp_statuses_new();
    struct part p = {0};
    say(s, 1, NOBODY, 1);
    say(s, 2, NOBODY, 1);
    for (int page = 0; page < LOSERS; page++)
        say(s, PAGES + page, 1 + page % 2, 1);
    list(s, 1, PART, &p);
    uint64_t before = sp_statuses_looked_at(s);
    say(s, 2, 1, 1);
    for (int page = 1; page < LOSERS; page += 2) {
        say(s, PAGES + page, 1, 1);
        if (page % 100 == 1)
            list(s, 1, PART, &p);
    }
    uint64_t looked_at = sp_statuses_looked_at(s) - before;
    CU_ASSERT(looked_at >= LOSERS / 2 && looked_at < LOSERS + LOSERS / 100 * (PART + 1));
    p = (struct part){0};
    list(s, 1, UINT32_MAX, &p);
    CU_ASSERT_EQUAL(p.count, LOSERS + 2);
    sp_statuses_stop(s);
}
