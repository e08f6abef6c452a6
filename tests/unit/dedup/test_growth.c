/* The comparisons of a document do not grow with the collection, whatever its skew: counts at n and
 * at 4n. tests/integration/dedup.py checks the results. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "dedup/dedup.h"
#include "harness.h"
#include "skewed.h"

enum { FEW = 1500 };

static struct sp_dedup_result dedup_file(const char *name)
{
    struct sp_dedup_result result;
    struct sp_fault fault;
    const char *inputs[] = {name};
    struct sp_dedup_options o = {.inputs = inputs,
                                 .input_count = 1,
                                 .threads = 1,
                                 .barrier_pages = 1000,
                                 .cache_bytes = 64 << 20};
    sp_text_options_default(&o.text);
    sp_input_options_default(&o.input);
    sp_similarity_options_default(&o.similarity);
    CU_ASSERT_EQUAL_FATAL(sp_dedup(&o, &result, &fault), SP_OK);
    return result;
}

static struct sp_dedup_result dedup(const char *kind, uint64_t fetches)
{
    struct skewed crawl;
    skewed_make(&crawl, kind, fetches);
    struct sp_dedup_result result = dedup_file(crawl.name);
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

/* Documents of ten sentences each, of a hundred that all share: most pairs share one, and few share
 * enough to be candidates. */
static struct sp_dedup_result dedup_sentences(uint64_t documents)
{
    enum { SENTENCES = 100, OF_A_DOCUMENT = 10, WORDS = 12 };
    char name[] = "/tmp/samepage-sentences-XXXXXX.jsonl";
    FILE *file = fdopen(mkstemps(name, 6), "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    for (uint64_t d = 0; d < documents; d++) {
        fprintf(file,
                "{\"url\":\"http://a.example/%llu\",\"content_type\":\"text/plain\",\"content\":\"",
                (unsigned long long)d);
        for (unsigned i = 0; i < OF_A_DOCUMENT; i++) {
            unsigned sentence = (unsigned)(sp_mix64(d * OF_A_DOCUMENT + i) % SENTENCES);
            for (unsigned w = 0; w < WORDS; w++)
                fprintf(file, "s%uw%u ", sentence, w);
        }
        fprintf(file, "\"}\n");
    }
    fclose(file);
    struct sp_dedup_result result = dedup_file(name);
    unlink(name);
    return result;
}

TEST(documents_that_share_sentences_do_not_read_long_lists_again_and_again)
{
    struct sp_dedup_result few = dedup_sentences(FEW), many = dedup_sentences(4ull * FEW);
    printf("sentences: %llu postings and %llu compared at %llu, %llu and %llu at %llu\n",
           (unsigned long long)few.walked, (unsigned long long)few.compared,
           (unsigned long long)few.documents, (unsigned long long)many.walked,
           (unsigned long long)many.compared, (unsigned long long)many.documents);
    CU_ASSERT(many.walked - few.walked < 300 * (many.documents - few.documents));
}
