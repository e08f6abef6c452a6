/* The pairs that a document is compared with do not grow with the collection, whatever its skew,
 * and the rounds in which documents are asked grow with its logarithm: counts at n and at 4n.
 * tests/integration/cover.py checks the results. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/hash.h"
#include "cover/cover.h"
#include "harness.h"
#include "skewed.h"

enum { FEW = 1000, COVERERS = 16 };

static struct sp_cover_result cover_file(const char *name, const char *relation)
{
    struct sp_cover_result result;
    struct sp_fault fault;
    const char *inputs[] = {name};
    struct sp_cover_options o = {.inputs = inputs,
                                 .input_count = 1,
                                 .relation = relation,
                                 .temp = "/tmp",
                                 .memory_bytes = 256 << 20,
                                 .exact_documents = 256,
                                 .coverers = COVERERS,
                                 .threads = 1};
    sp_text_options_default(&o.text);
    sp_input_options_default(&o.input);
    CU_ASSERT_EQUAL_FATAL(sp_cover(&o, &result, &fault), SP_OK);
    return result;
}

static struct sp_cover_result cover(const char *kind, uint64_t fetches, const char *relation)
{
    struct skewed crawl;
    skewed_make(&crawl, kind, fetches);
    struct sp_cover_result result = cover_file(crawl.name, relation);
    skewed_remove(&crawl);
    return result;
}

/* Where a document is. */
enum hosts { ONE, ALL_BUT_TWO, TEN };

/* Covers copies of one text, or near copies, in which one word of 200 is another. */
static struct sp_cover_result cover_copies(uint32_t documents, bool near, enum hosts hosts,
                                           const char *relation)
{
    char name[] = "/tmp/samepage-copies-XXXXXX.jsonl";
    FILE *file = fdopen(mkstemps(name, 6), "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    for (uint32_t i = 0; i < documents; i++) {
        uint32_t host = hosts == TEN ? i % 10 : hosts == ALL_BUT_TWO && i < 2 ? i : 2;
        fprintf(file, "{\"url\":\"https://h%u.example/%u\",\"popularity\":%u,\"content\":\"", host,
                i, i == 0 ? 2 : i % 2);
        for (uint32_t word = 0; word < 200; word++)
            fprintf(file, " w%u", near && word == i % 191 ? 1000 + i : word);
        fprintf(file, "\"}\n");
    }
    fclose(file);
    struct sp_cover_result result = cover_file(name, relation);
    unlink(name);
    return result;
}

/* Covers texts of 10 sentences, drawn from a stock of 40: each has about a quarter of the sentences
 * of any other. */
static struct sp_cover_result cover_sentences(uint32_t documents, const char *relation)
{
    char name[] = "/tmp/samepage-sentences-XXXXXX.jsonl";
    FILE *file = fdopen(mkstemps(name, 6), "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    for (uint32_t i = 0; i < documents; i++) {
        uint32_t drawn = 0;
        fprintf(file, "{\"url\":\"https://%u.example/\",\"content\":\"", i);
        for (uint32_t sentence = 0; drawn < 10; sentence++)
            if (sp_mix64(i * 40ull + sentence) % (40 - sentence) < 10 - drawn) {
                for (uint32_t word = 0; word < 20; word++)
                    fprintf(file, " s%uw%u", sentence, word);
                drawn++;
            }
        fprintf(file, "\"}\n");
    }
    fclose(file);
    struct sp_cover_result result = cover_file(name, relation);
    unlink(name);
    return result;
}

static struct sp_cover_result cover_without_words(uint64_t documents, const char *relation)
{
    char name[] = "/tmp/samepage-empty-XXXXXX.jsonl";
    FILE *file = fdopen(mkstemps(name, 6), "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    for (uint64_t i = 0; i < documents; i++)
        fprintf(file, "{\"url\":\"https://%llu.example/\",\"content\":\"\"}\n",
                (unsigned long long)i);
    fclose(file);
    struct sp_cover_result result = cover_file(name, relation);
    unlink(name);
    return result;
}

static void check(const char *kind, const char *relation)
{
    struct sp_cover_result few = cover(kind, FEW, relation);
    struct sp_cover_result many = cover(kind, 4ull * FEW, relation);
    double once = (double)few.candidates / (double)few.documents;
    double more = (double)many.candidates / (double)many.documents;
    printf("%s, %s: %.1f compared a document at %d, %.1f at %d; %llu rounds, %llu\n", kind,
           relation, once, FEW, more, 4 * FEW, (unsigned long long)few.rounds,
           (unsigned long long)many.rounds);
    /* A document is asked until COVERERS later ones cover it: a logarithm of their number. The
     * groups of zipf grow. */
    CU_ASSERT(more <= 1.8 * once + 8);
    /* 17, 34, 68 ... documents, and one round at the end */
    CU_ASSERT(few.rounds <= 8);
    CU_ASSERT(many.rounds <= few.rounds + 3);
}

/* Pages that differ from the original by just as much as pages may hardly resemble any other one.
 * They are all asked (arcs.h), and meet those that they resemble. */
TEST(documents_that_resemble_hardly_any_of_many_are_not_compared_with_the_others)
{
    for (uint64_t n = FEW; n <= 4ull * FEW; n *= 4) {
        struct sp_cover_result r = cover("near-percent", n, "jaccard(a, b) >= 0.8");
        double vain = (double)(r.candidates - r.arcs) / (double)r.documents;
        printf("%.2f compared in vain a document at %llu, %.2f others\n", vain,
               (unsigned long long)n, (double)r.arcs / (double)r.documents);
        CU_ASSERT(vain <= 4);
    }
}

/* Of so few sentences, each is in the prefix of many documents, so that most pairs meet: their
 * patterns tell that they share too little. */
TEST(documents_of_the_same_few_sentences_are_hardly_compared)
{
    for (uint32_t n = FEW; n <= 4 * FEW; n *= 4) {
        struct sp_cover_result r = cover_sentences(n, "containment(a, b) >= 0.7");
        double vain = (double)(r.candidates - r.arcs) / r.documents;
        printf("%.2f compared in vain a document at %u\n", vain, n);
        CU_ASSERT_EQUAL(r.documents, n);
        CU_ASSERT(vain <= n / 500.0); /* of the pairs, 0.2 % */
        r = cover_sentences(n, "jaccard(a, b) >= 0.8");
        printf("%llu compared at %u\n", (unsigned long long)r.candidates, n);
        CU_ASSERT(r.candidates <= n / 100);
    }
}

/* They share nothing, but are of one content. */
TEST(documents_without_words_are_not_compared_with_one_another)
{
    static const char *const relations[] = {
        "jaccard(a, b) >= 0.8", "containment(a, b) >= 0.7 && a.timestamp <= b.timestamp",
        "containment(a, b) >= 0.7 && a.host != b.host"};
    for (size_t i = 0; i < sizeof relations / sizeof *relations; i++)
        for (uint64_t n = FEW; n <= 4ull * FEW; n *= 4) {
            struct sp_cover_result r = cover_without_words(n, relations[i]);
            CU_ASSERT_EQUAL(r.documents, n);
            CU_ASSERT_EQUAL(r.kept, n);
            CU_ASSERT_EQUAL(r.evaluated, 0);
        }
    /* Without a measure the relation decides. */
    struct sp_cover_result r = cover_without_words(20, "a.mime = b.mime");
    CU_ASSERT_EQUAL(r.kept, 1);
}

/* Documents of one host, which the relation keeps apart, have no coverers, so all are asked. */
TEST(documents_that_a_condition_keeps_apart_are_not_compared)
{
    static const char *const relations[] = {
        "containment(a, b) >= 0.7 && a.host != b.host",
        "jaccard(a, b) >= 0.8 && a.url != b.url && !(a.host = b.host)"};
    for (int near = 0; near <= 1; near++)
        for (enum hosts hosts = ONE; hosts <= TEN; hosts++)
            for (uint32_t n = FEW; n <= 4 * FEW; n *= 4) {
                struct sp_cover_result r =
                    cover_copies(n, near, hosts, relations[(n / FEW + hosts) % 2]);
                printf("near %d, hosts %d: %llu compared, %llu evaluated, %llu pairs of %u\n", near,
                       hosts, (unsigned long long)r.candidates, (unsigned long long)r.evaluated,
                       (unsigned long long)r.arcs, n);
                CU_ASSERT_EQUAL(r.documents, n);
                CU_ASSERT(r.kept == (hosts == ONE ? n : 1) || hosts == TEN);
                CU_ASSERT(r.candidates <= r.arcs + n);
                /* In one of ten hosts, a document is also asked with others of its host. */
                CU_ASSERT(r.evaluated <= r.arcs + (hosts == TEN ? r.arcs / 2 : 0) + n);
            }
}

/* Two hosts, and pages of one title, apart from one document that has nothing in common with them:
 * by both conditions there are two classes in all, and by the title one in the crowd. */
TEST(documents_that_one_of_two_conditions_keeps_apart_are_not_compared)
{
    static const char *const relations[] = {
        "containment(a, b) >= 0.7 && a.host != b.host && a.title != b.title",
        "containment(a, b) >= 0.7 && a.title != b.title && a.host != b.host"};
    for (size_t i = 0; i < sizeof relations / sizeof *relations; i++)
        for (uint32_t n = FEW; n <= 4 * FEW; n *= 4) {
            char name[] = "/tmp/samepage-titles-XXXXXX.jsonl";
            FILE *file = fdopen(mkstemps(name, 6), "w");
            CU_ASSERT_PTR_NOT_NULL_FATAL(file);
            for (uint32_t k = 0; k < n; k++)
                fprintf(file,
                        "{\"url\":\"https://h%u.example/%u\",\"content\":\"<title>%s</title>"
                        "<p>%s\"}\n",
                        k % 2, k, k ? "one" : "two",
                        k ? "a b c d e f g h i j k l m n o p q" : "z y x w v u t s r q p o n m l");
            fclose(file);
            struct sp_cover_result r = cover_file(name, relations[i]);
            unlink(name);
            printf("%s: %llu evaluated of %u\n", relations[i], (unsigned long long)r.evaluated, n);
            CU_ASSERT_EQUAL(r.kept, n);
            CU_ASSERT_EQUAL(r.contents, 2);
            CU_ASSERT(r.evaluated <= n);
        }
}

/* Documents of one value do not cover one another by `<`, so all are asked. The popularity is 2 of
 * the first, and of the others in turn 1 and 0. */
TEST(documents_that_a_strict_order_keeps_apart_are_not_compared)
{
    static const char *const relations[] = {
        "containment(a, b) >= 0.7 && a.timestamp < b.timestamp",
        "jaccard(a, b) >= 0.8 && b.popularity - a.popularity > 1",
        "dice(a, b) >= 0.85 && a.length > b.length"};
    for (int near = 0; near <= 1; near++)
        for (size_t i = 0; i < sizeof relations / sizeof *relations; i++)
            for (uint32_t n = FEW; n <= 4 * FEW; n *= 4) {
                struct sp_cover_result r = cover_copies(n, near, ONE, relations[i]);
                printf("near %d, %s: %llu compared, %llu evaluated, %llu pairs of %u\n", near,
                       relations[i], (unsigned long long)r.candidates,
                       (unsigned long long)r.evaluated, (unsigned long long)r.arcs, n);
                CU_ASSERT_EQUAL(r.documents, n);
                CU_ASSERT_EQUAL(r.kept, i == 1 ? n / 2 + 1 : n);
                CU_ASSERT(r.candidates <= r.arcs + n);
                CU_ASSERT(r.evaluated <= r.arcs + n);
            }
}

TEST(a_document_is_compared_with_few_in_few_rounds)
{
    /* By jaccard, in the first a document has more near duplicates the more there are. */
    static const char *const kinds[] = {"near-percent", "near-words", "near-url",     "template",
                                        "chainlike",    "zipf",       "outrank-near", "unlike"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (i > 0)
            check(kinds[i], "jaccard(a, b) >= 0.8");
        if (i > 0)
            check(kinds[i], "dice(a, b) >= 0.85 && a.timestamp <= b.timestamp");
        check(kinds[i], "containment(a, b) >= 0.7");
    }
}
