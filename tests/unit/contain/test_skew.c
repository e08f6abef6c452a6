/* Skewed crawls, by counts of work: four times the pages cost at most about four times the work. */
#include <stdio.h>

#include "base/mem.h"
#include "contain_world.h"
#include "harness.h"

enum { SMALL = 500, LARGE = 4 * SMALL, NO_CAP = 1 << 16 };

struct work {
    uint64_t postings;
    uint64_t candidates;
    uint64_t contained;
};

static uint32_t number(uint64_t x)
{
    return (uint32_t)sp_mix64(x);
}

/* A page of `menu` shingles that all pages share, and `own` that no other page has. */
static struct sp_signature *menu_page(uint32_t page, uint32_t menu, uint32_t own)
{
    uint32_t shingles[1200];
    for (uint32_t i = 0; i < menu; i++)
        shingles[i] = number(i);
    for (uint32_t i = 0; i < own; i++)
        shingles[menu + i] = number(1000000ull * (page + 1) + i);
    return world_signature(shingles, menu + own, NO_CAP);
}

static void put(struct world *w, uint32_t page, uint32_t host, struct sp_signature *s)
{
    char url[WORLD_URL];
    snprintf(url, sizeof url, "http://h%u.test/%u", host, page);
    world_put(w, page, url, s);
    sp_signature_unref(s);
}

static struct work work_of(const struct world *w)
{
    struct sp_contain_stats stats = world_stats(w);
    return (struct work){stats.postings, stats.candidates, stats.contained};
}

/* One host, or a host for each page. Sizes vary, so that nearly every page has a larger one with
 * the same menu. */
static struct work menus(uint32_t pages, uint32_t menu, double boilerplate, bool one_host)
{
    struct world w;
    struct sp_contain_options options = {0.9, boilerplate};
    world_open(&w, &options);
    for (uint32_t page = 0; page < pages; page++)
        put(&w, page, one_host ? 0 : page,
            menu_page(page, menu, 20 + (uint32_t)(sp_mix64(page) % 300)));
    struct work work = work_of(&w);
    world_close(&w);
    return work;
}

static void check_linear(struct work small, struct work large)
{
    CU_ASSERT(large.postings < 6 * small.postings + 6ull * LARGE);
    CU_ASSERT(large.candidates < 6 * small.candidates + 6ull * LARGE);
}

TEST(pages_of_one_site_with_a_long_menu_take_linear_work)
{
    struct work learned = menus(LARGE, 300, 0.5, true), all = menus(LARGE, 300, 1, true);
    check_linear(menus(SMALL, 300, 0.5, true), learned);
    check_linear(menus(SMALL, 300, 1, true), all);
    CU_ASSERT(learned.contained < 20); /* before the menu was learned */
    CU_ASSERT(all.contained > 100);    /* through the shared menu */
}

TEST(pages_of_many_sites_with_the_same_text_take_linear_work)
{
    check_linear(menus(SMALL, 300, 0.5, false), menus(LARGE, 300, 0.5, false));
    check_linear(menus(SMALL, 150, 0.5, false), menus(LARGE, 150, 0.5, false));
}

/* A part of a manual of 1,000 shingles, plus `own` of its own. */
static struct sp_signature *part(uint32_t page, uint32_t own)
{
    uint32_t shingles[200], first = (uint32_t)(sp_mix64(page) % 900);
    for (uint32_t i = 0; i < 100; i++)
        shingles[i] = number(first + i);
    for (uint32_t i = 0; i < own; i++)
        shingles[100 + i] = number(1000000ull * (page + 1) + i);
    return world_signature(shingles, 100 + own, NO_CAP);
}

/* The whole manual is page number `manual_at`. */
static struct work parts(uint32_t pages, uint32_t manual_at, uint32_t cap)
{
    struct world w;
    struct sp_contain_options options = {0.9, 0.5};
    uint32_t shingles[1000];
    world_open(&w, &options);
    for (uint32_t i = 0; i < 1000; i++)
        shingles[i] = number(i);
    for (uint32_t page = 0; page <= pages; page++) {
        if (page == manual_at)
            put(&w, pages, pages, world_signature(shingles, 1000, cap));
        if (page < pages)
            put(&w, page, page, part(page, 3));
    }
    struct work work = work_of(&w);
    CU_ASSERT(work.contained >= pages * (cap < NO_CAP ? 8ull : 10ull) / 10);
    world_close(&w);
    return work;
}

/* A page that shares no shingle with any other. */
static void put_unlike(struct world *w, uint32_t page, uint32_t count)
{
    put(w, page, page, menu_page(page, 0, count));
}

/* Pages are indexed by a share of their shingles until a page arrives that needs the others. */
TEST(pages_that_have_nothing_in_common_are_not_entered_whole)
{
    enum { PAGES = 3000, SHINGLES = 300, TINY = 17 };
    struct world w;
    struct sp_contain_options options = {0.9, 1};
    world_open(&w, &options);
    for (uint32_t page = 0; page < PAGES; page++)
        put_unlike(&w, page, SHINGLES);
    uint64_t few = world_stats(&w).index_bytes;
    for (uint32_t page = 0; page < 100; page++) /* many have too few shingles in the share */
        put_unlike(&w, PAGES + page, TINY);
    uint64_t more = world_stats(&w).index_bytes;
    world_restart(&w); /* a restart indexes all shingles */
    uint64_t all = world_stats(&w).index_bytes;
    CU_ASSERT(few < more && more < all && all > 2 * few);
    world_close(&w);
}

/* The lists of the share are looked up once, when the page is indexed. All other lists, those of
 * capped pages and those of waiting pages are looked up only if they may contain something. */
TEST(pages_that_have_nothing_in_common_look_up_few_lists)
{
    enum { PAGES = 2000, SHINGLES = 300, CAP = 280 };
    struct world w;
    struct sp_contain_options options = {0.8, 1};
    world_open(&w, &options);
    for (uint32_t page = 0; page < PAGES; page++) {
        uint32_t count = page % 20 == 0 ? SHINGLES : CAP - page % 100, shingles[SHINGLES];
        for (uint32_t i = 0; i < count; i++)
            shingles[i] = number(1000000ull * (page + 1) + i);
        put(&w, page, page, world_signature(shingles, count, CAP));
    }
    struct sp_contain_stats stats = world_stats(&w);
    CU_ASSERT_EQUAL(stats.searches, PAGES);
    CU_ASSERT(stats.lists < 30ull * PAGES);
    world_close(&w);
}

TEST(parts_of_one_manual_take_linear_work)
{
    check_linear(parts(SMALL, 0, NO_CAP), parts(LARGE, 0, NO_CAP));
}

/* Until the manual comes, its parts find one another as candidates, but none that is large
 * enough. */
TEST(parts_of_a_manual_that_comes_later)
{
    struct work half = parts(LARGE, LARGE / 2, NO_CAP), last = parts(LARGE, LARGE, NO_CAP);
    CU_ASSERT(half.candidates < 2 * LARGE && last.candidates < 2 * LARGE);
    CU_ASSERT(parts(LARGE, 0, 500).candidates < 2 * LARGE); /* capped at half of its shingles */
}
