/* The comparisons of a document do not grow with the collection, whatever its skew: counts at n and
 * at 4n. tests/integration/dedup.py checks the results. */
#include <stdio.h>

#include "dedup/dedup.h"
#include "harness.h"
#include "skewed.h"

enum { FEW = 1500 };

static struct sp_dedup_result dedup(const char *kind, uint64_t fetches)
{
    struct skewed crawl;
    struct sp_dedup_result result;
    struct sp_fault fault;
    skewed_make(&crawl, kind, fetches);
    const char *inputs[] = {crawl.name};
    struct sp_dedup_options o = {.inputs = inputs,
                                 .input_count = 1,
                                 .threads = 1,
                                 .barrier_pages = 1000,
                                 .cache_bytes = 64 << 20};
    sp_text_options_default(&o.text);
    sp_input_options_default(&o.input);
    sp_similarity_options_default(&o.similarity);
    CU_ASSERT_EQUAL_FATAL(sp_dedup(&o, &result, &fault), SP_OK);
    skewed_remove(&crawl);
    return result;
}

TEST(a_document_of_a_template_or_a_loose_family_is_compared_with_few)
{
    static const char *const kinds[] = {"template", "near-percent", "near-words", "chainlike",
                                        "zipf",     "unlike",       "recover"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct sp_dedup_result few = dedup(kinds[i], FEW), many = dedup(kinds[i], 4ull * FEW);
        uint64_t more = many.compared - few.compared, documents = many.documents - few.documents;
        printf("%s: %llu compared at %llu, %llu at %llu\n", kinds[i],
               (unsigned long long)few.compared, (unsigned long long)few.documents,
               (unsigned long long)many.compared, (unsigned long long)many.documents);
        CU_ASSERT(many.compared >= few.compared);
        CU_ASSERT(more <= 40 * documents);
    }
}
