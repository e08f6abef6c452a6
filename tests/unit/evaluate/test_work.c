/* Comparison counts: every method and every lossless map finds the same pairs. */
#include <string.h>

#include "base/mem.h"
#include "evaluate/kinds.h"
#include "evaluate/work.h"
#include "harness.h"
#include "page/builder.h"

enum { CONTENTS = 400, WORDS_MOST = 160 };

/* Texts that copy one another with a few words changed. */
static struct sp_distinct make_sample(void)
{
    static uint64_t words[CONTENTS][WORDS_MOST];
    size_t length[CONTENTS];
    struct sp_signature_options o = {.max_shingles = 1024};
    struct sp_builder *b = sp_builder_new(&o);
    struct sp_distinct s = {.count = CONTENTS};
    uint64_t random = 11;
    s.signatures = sp_alloc(CONTENTS * sizeof(struct sp_signature *));
    s.fetches = sp_calloc(CONTENTS, sizeof *s.fetches);
    for (size_t d = 0; d < SP_SPLITS; d++)
        s.lengths[d] = sp_calloc(CONTENTS, sizeof *s.lengths[d]);
    for (size_t i = 0; i < CONTENTS; i++) {
        random = sp_mix64(random + i + 1);
        size_t from = i ? random % i : 0;
        bool copy = i > 0 && random >> 60 < 12;
        length[i] = copy ? length[from] : 20 + (random >> 20) % (WORDS_MOST - 20);
        for (size_t k = 0; k < length[i]; k++) {
            uint64_t r = sp_mix64(random + k);
            words[i][k] = copy && r % 200 ? words[from][k] : sp_mix64(r >> 8);
        }
        sp_builder_begin(b);
        sp_builder_words(b, words[i], length[i]);
        s.signatures[i] = sp_builder_finish(b, 0);
        s.lengths[SP_SPLIT_TOTAL][i].at[0] = s.signatures[i]->shingle_total;
        for (size_t d = 1; d < SP_SPLITS; d++)
            memcpy(s.lengths[d][i].at, s.signatures[i]->length, sizeof s.lengths[d][i].at);
    }
    sp_builder_free(b);
    return s;
}

static void drop_sample(struct sp_distinct *s)
{
    for (size_t i = 0; i < s->count; i++)
        sp_signature_unref(s->signatures[i]);
    sp_distinct_done(s);
}

static uint64_t pairs_of(const struct sp_distinct *s, const struct sp_similarity_options *o)
{
    uint64_t pairs = 0;
    for (size_t i = 0; i < s->count; i++)
        for (size_t k = 0; k < i; k++)
            pairs += sp_similar(o, s->signatures[i], s->signatures[k], NULL);
    return pairs;
}

static struct sp_work_options work_of(const struct sp_distinct *s,
                                      const struct sp_partition_map *map, enum sp_split split)
{
    return (struct sp_work_options){.map = map,
                                    .contents = s,
                                    .split = split,
                                    .similarity = {.threshold = 0.8},
                                    .routing = SP_ROUTING_LOSSLESS,
                                    .rho = 1};
}

TEST(one_machine_meets_every_pair_once)
{
    struct sp_similarity_options o = {.threshold = 0.8};
    struct sp_distinct s = make_sample();
    struct sp_partition_map map;
    struct sp_work w;
    uint64_t pairs = pairs_of(&s, &o);
    CU_ASSERT(pairs > 100);
    CU_ASSERT_EQUAL_FATAL(sp_partition_default(1, &map), SP_OK);
    struct sp_work_options work = work_of(&s, &map, SP_SPLIT_SETTINGS);
    sp_work_run(&work, SP_WORK_SCAN, 0, &w);
    CU_ASSERT_EQUAL(w.met, (uint64_t)CONTENTS * (CONTENTS - 1) / 2);
    CU_ASSERT_EQUAL(w.met_most, w.met);
    CU_ASSERT_EQUAL(w.similar, pairs);
    sp_work_run(&work, SP_WORK_INDEX, 0, &w);
    CU_ASSERT(w.met < (uint64_t)CONTENTS * (CONTENTS - 1) / 4);
    CU_ASSERT_EQUAL(w.similar, pairs);
    sp_partition_done(&map);
    drop_sample(&s);
}

TEST(lossless_maps_lose_no_pair_and_share_the_work)
{
    struct sp_similarity_options o = {.threshold = 0.8};
    struct sp_distinct s = make_sample();
    uint64_t pairs = pairs_of(&s, &o);
    for (size_t k = 0; k < SP_MAP_KINDS; k++) {
        struct sp_partition_map map;
        struct sp_work scan, index;
        const struct sp_map_kind *kind = &sp_map_kinds[k];
        CU_ASSERT_EQUAL_FATAL(sp_kind_train(kind, &s, 16, o.threshold, &map), SP_OK);
        struct sp_work_options work = work_of(&s, &map, kind->split);
        sp_work_run(&work, SP_WORK_SCAN, 0, &scan);
        sp_work_run(&work, SP_WORK_INDEX, 0, &index);
        CU_ASSERT_EQUAL(scan.similar, pairs);
        CU_ASSERT_EQUAL(index.similar, pairs);
        CU_ASSERT(scan.met_most < (uint64_t)CONTENTS * (CONTENTS - 1) / 2);
        sp_partition_done(&map);
    }
    drop_sample(&s);
}

TEST(bounded_routing_meets_fewer_and_a_sample_of_scans_says_what_all_would_meet)
{
    struct sp_distinct s = make_sample();
    struct sp_partition_map map;
    struct sp_work all, part, bounded;
    CU_ASSERT_EQUAL_FATAL(sp_kind_train(&sp_map_kinds[SP_MAP_KINDS - 1], &s, 16, 0.8, &map), SP_OK);
    struct sp_work_options work = work_of(&s, &map, SP_SPLIT_SETTINGS);
    sp_work_run(&work, SP_WORK_SCAN, 0, &all);
    sp_work_run(&work, SP_WORK_SCAN, 3000, &part);
    work.routing = SP_ROUTING_BOUNDED;
    sp_work_run(&work, SP_WORK_SCAN, 0, &bounded);
    CU_ASSERT_EQUAL(all.met, part.met);
    CU_ASSERT(part.similar < all.similar);
    CU_ASSERT(bounded.met < all.met);
    sp_partition_done(&map);
    drop_sample(&s);
}

TEST(machines_that_stay_idle_count_in_the_imbalance)
{
    struct sp_distinct s = make_sample();
    struct sp_partition_map map;
    CU_ASSERT_EQUAL_FATAL(sp_partition_default(1, &map), SP_OK);
    const struct sp_kind_routing routing = {0.8, SP_ROUTING_LOSSLESS, 1};
    struct sp_kind_measure m = sp_kind_measure(&map, &s, SP_SPLIT_SETTINGS, 8, &routing);
    CU_ASSERT_DOUBLE_EQUAL(m.imbalance, 8, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(m.visited, 1, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(m.saved, 1, 1e-9);
    sp_partition_done(&map);
    drop_sample(&s);
}
