/* The end of a redirect chain and the number of redirects to a page, against a plain walk. */
#include "base/hash.h"
#include "base/mem.h"
#include "group/ends.h"
#include "harness.h"

enum { PAGES = 60, STEPS = 20000, NOWHERE = PAGES };

struct forest {
    struct sp_end *ends[PAGES];
    uint32_t target[PAGES];
};

static uint32_t root_of(const struct forest *f, uint32_t page)
{
    while (f->target[page] != NOWHERE)
        page = f->target[page];
    return page;
}

static bool lies_behind(const struct forest *f, uint32_t page, uint32_t of)
{
    for (; page != NOWHERE; page = f->target[page])
        if (page == of)
            return true;
    return false;
}

static size_t wrong_about(struct forest *f, uint32_t page)
{
    uint32_t size = 0;
    for (uint32_t i = 0; i < PAGES; i++)
        size += lies_behind(f, i, page);
    return (sp_end_root(f->ends[page]) != f->ends[root_of(f, page)]) +
           (sp_end_size(f->ends[page]) != size);
}

TEST(ends_and_sizes_are_those_of_a_plain_walk)
{
    struct forest f;
    size_t wrong = 0;
    for (uint32_t i = 0; i < PAGES; i++) {
        f.ends[i] = sp_end_new(NULL);
        f.target[i] = NOWHERE;
    }
    for (uint64_t step = 1; step <= STEPS; step++) {
        uint64_t x = sp_mix64(step);
        uint32_t page = (uint32_t)(x >> 8) % PAGES, to = (uint32_t)(x >> 32) % PAGES;
        if (f.target[page] != NOWHERE) {
            sp_end_cut(f.ends[page]);
            f.target[page] = NOWHERE;
        } else if (root_of(&f, to) != page) {
            sp_end_link(f.ends[page], f.ends[to]);
            f.target[page] = to;
        }
        wrong += wrong_about(&f, (uint32_t)(x >> 50) % PAGES);
    }
    CU_ASSERT_EQUAL(wrong, 0);
    for (uint32_t i = 0; i < PAGES; i++)
        sp_free(f.ends[i]);
}

/* The pages of a chain are linked one after another, and its first page is looked up each time. */
TEST(a_look_up_in_a_chain_of_a_million_is_not_linear)
{
    enum { HOPS = 1000 * 1000 };
    struct sp_end **chain = sp_alloc(HOPS * sizeof *chain);
    chain[0] = sp_end_new(NULL);
    size_t wrong = 0;
    for (uint32_t i = 1; i < HOPS; i++) {
        chain[i] = sp_end_new(NULL);
        sp_end_link(chain[i - 1], chain[i]); /* grows at its end, in the order of crawling */
        wrong += sp_end_root(chain[0]) != chain[i];
    }
    CU_ASSERT_EQUAL(wrong, 0);
    CU_ASSERT_EQUAL(sp_end_size(chain[HOPS - 1]), HOPS);
    for (uint32_t i = 0; i < HOPS; i++)
        sp_free(chain[i]);
    sp_free(chain);
}
