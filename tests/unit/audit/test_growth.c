/* The comparisons of a document do not grow with the collection, whatever its skew and whatever was
 * removed of it: counts at n and at 4n. tests/integration/audit.py checks the figures. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "audit/audit.h"
#include "harness.h"
#include "skewed.h"

enum { FEW = 1000, MOST_PAIRS = 2000, MOST_SENTENCES = 1024 };

/* Removes all documents, none, or every second one by its number. */
enum removal { ALL, NONE, SECOND };

static struct sp_audit_result audit(enum sp_method method, const char *kind, uint64_t fetches,
                                    enum removal removal)
{
    struct skewed crawl;
    struct sp_audit_result result;
    struct sp_fault fault;
    char list[80], line[1 << 16];
    skewed_make(&crawl, kind, fetches);
    snprintf(list, sizeof list, "%s.removed", crawl.name);
    FILE *in = fopen(crawl.name, "r"), *out = fopen(list, "w");
    CU_ASSERT_FATAL(in && out);
    for (int n = 0; fgets(line, sizeof line, in); n++)
        if (removal == ALL || (removal == SECOND && n % 2))
            fprintf(out, "{\"url\":\"%.*s\"}\n", (int)strcspn(line + 8, "\""), line + 8);
    CU_ASSERT_EQUAL(fclose(in) | fclose(out), 0);
    const char *inputs[] = {crawl.name};
    struct sp_audit_options o = {.inputs = inputs,
                                 .input_count = 1,
                                 .removed = list,
                                 .threads = 1,
                                 .most_comparisons = MOST_PAIRS};
    sp_text_options_default(&o.text);
    sp_input_options_default(&o.input);
    sp_similarity_options_default(&o.similarity);
    o.text.signature.method = o.similarity.method = method;
    o.text.signature.max_sentences = sp_method_info(method)->sentences ? MOST_SENTENCES : 0;
    o.similarity.threshold = sp_method_info(method)->threshold;
    CU_ASSERT_EQUAL_FATAL(sp_audit(&o, &result, &fault), SP_OK);
    unlink(list);
    skewed_remove(&crawl);
    return result;
}

static void check(enum sp_method method, const char *kind, enum removal removal)
{
    struct sp_audit_result few = audit(method, kind, FEW, removal);
    struct sp_audit_result many = audit(method, kind, 4ull * FEW, removal);
    CU_ASSERT(removal != ALL || many.removed == many.documents);
    CU_ASSERT(removal != SECOND || (many.removed > 0 && many.removed < many.documents));
    double once = (double)few.compared / (double)few.documents;
    double more = (double)many.compared / (double)many.documents;
    printf("%s, %s, %d: %.1f compared a document at %d, %.1f at %d\n", sp_method_info(method)->name,
           kind, removal, once, FEW, more, 4 * FEW);
    CU_ASSERT(more <= 1.5 * once + 1);
    CU_ASSERT(many.missed_pairs <= MOST_PAIRS || many.missed_pairs_at_least || removal != NONE);
}

TEST(a_document_of_a_large_group_is_compared_with_few_whatever_was_removed)
{
    static const char *const kinds[] = {"near-words", "near-percent", "near-url",     "template",
                                        "chainlike",  "zipf",         "outrank-near", "unlike"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        for (int removal = ALL; removal <= SECOND; removal++)
            check(SP_METHOD_SHINGLES, kinds[i], removal);
}

/* The nearest is found at higher thresholds, with other indexes. Simhash, cosine and lcs still try
 * the members of a star one by one, and so does the combined method where many pairs have the
 * shingles but not the sentences (stars/stars.h). */
TEST(so_it_is_by_the_combined_method)
{
    check(SP_METHOD_COMBINED, "near-words", SECOND);
    check(SP_METHOD_COMBINED, "chainlike", SECOND);
}
