/* The methods of Table 1 over synthetic crawls: exact methods make no errors, approximate ones do,
 * and the result does not depend on the number of threads. */
#include "base/mem.h"
#include "crawl.h"
#include "evaluate/examples.h"
#include "harness.h"
#include "page/builder.h"

struct world {
    struct sp_crawl *crawl;
    struct sp_partition_map maps[SP_MACHINES];
    struct sp_accuracy_options options;
    struct sp_accuracy *a;
    struct sp_examples examples;
};

static void measure(struct world *w, unsigned threads)
{
    w->options.threads = threads;
    w->options.at_end = sp_examples_pick;
    w->options.arg = &w->examples;
    w->examples.similarity = &w->options.replay.bus.group.similarity;
    CU_ASSERT_EQUAL(sp_accuracy_run(w->crawl, &w->options, w->a), SP_OK);
}

static void made_up(struct world *w, uint64_t pages, uint64_t seed)
{
    struct sp_synth_options synth;
    struct crawl made;
    sp_synth_options_default(&synth);
    synth.pages = pages;
    synth.seed = seed;
    synth.words = 60;
    synth.near_permille = 450;
    synth.recrawl_permille = 1500;
    crawl_make(&made, &synth);
    for (size_t i = 0; i < made.count; i++)
        sp_crawl_add(w->crawl, made.messages[i]);
    crawl_done(&made);
}

/* Pages whose text slides along a few long texts, so that chains form and break with every fetch.
 * Lengths vary, so that near duplicates are in several cells. */
static void sliding(struct world *w, uint64_t seed)
{
    enum { PAGES = 60, FETCHES = 600, WORDS = 100, TEXTS = 6, SLIDE = 90, SHORTER = 30 };
    struct sp_signature_options o = {.max_shingles = 1024};
    struct sp_builder *b = sp_builder_new(&o);
    for (uint64_t i = 0; i < FETCHES; i++) {
        uint64_t random = sp_mix64(seed * FETCHES + i + 1);
        char url[] = {'h', '/', (char)('0' + random % PAGES), 0};
        uint64_t start = (random >> 8) % TEXTS * 10000 + (random >> 16) % SLIDE;
        uint32_t count = WORDS - (uint32_t)(random >> 24) % SHORTER;
        uint64_t words[WORDS];
        for (uint64_t k = 0; k < WORDS; k++)
            words[k] = sp_mix64(start + k + 1);
        struct sp_message *m = sp_message_new(SP_MSG_CRAWLED);
        m->page = sp_hash128(url, sizeof url);
        m->crawled.url = sp_strdup(url);
        m->crawled.page_kind = SP_PAGE_CONTENT;
        sp_builder_begin(b);
        sp_builder_words(b, words, count);
        m->crawled.signature = sp_builder_finish(b, 0);
        sp_crawl_add(w->crawl, m);
        sp_message_free(m);
    }
    sp_builder_free(b);
}

/* pages 0: a sliding crawl. */
static void setup(struct world *w, uint64_t pages, uint64_t seed)
{
    *w = (struct world){.crawl = sp_crawl_new(), .a = sp_calloc(1, sizeof *w->a)};
    if (pages)
        made_up(w, pages, seed);
    else
        sliding(w, seed);
    for (size_t i = 0; i < SP_MACHINES; i++)
        CU_ASSERT_EQUAL(sp_partition_default(sp_machines[i], &w->maps[i]), SP_OK);
    struct sp_local_bus_options *bus = &w->options.replay.bus;
    sp_similarity_options_default(&bus->group.similarity);
    bus->compare.similarity = bus->group.similarity;
    bus->group.cache_bytes = bus->compare.cache_bytes = bus->contents_cache_bytes = 1 << 20;
    bus->compare.rho = 1.1;
    bus->tier1 = bus->tier2 = 1;
    w->options.maps = w->maps;
}

static void teardown(struct world *w)
{
    sp_accuracy_done(w->a);
    sp_free(w->a);
    for (size_t i = 0; i < SP_MACHINES; i++)
        sp_partition_done(&w->maps[i]);
    sp_crawl_free(w->crawl);
}

static bool exact_at(const struct sp_errors *e)
{
    return e->groups.system == e->groups.both && e->groups.baseline == e->groups.both &&
           e->winners.wrong == 0 && e->winners.missed == 0;
}

TEST(exact_methods_make_no_errors_and_errors_by_delay_vanish)
{
    struct world w;
    setup(&w, 700, 1);
    measure(&w, 2);
    CU_ASSERT(w.a->variants[SP_EXACT_24].errors[SP_MILESTONES - 1].groups.baseline > 100);
    for (size_t v = 0; v < SP_MACHINES; v++)
        for (size_t m = 0; m < SP_MILESTONES; m++)
            CU_ASSERT(exact_at(&w.a->variants[v].errors[m]));
    for (size_t v = SP_DELAYED; v < SP_VARIANTS; v++) {
        const struct sp_errors *last = &w.a->variants[v].decay[SP_DECAY_STEPS - 1];
        CU_ASSERT(exact_at(last) && last->pending == 0);
    }
    /* After half of the messages the result is still incomplete. */
    const struct sp_errors *half = w.a->variants[SP_VARIANTS - 1].errors;
    CU_ASSERT(half[SP_MILESTONES - 1].pending > 0 && !exact_at(&half[SP_MILESTONES - 1]));
    teardown(&w);
}

/* In any crawl, "skip" alone only misses pairs and "leave" alone only adds wrong ones. */
TEST(each_approximation_errs_on_its_side)
{
    uint64_t false_pairs = 0, missed = 0;
    for (uint64_t seed = 2; seed < 8; seed++) {
        struct world w;
        setup(&w, seed % 2 ? 400 : 0, seed);
        w.options.replay.bus.group.fast_recheck_share = 1; /* disables the repair */
        measure(&w, 2);
        for (size_t m = 0; m < SP_MILESTONES; m++) {
            const struct sp_group_pairs *skip = &w.a->variants[SP_SKIP_ONLY].errors[m].groups;
            const struct sp_group_pairs *leave = &w.a->variants[SP_LEAVE_ONLY].errors[m].groups;
            CU_ASSERT_EQUAL(skip->system, skip->both);
            CU_ASSERT_EQUAL(leave->baseline, leave->both);
            missed += skip->baseline - skip->both;
            false_pairs += leave->system - leave->both;
        }
        teardown(&w);
    }
    CU_ASSERT(false_pairs > 0 && missed > 0); /* the test must see both kinds of error */
}

TEST(examples_are_what_they_say)
{
    size_t right = 0, together = 0;
    for (uint64_t seed = 2; seed < 8; seed++) {
        struct world w;
        setup(&w, seed % 2 ? 400 : 0, seed);
        w.options.replay.bus.group.fast_recheck_share = 1; /* disables the repair */
        measure(&w, 2);
        const struct sp_baseline *b = &w.a->baselines[SP_MILESTONES - 1];
        for (size_t i = 0; i < SP_EXAMPLES; i++) {
            const struct sp_example *e = &w.examples.list[i];
            if (!e->found)
                continue;
            uint32_t x = w.crawl->fetches[e->fetch_a].page, y = w.crawl->fetches[e->fetch_b].page;
            CU_ASSERT(x != y && b->fetch[x] == e->fetch_a && b->fetch[y] == e->fetch_b);
            bool similar =
                sp_similar(&w.options.replay.bus.group.similarity, w.crawl->contents[b->content[x]],
                           w.crawl->contents[b->content[y]], NULL);
            bool one_component = b->component[x] == b->component[y];
            CU_ASSERT(strlen(e->verdict) > 20);
            right += e->good;
            together += !e->good && !one_component;
            CU_ASSERT_EQUAL(one_component, similar); /* holds for missed pairs, too */
        }
        teardown(&w);
    }
    CU_ASSERT(right >= 6 && together > 0);
}

TEST(threads_change_nothing)
{
    struct world one, four;
    setup(&one, 300, 9);
    setup(&four, 300, 9);
    measure(&one, 1);
    measure(&four, 4);
    for (size_t v = 0; v < SP_VARIANTS; v++) {
        CU_ASSERT_EQUAL(memcmp(one.a->variants[v].errors, four.a->variants[v].errors,
                               sizeof one.a->variants[v].errors),
                        0);
        CU_ASSERT_EQUAL(memcmp(one.a->variants[v].decay, four.a->variants[v].decay,
                               sizeof one.a->variants[v].decay),
                        0);
    }
    CU_ASSERT_EQUAL(memcmp(one.examples.list, four.examples.list, sizeof one.examples.list), 0);
    teardown(&one);
    teardown(&four);
}

TEST(an_empty_crawl_and_one_of_a_single_fetch)
{
    for (uint64_t pages = 0; pages <= 1; pages++) {
        struct world w;
        setup(&w, 1, 10);
        if (pages == 0) {
            sp_crawl_free(w.crawl);
            w.crawl = sp_crawl_new();
        } else {
            w.crawl->fetch_count = 1;
        }
        measure(&w, 2);
        for (size_t v = 0; v < SP_VARIANTS; v++)
            CU_ASSERT_EQUAL(w.a->variants[v].errors[SP_MILESTONES - 1].groups.baseline, 0);
        teardown(&w);
    }
}
