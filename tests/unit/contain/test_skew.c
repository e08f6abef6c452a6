/* Skewed crawls, by what is looked at: four times the pages are at most about four times the work.
 */
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

/* A page of `menu` shingles that all have, and `own` that no other has. */
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

/* `hosts` 1: one site. Sizes vary, so that nearly all pages have larger ones with the same menu. */
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

TEST(pages_of_one_site_with_a_long_menu)
{
    struct work learned = menus(LARGE, 300, 0.5, true), all = menus(LARGE, 300, 1, true);
    check_linear(menus(SMALL, 300, 0.5, true), learned);
    check_linear(menus(SMALL, 300, 1, true), all);
    CU_ASSERT(learned.contained < 20); /* before the menu was learned */
    CU_ASSERT(all.contained > 100);    /* it makes a page part of others that it has nothing of */
}

TEST(pages_of_many_sites_with_the_same_text)
{
    check_linear(menus(SMALL, 300, 0.5, false), menus(LARGE, 300, 0.5, false));
    check_linear(menus(SMALL, 150, 0.5, false), menus(LARGE, 150, 0.5, false));
}

/* Parts of a manual of 1,000 shingles, with `own` of their own. */
static struct sp_signature *part(uint32_t page, uint32_t own)
{
    uint32_t shingles[200], first = (uint32_t)(sp_mix64(page) % 900);
    for (uint32_t i = 0; i < 100; i++)
        shingles[i] = number(first + i);
    for (uint32_t i = 0; i < own; i++)
        shingles[100 + i] = number(1000000ull * (page + 1) + i);
    return world_signature(shingles, 100 + own, NO_CAP);
}

/* The manual comes as number `manual_at`. */
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

TEST(parts_of_one_manual)
{
    check_linear(parts(SMALL, 0, NO_CAP), parts(LARGE, 0, NO_CAP));
}

/* Until it comes, its parts find one another in their lists, and that they are no larger. */
TEST(parts_of_a_manual_that_comes_later)
{
    struct work half = parts(LARGE, LARGE / 2, NO_CAP), last = parts(LARGE, LARGE, NO_CAP);
    CU_ASSERT(half.candidates < 2 * LARGE && last.candidates < 2 * LARGE);
    CU_ASSERT(parts(LARGE, 0, 500).candidates < 2 * LARGE); /* known by half of its shingles */
}
