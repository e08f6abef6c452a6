/* The public index against a comparison of all pairs. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "harness.h"
#include "samepage/index.h"

enum { WORDS = 60, MOST = 400, TEXT = WORDS * 8 };

static uint64_t state = 1;

static uint32_t chance(uint32_t below)
{
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(state >> 33) % below;
}

struct texts {
    uint32_t words[MOST][WORDS];
    size_t count;
};

/* Families whose members differ from an earlier one by a word or two; some are equal. */
static void make_texts(struct texts *t, size_t count)
{
    t->count = count;
    for (size_t i = 0; i < count; i++) {
        size_t from = chance((uint32_t)i + 1);
        for (size_t w = 0; w < WORDS; w++)
            t->words[i][w] = i % 12 == 0 ? chance(5000) : t->words[from][w];
        for (uint32_t changes = chance(3); changes; changes--)
            t->words[i][chance(WORDS)] = chance(5000);
    }
}

static struct samepage_signature *read_text(struct samepage_reader *reader, const struct texts *t,
                                            size_t i)
{
    char text[TEXT + 1];
    size_t at = 0;
    for (size_t w = 0; w < WORDS; w++)
        at += (size_t)snprintf(text + at, sizeof text - at, "w%u ", t->words[i][w]);
    return samepage_read(reader, text, at, "text/plain");
}

struct world {
    struct samepage_reader *reader;
    struct samepage_index *index;
    struct texts texts;
    struct samepage_signature *signatures[MOST];
    uint32_t text_of[MOST]; /* each document's text; MOST: no document */
};

static void start(struct world *w, const char *const *settings, size_t count)
{
    char error[256] = "";
    memset(w, 0, sizeof *w);
    w->reader = samepage_reader_new(settings, error, sizeof error);
    w->index = samepage_index_new(settings, error, sizeof error);
    CU_ASSERT_STRING_EQUAL_FATAL(error, "");
    CU_ASSERT_FATAL(w->reader && w->index);
    make_texts(&w->texts, count);
    for (size_t i = 0; i < count; i++)
        w->signatures[i] = read_text(w->reader, &w->texts, i);
    for (size_t i = 0; i < MOST; i++)
        w->text_of[i] = MOST;
}

static void end(struct world *w)
{
    for (size_t i = 0; i < w->texts.count; i++)
        samepage_signature_free(w->signatures[i]);
    samepage_index_free(w->index);
    samepage_reader_free(w->reader);
}

static uint32_t add(struct world *w, uint32_t text)
{
    uint32_t document = MOST;
    CU_ASSERT_EQUAL_FATAL(samepage_index_add(w->index, w->signatures[text], &document), 0);
    CU_ASSERT_FATAL(document < MOST && w->text_of[document] == MOST);
    w->text_of[document] = text;
    return document;
}

static void drop(struct world *w, uint32_t document)
{
    CU_ASSERT_EQUAL(samepage_index_remove(w->index, document), 0);
    CU_ASSERT_EQUAL(samepage_index_remove(w->index, document), SAMEPAGE_INDEX_NO_DOCUMENT);
    w->text_of[document] = MOST;
}

/* The matches of a text equal a comparison with every document. */
static size_t check_query(struct world *w, uint32_t text)
{
    struct samepage_match found[MOST], nearest;
    const struct samepage_signature *asked = w->signatures[text];
    int64_t count = samepage_index_query(w->index, asked, found, MOST);
    size_t similar = 0;
    bool is_found[MOST] = {false};
    CU_ASSERT_FATAL(count >= 0 && count <= MOST);
    for (int64_t i = 0; i < count; i++) {
        CU_ASSERT_FATAL(!is_found[found[i].document]);
        is_found[found[i].document] = true;
        CU_ASSERT(i == 0 || found[i].similarity <= found[i - 1].similarity);
    }
    for (size_t d = 0; d < MOST; d++) {
        bool wanted = w->text_of[d] < MOST &&
                      samepage_index_similar(w->index, asked, w->signatures[w->text_of[d]]);
        similar += wanted;
        CU_ASSERT_EQUAL(is_found[d], wanted);
    }
    CU_ASSERT_EQUAL(samepage_index_nearest(w->index, asked, &nearest), similar > 0);
    if (similar) {
        CU_ASSERT(is_found[nearest.document]);
        CU_ASSERT_EQUAL(nearest.similarity,
                        samepage_index_similarity(w->index, asked,
                                                  w->signatures[w->text_of[nearest.document]]));
    }
    CU_ASSERT_EQUAL(samepage_index_query(w->index, asked, NULL, 0), count);
    return similar;
}

static void check_method(const char *method)
{
    const char *settings[] = {"similarity.method", method, NULL};
    struct world w;
    size_t similar = 0, live = 0;
    start(&w, settings, 300);
    for (uint32_t step = 0; step < 900; step++) {
        uint32_t document = chance(MOST);
        if (w.text_of[document] < MOST && chance(3)) {
            drop(&w, document);
            live--;
        } else if (live < MOST) {
            add(&w, chance(300));
            live++;
        }
        if (step % 10 == 0)
            similar += check_query(&w, chance(300));
        CU_ASSERT_EQUAL(samepage_index_count(w.index), live);
    }
    CU_ASSERT(similar > 100); /* the test must see similar pairs */
    for (uint32_t d = 0; d < MOST; d++)
        if (w.text_of[d] < MOST)
            drop(&w, d);
    CU_ASSERT_EQUAL(samepage_index_count(w.index), 0);
    CU_ASSERT_EQUAL(check_query(&w, 0), 0);
    end(&w);
}

TEST(finds_what_a_look_at_all_documents_finds)
{
    check_method("shingles");
}

TEST(an_index_by_keys_finds_what_is_similar)
{
    check_method("simhash");
    check_method("combined");
}

/* Texts of 5, 10 and 15 distinct words. The same five occur a hundred times in each, so the cosine
 * is near 1 whatever the others are. */
TEST(a_text_is_found_by_cosine_in_one_of_more_words)
{
    enum { TEXTS = 3, COMMON = 5, TIMES = 100 };
    static const char *const settings[] = {"similarity.method", "cosine", NULL};
    struct world w;
    struct samepage_match found[TEXTS];
    struct sp_buf text = {0};
    uint32_t document;
    char word[16];
    start(&w, settings, 0);
    for (int i = 0; i < COMMON * TIMES; i++) {
        snprintf(word, sizeof word, "w%d ", i % COMMON);
        sp_buf_put_str(&text, word);
    }
    for (int i = 0; i < TEXTS; i++) {
        struct samepage_signature *s = samepage_read(w.reader, text.data, text.len, "text/plain");
        CU_ASSERT_EQUAL(samepage_index_query(w.index, s, found, TEXTS), i);
        for (int k = 0; k < i; k++)
            CU_ASSERT(found[k].similarity > 0.999);
        CU_ASSERT_EQUAL(samepage_index_add(w.index, s, &document), 0);
        samepage_signature_free(s);
        for (int own = 0; own < COMMON; own++) {
            snprintf(word, sizeof word, "x%d ", i * COMMON + own);
            sp_buf_put_str(&text, word);
        }
    }
    sp_buf_done(&text);
    end(&w);
}

TEST(a_text_without_words_is_similar_to_nothing)
{
    char error[256];
    struct samepage_reader *reader = samepage_reader_new(NULL, error, sizeof error);
    struct samepage_index *index = samepage_index_new(NULL, error, sizeof error);
    struct samepage_signature *empty = samepage_read(reader, " \n", 2, NULL);
    struct samepage_match match;
    uint32_t document;
    CU_ASSERT_EQUAL(samepage_signature_size(empty), 0);
    CU_ASSERT_EQUAL(samepage_index_add(index, empty, &document), 0);
    CU_ASSERT_EQUAL(samepage_index_count(index), 1);
    CU_ASSERT_EQUAL(samepage_index_nearest(index, empty, &match), 0);
    CU_ASSERT_EQUAL(samepage_index_similar(index, empty, empty), 0);
    CU_ASSERT_EQUAL(samepage_index_remove(index, document), 0);
    samepage_signature_free(empty);
    samepage_index_free(index);
    samepage_reader_free(reader);
}

TEST(a_charset_is_that_of_the_type_or_of_the_text)
{
    static const char latin[] =
        "<meta charset=latin1><p>d\xe9j\xe0 vu, \xe0 c\xf4t\xe9 de l'h\xf4tel";
    static const char utf8[] =
        "<meta charset=latin1><p>d\u00e9j\u00e0 vu, \u00e0 c\u00f4t\u00e9 de l'h\u00f4tel";
    char error[256];
    struct samepage_reader *reader = samepage_reader_new(NULL, error, sizeof error);
    struct samepage_index *index = samepage_index_new(NULL, error, sizeof error);
    struct samepage_signature *a = samepage_read(reader, latin, strlen(latin), NULL);
    struct samepage_signature *b = samepage_read(reader, utf8, strlen(utf8), "; charset=utf-8");
    struct samepage_signature *c = samepage_read(reader, utf8, strlen(utf8), "text/html");
    CU_ASSERT_EQUAL(samepage_index_similarity(index, a, b), 1);
    CU_ASSERT(samepage_index_similarity(index, a, c) < 1);
    samepage_signature_free(a);
    samepage_signature_free(b);
    samepage_signature_free(c);
    samepage_index_free(index);
    samepage_reader_free(reader);
}

TEST(packed_signatures_come_back)
{
    struct world w;
    start(&w, NULL, 2);
    uint32_t document = add(&w, 0);
    struct samepage_signature *held = samepage_index_get(w.index, document);
    char bytes[4096];
    size_t size = samepage_signature_pack(held, NULL, 0);
    CU_ASSERT_FATAL(size <= sizeof bytes);
    CU_ASSERT_EQUAL(samepage_signature_pack(held, bytes, sizeof bytes), size);
    struct samepage_signature *back = samepage_signature_unpack(bytes, size);
    CU_ASSERT_PTR_NOT_NULL_FATAL(back);
    CU_ASSERT_EQUAL(samepage_index_similarity(w.index, back, w.signatures[0]), 1);
    CU_ASSERT_PTR_NULL(samepage_signature_unpack(bytes, size - 1));
    CU_ASSERT_PTR_NULL(samepage_index_get(w.index, document + 1));
    samepage_signature_free(back);
    samepage_signature_free(held);
    end(&w);
}

TEST(settings_that_are_wrong_are_named)
{
    static const char *const wrong[][3] = {{"similarity.threshold", "2", NULL},
                                           {"similarity.methode", "lcs", NULL},
                                           {"state.directory", "x", NULL},
                                           {"similarity.threshold", NULL, NULL}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char error[256] = "";
        CU_ASSERT_PTR_NULL(samepage_index_new(wrong[i], error, sizeof error));
        CU_ASSERT_PTR_NOT_NULL(strstr(error, wrong[i][0]));
        CU_ASSERT_PTR_NULL(samepage_reader_new(wrong[i], NULL, 0));
    }
}

TEST(settings_reach_the_reader)
{
    static const char *const little[] = {"text.max_bytes", "64 KiB", NULL};
    enum { BYTES = 1 << 18 };
    static char text[BYTES];
    char error[256] = "";
    uint32_t sizes[2];
    for (size_t i = 0, word = 0; i + 8 < BYTES; word++)
        i += (size_t)snprintf(text + i, BYTES - i, "w%zu ", word % 100000);
    for (size_t i = 0; i < 2; i++) {
        struct samepage_reader *reader =
            samepage_reader_new(i ? little : NULL, error, sizeof error);
        CU_ASSERT_STRING_EQUAL_FATAL(error, "");
        struct samepage_signature *signature = samepage_read(reader, text, strlen(text), NULL);
        sizes[i] = samepage_signature_size(signature);
        samepage_signature_free(signature);
        samepage_reader_free(reader);
    }
    CU_ASSERT(sizes[1] > 0 && sizes[1] < sizes[0] / 2);
}

TEST(a_signature_of_other_settings_is_refused)
{
    static const char *const other[] = {"signature.max_shingles", "128", NULL};
    struct world w;
    char error[256];
    uint32_t document;
    struct samepage_match match;
    start(&w, NULL, 1);
    struct samepage_reader *reader = samepage_reader_new(other, error, sizeof error);
    struct samepage_signature *foreign = read_text(reader, &w.texts, 0);
    CU_ASSERT_EQUAL(samepage_index_add(w.index, foreign, &document), SAMEPAGE_INDEX_FOREIGN);
    CU_ASSERT_EQUAL(samepage_index_nearest(w.index, foreign, &match), SAMEPAGE_INDEX_FOREIGN);
    CU_ASSERT_EQUAL(samepage_index_query(w.index, foreign, NULL, 0), SAMEPAGE_INDEX_FOREIGN);
    CU_ASSERT_EQUAL(samepage_index_similarity(w.index, foreign, foreign), 0);
    CU_ASSERT_EQUAL(samepage_index_similar(w.index, foreign, foreign), 0);
    samepage_signature_free(foreign);
    samepage_reader_free(reader);
    end(&w);
}
