/* The contain stage against its definition, computed from scratch. After each step of a random
 * crawl no container is missed and none is invented; a stage restored from its rows reports the
 * same in the same order. */
#include <stdio.h>

#include "base/mem.h"
#include "contain_world.h"
#include "harness.h"

enum { HOSTS = 2, SECTIONS = 12, STEPS = 260, WORLDS = 36, NO_CAP = 1 << 16 };

/* The oracle's view of a page. */
struct page {
    struct sp_signature *signature; /* NULL: no such page */
    uint64_t order;
};

struct oracle {
    double threshold;
    double boilerplate;
    struct page pages[WORLD_PAGES];
    uint64_t orders;
    uint64_t ever[HOSTS];
    uint32_t *learned[HOSTS];
    uint32_t learned_count[HOSTS];
    uint64_t contained; /* pages with a container, over all checks */
    uint64_t learnings;
};

static uint64_t next(uint64_t *random)
{
    return sp_mix64(*random += 0x9e3779b97f4a7c15ull);
}

static uint32_t below(uint64_t *random, uint32_t n)
{
    return (uint32_t)(next(random) % n);
}

static uint32_t host_of(uint32_t page)
{
    return page % HOSTS;
}

static void url_of(uint32_t page, char url[WORLD_URL])
{
    snprintf(url, WORLD_URL, "http://h%u.test/%u", host_of(page), page);
}

static bool has(const uint32_t *numbers, uint32_t count, uint32_t number)
{
    for (uint32_t i = 0; i < count; i++)
        if (numbers[i] == number)
            return true;
    return false;
}

/* ---- the definition ---- */

static void learn(struct oracle *o, uint32_t host)
{
    uint32_t pages = 0, *found = sp_alloc(NO_CAP * sizeof *found), count = 0;
    uint64_t ever = ++o->ever[host];
    for (uint32_t p = 0; p < WORLD_PAGES; p++)
        pages += host_of(p) == host && o->pages[p].signature;
    bool due = ever == 16 || ever == 32 || ever == 64 || ever == 128 || ever == 256;
    if (due && pages >= 16 && o->boilerplate < 1) {
        for (uint32_t p = host; p < WORLD_PAGES; p += HOSTS) {
            const struct sp_signature *s = o->pages[p].signature;
            for (uint32_t i = 0; s && i < s->shingle_count; i++) {
                uint32_t with = 0;
                for (uint32_t q = host; q < WORLD_PAGES; q += HOSTS)
                    with += o->pages[q].signature &&
                            has(o->pages[q].signature->hashes, o->pages[q].signature->shingle_count,
                                s->hashes[i]);
                if (with > o->boilerplate * pages && !has(found, count, s->hashes[i]))
                    found[count++] = s->hashes[i];
            }
        }
        sp_free(o->learned[host]);
        o->learned[host] = sp_memdup(found, (count + 1) * sizeof *found);
        o->learned_count[host] = count;
        o->learnings += count > 0;
    }
    sp_free(found);
}

static double containment(const struct oracle *o, uint32_t inner, uint32_t outer)
{
    const struct sp_signature *a = o->pages[inner].signature, *b = o->pages[outer].signature;
    uint32_t host = host_of(inner), of = 0, hits = 0;
    if (b->shingle_total <= a->shingle_total)
        return 0;
    for (uint32_t i = 0; i < a->shingle_count; i++) {
        uint32_t x = a->hashes[i];
        if (has(o->learned[host], o->learned_count[host], x) ||
            (b->shingle_count < b->shingle_total && x > b->hashes[b->shingle_count - 1]))
            continue;
        of++;
        hits += has(b->hashes, b->shingle_count, x);
    }
    double share = of >= SP_CONTAIN_LEAST ? (double)hits / of : 0;
    return share + 1e-9 >= o->threshold ? share : 0;
}

static void check_page(struct oracle *o, const struct said *said, uint32_t page)
{
    double best = 0, named = 0;
    char url[WORLD_URL];
    for (uint32_t other = 0; other < WORLD_PAGES; other++) {
        double share = o->pages[other].signature && other != page ? containment(o, page, other) : 0;
        url_of(other, url);
        if (share > best)
            best = share;
        if (strcmp(url, said->url) == 0)
            named = share;
    }
    o->contained += best > 0;
    CU_ASSERT_EQUAL(said->containment, (float)best); /* none missed */
    CU_ASSERT_EQUAL((float)named, (float)best);      /* none invented */
    CU_ASSERT_EQUAL(said->url[0] != 0, best > 0);
}

static void check(struct oracle *o, const struct world *w)
{
    for (uint32_t p = 0; p < WORLD_PAGES; p++)
        if (o->pages[p].signature)
            check_page(o, &w->said[p], p);
}

/* ---- random worlds ---- */

/* A menu shared by the host's pages, some of the sections that all hosts draw from, and a few words
 * of its own. */
static struct sp_signature *random_page(uint64_t *random, uint32_t page, uint32_t cap)
{
    uint32_t shingles[SECTIONS * 40 + 64], count = 0;
    for (uint32_t i = 0; i < 24; i++)
        if (below(random, 40))
            shingles[count++] = (uint32_t)sp_mix64(host_of(page) * 1000 + i);
    for (uint32_t section = 0; section < SECTIONS; section++)
        if (below(random, 4) == 0)
            for (uint32_t i = 0; i < 8 + section * 2; i++)
                if (below(random, 25))
                    shingles[count++] = (uint32_t)sp_mix64(100000 + section * 1000 + i);
    for (uint32_t own = below(random, 6); own > 0; own--)
        shingles[count++] = (uint32_t)next(random);
    return world_signature(shingles, count, cap);
}

static void put(struct oracle *o, uint32_t page, struct sp_signature *s)
{
    struct page *p = &o->pages[page];
    bool there = p->signature && sp_id_eq(p->signature->content_hash, s->content_hash);
    sp_signature_unref(p->signature);
    p->signature = s;
    if (there)
        return;
    if (s->shingle_count < SP_CONTAIN_LEAST) {
        sp_signature_unref(s);
        p->signature = NULL;
        return;
    }
    p->order = o->orders++;
    learn(o, host_of(page));
}

static void take(struct oracle *o, uint32_t page)
{
    sp_signature_unref(o->pages[page].signature);
    o->pages[page].signature = NULL;
    for (uint32_t p = host_of(page); p < WORLD_PAGES; p += HOSTS)
        if (o->pages[p].signature)
            return;
    o->ever[host_of(page)] = o->learned_count[host_of(page)] = 0; /* the host's last page is gone */
}

static void one_step(struct oracle *o, struct world *steady, struct world *restarted,
                     uint64_t *random, uint32_t cap)
{
    char url[WORLD_URL];
    uint32_t page = below(random, WORLD_PAGES);
    url_of(page, url);
    if (below(random, 5) == 0) {
        world_remove(steady, page);
        world_remove(restarted, page);
        take(o, page);
        return;
    }
    struct sp_signature *s = random_page(random, page, cap);
    world_put(steady, page, url, s);
    world_put(restarted, page, url, s);
    put(o, page, s);
}

static void one_world(uint64_t seed, uint64_t *contained, uint64_t *learnings)
{
    static const double thresholds[] = {0.5, 0.7, 0.8, 0.9, 0.95, 1};
    uint64_t random = seed;
    struct world steady, restarted;
    struct sp_contain_options options = {.threshold = thresholds[seed % 6],
                                         .boilerplate = seed % 3 ? 0.5 : 1};
    struct oracle o = {.threshold = options.threshold, .boilerplate = options.boilerplate};
    uint32_t cap = seed % 2 ? NO_CAP : 40 + below(&random, 80);
    world_open(&steady, &options);
    world_open(&restarted, &options);
    for (int i = 0; i < STEPS; i++) {
        one_step(&o, &steady, &restarted, &random, cap);
        if (i % 7 == 0)
            check(&o, &steady);
        if (below(&random, 30) == 0)
            world_restart(&restarted);
        else if (below(&random, 8) == 0)
            world_commit(&restarted);
        CU_ASSERT_EQUAL_FATAL(steady.hash, restarted.hash);
    }
    check(&o, &steady);
    world_close(&steady);
    world_close(&restarted);
    for (uint32_t p = 0; p < WORLD_PAGES; p++)
        sp_signature_unref(o.pages[p].signature);
    for (uint32_t h = 0; h < HOSTS; h++)
        sp_free(o.learned[h]);
    *contained += o.contained;
    *learnings += o.learnings;
}

TEST(nothing_is_missed_and_nothing_invented)
{
    uint64_t contained = 0, learnings = 0;
    for (uint64_t seed = 1; seed <= WORLDS; seed++)
        one_world(seed, &contained, &learnings);
    CU_ASSERT(contained > 3000); /* the crawl contained pages to find */
    CU_ASSERT(learnings > WORLDS / 2);
}

/* ---- single cases ---- */

static struct sp_signature *range(uint32_t from, uint32_t count, uint32_t own)
{
    uint32_t shingles[400];
    for (uint32_t i = 0; i < count; i++)
        shingles[i] = (uint32_t)sp_mix64(from + i);
    for (uint32_t i = 0; i < 3 && own; i++)
        shingles[count + i] = (uint32_t)sp_mix64(UINT32_MAX + own * 10ull + i);
    return world_signature(shingles, count + (own ? 3 : 0), NO_CAP);
}

static void put_range(struct world *w, uint32_t page, uint32_t from, uint32_t count, uint32_t own)
{
    char url[WORLD_URL];
    struct sp_signature *s = range(from, count, own);
    url_of(page, url);
    world_put(w, page, url, s);
    sp_signature_unref(s);
}

static const struct sp_contain_options usual = {0.9, 0.5};

TEST(a_page_is_told_as_its_container_comes_changes_and_goes)
{
    struct world w;
    world_open(&w, &usual);
    put_range(&w, 1, 0, 100, 0);
    CU_ASSERT_STRING_EQUAL(w.said[1].url, "");
    put_range(&w, 2, 0, 95, 1); /* smaller than page 1, which has 95 of its 98 shingles */
    CU_ASSERT_STRING_EQUAL(w.said[2].url, "http://h1.test/1");
    put_range(&w, 3, 0, 200, 0); /* contains all of page 1, and as much of page 2 as page 1 does */
    CU_ASSERT_STRING_EQUAL(w.said[1].url, "http://h1.test/3");
    CU_ASSERT_EQUAL(w.said[1].containment, 1);
    CU_ASSERT_STRING_EQUAL(w.said[2].url, "http://h1.test/1");
    put_range(&w, 1, 300, 100, 0); /* its text changes */
    CU_ASSERT_STRING_EQUAL(w.said[1].url, "");
    CU_ASSERT_STRING_EQUAL(w.said[2].url, "http://h1.test/3");
    CU_ASSERT_EQUAL(w.said[2].containment, (float)(95.0 / 98));
    world_remove(&w, 3);
    CU_ASSERT_STRING_EQUAL(w.said[2].url, "");
    world_close(&w);
}

TEST(a_page_with_another_url_is_named_by_it)
{
    struct world w;
    struct sp_signature *s = range(0, 200, 0);
    world_open(&w, &usual);
    put_range(&w, 1, 0, 100, 0);
    world_put(&w, 3, "http://h1.test/3", s);
    world_put(&w, 3, "HTTP://h1.test/3", s);
    CU_ASSERT_STRING_EQUAL(w.said[1].url, "HTTP://h1.test/3");
    sp_signature_unref(s);
    world_close(&w);
}

/* Only another program gives a page a URL of another host. A restart reads the host from the URL.
 */
TEST(a_page_with_a_url_of_another_host_moves_there)
{
    struct world w;
    struct sp_signature *s = range(0, 200, 0);
    world_open(&w, &usual);
    put_range(&w, 1, 0, 100, 0);
    world_put(&w, 3, "http://h1.test/3", s);
    world_put(&w, 3, "http://h9.test/3", s);
    CU_ASSERT_STRING_EQUAL(w.said[1].url, "http://h9.test/3");
    world_restart(&w);
    CU_ASSERT_EQUAL(world_stats(&w).hosts, 2);
    world_remove(&w, 3);
    CU_ASSERT_STRING_EQUAL(w.said[1].url, "");
    sp_signature_unref(s);
    world_close(&w);
}

/* When the page arrives, only a share of its shingles is indexed; in some trials that share has
 * none that a later container keeps. So the page waits under further shingles. */
TEST(a_page_waits_for_a_container_that_keeps_few_of_its_shingles)
{
    enum { TRIALS = 1000, PART = 100, WHOLE = 2 * PART };
    for (uint32_t trial = 0; trial < TRIALS; trial++) {
        struct world w;
        uint32_t shingles[WHOLE];
        for (uint32_t i = 0; i < PART; i++)
            shingles[i] = (uint32_t)sp_mix64(1000 * trial + i) / 2;
        for (uint32_t i = PART; i < WHOLE; i++) /* shingles that the container drops */
            shingles[i] = UINT32_MAX - i;
        struct sp_signature *part = world_signature(shingles, PART, WHOLE),
                            *whole = world_signature(shingles, WHOLE, SP_CONTAIN_LEAST);
        world_open(&w, &usual);
        world_put(&w, 1, "http://h1.test/1", part);
        world_put(&w, 2, "http://h2.test/2", whole);
        CU_ASSERT_STRING_EQUAL(w.said[1].url, "http://h2.test/2");
        CU_ASSERT_EQUAL(w.said[1].containment, 1);
        sp_signature_unref(part);
        sp_signature_unref(whole);
        world_close(&w);
    }
}

/* Equal pages wait under the same shingles. Most of them leave, so the lists are rebuilt. */
TEST(pages_wait_on_after_others_have_left)
{
    enum { WAITING = WORLD_PAGES - 1, LEAVING = WAITING - 5 };
    struct world w;
    world_open(&w, &(struct sp_contain_options){0.9, 1});
    for (uint32_t page = 0; page < WAITING; page++)
        put_range(&w, page, 0, 100, 0);
    for (uint32_t page = 0; page < LEAVING; page++)
        world_remove(&w, page);
    put_range(&w, WAITING, 0, 200, 0);
    for (uint32_t page = LEAVING; page < WAITING; page++)
        CU_ASSERT_EQUAL(w.said[page].containment, 1);
    world_close(&w);
}

TEST(equal_sizes_and_too_few_shingles_say_nothing)
{
    struct world w;
    world_open(&w, &usual);
    put_range(&w, 1, 0, 100, 0);
    put_range(&w, 3, 0, 100, 0);
    put_range(&w, 5, 0, SP_CONTAIN_LEAST - 1, 0);
    put_range(&w, 7, 0, SP_CONTAIN_LEAST, 0);
    CU_ASSERT_STRING_EQUAL(w.said[1].url, "");
    CU_ASSERT_STRING_EQUAL(w.said[3].url, "");
    CU_ASSERT_STRING_EQUAL(w.said[5].url, "");
    CU_ASSERT_STRING_EQUAL(w.said[7].url, "http://h1.test/1");
    world_close(&w);
}

static bool count_row(void *arg, struct sp_view key, struct sp_view value)
{
    (void)key, (void)value;
    ++*(size_t *)arg;
    return true;
}

TEST(rows_go_with_their_pages)
{
    struct world w;
    size_t rows = 0;
    world_open(&w, &usual);
    for (uint32_t page = 0; page < WORLD_PAGES; page++)
        put_range(&w, page, page / 2 * 10, 100 + page % 2 * 50, 0);
    world_restart(&w);
    CU_ASSERT_EQUAL(world_stats(&w).pages, WORLD_PAGES);
    for (uint32_t page = 0; page < WORLD_PAGES; page++)
        world_remove(&w, page);
    world_commit(&w);
    for (uint16_t store = 1; store <= 2; store++)
        CU_ASSERT_EQUAL(sp_store_scan(sp_db_store(w.db, store), sp_view(NULL, 0), sp_view(NULL, 0),
                                      count_row, &rows),
                        SP_OK);
    CU_ASSERT_EQUAL(rows, 0);
    CU_ASSERT_EQUAL(world_stats(&w).hosts, 0);
    world_close(&w);
}

static void check_refused(const char *key, size_t key_bytes, const char *value, size_t bytes)
{
    struct sp_db *db = sp_db_open_memory();
    struct sp_contents *contents = sp_contents_new(sp_db_store(db, 1), 1, 1 << 14);
    struct sp_store *store = sp_db_store(db, 2);
    sp_store_put(store, sp_view(key, key_bytes), sp_view(value, bytes));
    CU_ASSERT_EQUAL(sp_db_commit(db), SP_OK);
    struct sp_contain_stage *stage = sp_contain_stage_new(&usual, store, contents, NULL, NULL);
    CU_ASSERT_EQUAL(sp_contain_stage_load(stage), SP_CORRUPT);
    CU_ASSERT_EQUAL(
        sp_contain_stage_put(stage, (struct sp_id){0, 1}, "http://a.test/", (struct sp_id){0, 2}),
        SP_CORRUPT);
    sp_contain_stage_free(stage);
    sp_contents_free(contents);
    sp_db_close(db);
}

TEST(rows_that_no_stage_wrote_are_refused)
{
    check_refused("I", 1, "\1", 1);
    check_refused("I0123456789abcdef", 17, "", 0);
    check_refused("I0123456789abcdef", 17, "\1\0\1u0123456789abcdef\2\3", 22); /* 3 of 2 */
    check_refused("I0123456789abcdef", 17, "\1\0\1u0123456789abcdef\0", 21);   /* no signature */
    check_refused("I0123456789abcdef", 17, "\2\0\1u0123456789abcdef\0", 21);
    check_refused("H0123456789abcdef", 17, "\1\0", 2); /* a host without pages */
    check_refused("H0123456789abcdef", 17, "\1\0abc", 5);
}

TEST(an_error_of_the_store_is_not_forgotten)
{
    int failed = 0;
    for (long calls = 0; calls < 40; calls++) {
        struct world w;
        world_open(&w, &usual);
        for (uint32_t page = 0; page < 40; page++)
            put_range(&w, page, page / 2 * 10, 100 + page % 2 * 50, 0);
        world_restart(&w);
        struct sp_signature *s = range(0, 390, 0);
        sp_db_fail_after(w.db, calls);
        enum sp_err err = world_try_put(&w, 60, "http://h0.test/60", s);
        sp_db_fail_after(w.db, -1);
        failed += err != SP_OK;
        if (err != SP_OK && sp_contain_stage_flush(w.stage) == SP_OK)
            CU_ASSERT(calls == 0); /* the call was not one of the stage */
        sp_signature_unref(s);
        world_close(&w);
    }
    CU_ASSERT(failed > 5);
}
