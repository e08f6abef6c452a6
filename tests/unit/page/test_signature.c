/* Shingles, signatures and their packed form; golden values fix the stored format. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/mem.h"
#include "base/order.h"
#include "harness.h"
#include "page/builder.h"
#include "page/shingles.h"

/* Change these only together with SP_SIGNATURE_VERSION. */
#define GOLDEN_SHINGLES 2998445616u
#define GOLDEN_PACKED 8268121565624501535ull

static struct sp_signature *make(enum sp_repeats repeats, uint32_t max_shingles,
                                 const uint64_t *words, size_t count)
{
    struct sp_signature_options o = {.max_shingles = max_shingles, .repeats = repeats};
    struct sp_builder *b = sp_builder_new(&o);
    sp_builder_begin(b);
    sp_builder_words(b, words, count);
    struct sp_signature *s = sp_builder_finish(b, 0x656e);
    sp_builder_free(b);
    return s;
}

/* Hashes of words as the text stage computes them, repeating after `period`. */
static void fill_words(uint64_t *words, size_t count, size_t period)
{
    for (size_t i = 0; i < count; i++)
        words[i] = sp_mix64(1 + i % period);
}

TEST(golden_signatures_never_change_within_a_version)
{
    uint64_t words[40];
    uint32_t hash = 0;
    fill_words(words, 40, 30);
    struct sp_signature *once = make(SP_REPEATS_ONCE, 1024, words, 40);
    struct sp_signature *labelled = make(SP_REPEATS_LABELLED, 1024, words, 40);
    for (uint32_t i = 0; i < once->shingle_count; i++)
        hash = hash * 31 + once->hashes[i];
    for (uint32_t i = 0; i < labelled->shingle_count; i++)
        hash = hash * 31 + labelled->hashes[i];
    struct sp_buf packed = {0};
    sp_signature_encode(once, &packed);
    sp_signature_encode(labelled, &packed);
    CU_ASSERT_EQUAL(once->shingle_total, 30);
    CU_ASSERT_EQUAL(labelled->shingle_total, 40);
    CU_ASSERT_EQUAL(hash, GOLDEN_SHINGLES);
    CU_ASSERT_EQUAL(sp_hash64(packed.data, packed.len), GOLDEN_PACKED);
    if (hash != GOLDEN_SHINGLES || sp_hash64(packed.data, packed.len) != GOLDEN_PACKED)
        printf("now %uu and %lluu\n", hash, (unsigned long long)sp_hash64(packed.data, packed.len));
    sp_signature_unref(once);
    sp_signature_unref(labelled);
    sp_buf_done(&packed);
}

TEST(a_repeated_shingle_counts_once_or_with_its_label)
{
    uint64_t words[100];
    fill_words(words, 100, 10); /* ten distinct shingles, about ten times each */
    struct sp_signature *once = make(SP_REPEATS_ONCE, 1024, words, 100);
    struct sp_signature *labelled = make(SP_REPEATS_LABELLED, 1024, words, 100);
    CU_ASSERT_EQUAL(once->shingle_total, 10);
    CU_ASSERT_EQUAL(labelled->shingle_total, 100);
    for (uint32_t i = 1; i < labelled->shingle_count; i++)
        CU_ASSERT(labelled->hashes[i - 1] < labelled->hashes[i]);
    sp_signature_unref(once);
    sp_signature_unref(labelled);
}

/* A builder takes another way for a page after one with repeated shingles. */
TEST(a_signature_does_not_depend_on_the_pages_before)
{
    uint64_t words[600];
    struct sp_signature_options o = {.max_shingles = 1024, .repeats = SP_REPEATS_ONCE};
    struct sp_builder *b = sp_builder_new(&o);
    for (unsigned i = 0; i < 64; i++) {
        size_t n = 100 + 7 * i;
        fill_words(words, n, i % 4 < 2 ? n : n - 30); /* without and with repeats */
        sp_builder_begin(b);
        sp_builder_words(b, words, n);
        struct sp_signature *used = sp_builder_finish(b, 0x656e);
        struct sp_signature *fresh = make(SP_REPEATS_ONCE, 1024, words, n);
        struct sp_buf packed[2] = {{0}, {0}};
        sp_signature_encode(used, &packed[0]);
        sp_signature_encode(fresh, &packed[1]);
        CU_ASSERT(sp_view_eq(sp_buf_view(&packed[0]), sp_buf_view(&packed[1])));
        CU_ASSERT_EQUAL(used->shingle_total, i % 4 < 2 ? n - 4 : n - 30);
        for (unsigned k = 0; k < 2; k++)
            sp_buf_done(&packed[k]);
        sp_signature_unref(used);
        sp_signature_unref(fresh);
    }
    sp_builder_free(b);
}

TEST(the_length_vector_sums_up_to_the_number_of_shingles)
{
    uint64_t words[3000];
    fill_words(words, 3000, 2000);
    for (int repeats = SP_REPEATS_ONCE; repeats <= SP_REPEATS_LABELLED; repeats++)
        for (size_t n = 0; n < 3000; n += n < 20 ? 1 : 371) {
            struct sp_signature *s = make((enum sp_repeats)repeats, 256, words, n);
            CU_ASSERT_EQUAL(s->length[0] + s->length[1] + s->length[2], s->shingle_total);
            CU_ASSERT_EQUAL(s->shingle_count, s->shingle_total < 256 ? s->shingle_total : 256);
            if (repeats == SP_REPEATS_LABELLED)
                CU_ASSERT_EQUAL(s->shingle_total, n);
            CU_ASSERT((s->shingle_total == 0) == (n == 0));
            sp_signature_unref(s);
        }
}

TEST(a_capped_signature_keeps_the_smallest_hashes)
{
    uint64_t words[500];
    fill_words(words, 500, 500);
    struct sp_signature *all = make(SP_REPEATS_ONCE, 1024, words, 500);
    struct sp_signature *few = make(SP_REPEATS_ONCE, 64, words, 500);
    CU_ASSERT_EQUAL(few->shingle_total, all->shingle_total);
    CU_ASSERT_EQUAL(few->shingle_count, 64);
    CU_ASSERT(memcmp(few->hashes, all->hashes, 64 * sizeof *few->hashes) == 0);
    CU_ASSERT(few->params != all->params);
    sp_signature_unref(all);
    sp_signature_unref(few);
}

TEST(vector_and_portable_code_make_the_same_shingles)
{
    uint64_t words[1024];
    uint32_t a[1020], b[1020];
    for (size_t i = 0; i < 1024; i++)
        words[i] = sp_mix64(i * i + 7);
    for (size_t n = 0; n <= 1020; n += 17) {
        sp_shingles_hash(words, n, a);
        sp_shingles_hash_portable(words, n, b);
        CU_ASSERT(memcmp(a, b, n * sizeof *a) == 0);
    }
}

TEST(lengths_count_words_by_sub_dictionary)
{
    enum { N = 300 };
    uint64_t words[N], third = UINT64_MAX / 3;
    struct sp_dictionary no_words[SP_DIMS];
    for (uint32_t i = 0; i < N; i++)
        words[i] = i % 10 ? sp_mix64(i + 1) : i % 20 ? third - i % 3 : 2 * third - i % 3;
    for (uint32_t d = 0; d < SP_DIMS; d++)
        CU_ASSERT_EQUAL(sp_dictionary_init(d + 1, NULL, 0, &no_words[d]), SP_OK);
    for (size_t n = 0; n <= N; n += 7)
        for (uint32_t d = 0; d <= SP_DIMS; d++) {
            const struct sp_dictionary *dictionary = d < SP_DIMS ? &no_words[d] : NULL;
            uint32_t wanted[SP_DIMS] = {0}, length[SP_DIMS], thirds[SP_DIMS];
            for (size_t i = 0; i < n; i++)
                wanted[sp_dictionary_sub(dictionary, words[i])]++;
            sp_shingles_lengths(words, n, dictionary, length);
            CU_ASSERT_EQUAL(memcmp(length, wanted, sizeof wanted), 0);
            sp_shingles_thirds_portable(words, n, thirds);
            CU_ASSERT(d < SP_DIMS - 1 || memcmp(thirds, wanted, sizeof wanted) == 0);
        }
    for (uint32_t d = 0; d < SP_DIMS; d++)
        sp_dictionary_done(&no_words[d]);
}

/* Few different shingles, 0 among them or not, many of which want the same places of the table. */
TEST(the_first_of_equal_shingles_is_kept)
{
    enum { COUNT = 300 };
    uint64_t words[COUNT], firsts[COUNT], state = 1;
    uint32_t shingles[COUNT], *table = sp_alloc(sp_shingles_table(COUNT) * sizeof *table);
    struct sp_dictionary halves;
    CU_ASSERT_EQUAL_FATAL(sp_dictionary_init(2, NULL, 0, &halves), SP_OK);
    for (int round = 0; round < 200; round++) {
        const struct sp_dictionary *dictionary = round % 2 ? &halves : NULL;
        uint32_t expected[COUNT], expected_length[SP_DIMS] = {0}, length[SP_DIMS];
        uint64_t expected_words[COUNT];
        size_t kept = 0;
        for (size_t i = 0; i < COUNT; i++) {
            uint64_t x = sp_mix64(state++);
            words[i] = firsts[i] = sp_mix64(x);
            shingles[i] = (uint32_t)(x % 8) << 16 | (uint32_t)(x >> 32) % 8;
            shingles[i] += round / 2 % 2;
            bool repeat = false;
            for (size_t k = 0; k < kept; k++)
                repeat |= expected[k] == shingles[i];
            if (repeat)
                continue;
            expected[kept] = shingles[i];
            expected_words[kept++] = words[i];
            expected_length[sp_dictionary_sub(dictionary, words[i])]++;
        }
        CU_ASSERT_EQUAL_FATAL(sp_shingles_first_words(firsts, shingles, COUNT, table), kept);
        CU_ASSERT_EQUAL(memcmp(firsts, expected_words, kept * sizeof *firsts), 0);
        CU_ASSERT_EQUAL_FATAL(sp_shingles_once(words, shingles, COUNT, table, dictionary, length),
                              kept);
        CU_ASSERT_EQUAL(memcmp(shingles, expected, kept * sizeof *shingles), 0);
        CU_ASSERT_EQUAL(memcmp(length, expected_length, sizeof length), 0);
    }
    sp_dictionary_done(&halves);
    sp_free(table);
}

TEST(sorting_is_right_for_uniform_and_for_hostile_keys)
{
    enum { N = 5000 };
    static uint32_t keys[N], scratch[N];
    for (int round = 0; round < 6; round++) {
        uint64_t sum = 0, after = 0;
        for (size_t i = 0; i < N; i++) {
            uint32_t x = (uint32_t)sp_mix64(i + 1);
            keys[i] = round == 0   ? x
                      : round == 1 ? 42
                      : round == 2 ? (uint32_t)(N - i)      /* all in one bucket, descending */
                      : round == 3 ? x % 7                  /* few values, all small */
                      : round == 4 ? 0xffffffffu - x % 1000 /* all large */
                                   : (uint32_t)i;
            sum += keys[i];
        }
        sp_shingles_sort(keys, scratch, N);
        for (size_t i = 0; i < N; i++) {
            after += keys[i];
            if (i > 0)
                CU_ASSERT_FATAL(keys[i - 1] <= keys[i]);
        }
        CU_ASSERT_EQUAL(sum, after);
    }
}

/* Uniform keys, and clusters of up to so many neighbours in descending order: the fullest bucket
 * has any number of keys, from both an even and an odd place on. */
TEST(sorting_is_right_for_any_number_of_keys_in_a_bucket)
{
    enum { N = 300, CLUSTER = 60 };
    static uint32_t keys[N], wanted[N], scratch[N];
    for (uint32_t cluster = 1; cluster <= CLUSTER; cluster++)
        for (size_t n = 0; n <= N; n += 1 + n / 7) {
            for (uint32_t i = 0; i < n; i++)
                keys[i] = (uint32_t)sp_mix64(cluster * N + i / cluster) - i % cluster;
            memcpy(wanted, keys, n * sizeof *keys);
            qsort(wanted, n, sizeof *wanted, sp_by_u32);
            sp_shingles_sort(keys, scratch, n);
            CU_ASSERT(memcmp(keys, wanted, n * sizeof *keys) == 0);
        }
}

TEST(sentences_are_hashed_in_order_and_empty_ones_are_none)
{
    struct sp_signature_options o = {.max_shingles = 64, .max_sentences = 3};
    struct sp_builder *b = sp_builder_new(&o);
    uint64_t words[4] = {11, 12, 13, 14};
    sp_builder_begin(b);
    sp_builder_sentence_end(b);
    sp_builder_words(b, words, 2);
    sp_builder_sentence_end(b);
    sp_builder_sentence_end(b);
    sp_builder_words(b, words + 2, 2);
    sp_builder_sentence_end(b);
    sp_builder_words(b, words, 2); /* equals the first; finish ends the input */
    struct sp_signature *s = sp_builder_finish(b, 0);
    CU_ASSERT_EQUAL(s->sentence_count, 3);
    const uint32_t *sentences = sp_signature_sentences(s);
    CU_ASSERT(sentences[0] == sentences[2] && sentences[0] != sentences[1]);
    sp_signature_unref(s);
    sp_builder_free(b);
}

/* The sentence numbers of 1 2, 3 and 4 5 6, and the content's hash. */
static struct sp_signature *sentences_hashed(enum sp_sentence_hash how, uint32_t max_sentences)
{
    struct sp_signature_options o = {
        .max_shingles = 64, .max_sentences = max_sentences, .sentence_hash = how};
    struct sp_builder *b = sp_builder_new(&o);
    uint64_t words[6] = {1, 2, 3, 4, 5, 6};
    sp_builder_begin(b);
    for (int at = 0, length = 1; length <= 3; at += length, length++) {
        sp_builder_words(b, words + at, (size_t)length);
        sp_builder_sentence_end(b);
    }
    struct sp_signature *s = sp_builder_finish(b, 0);
    sp_builder_free(b);
    return s;
}

TEST(a_sentence_is_a_crc_where_that_is_asked_for)
{
    struct sp_signature *xxh3 = sentences_hashed(SP_SENTENCE_XXH3, 8);
    struct sp_signature *crc = sentences_hashed(SP_SENTENCE_CRC32, 8);
    struct sp_signature *none = sentences_hashed(SP_SENTENCE_XXH3, 0);
    uint64_t words[6] = {1, 2, 3, 4, 5, 6};
    CU_ASSERT_EQUAL_FATAL(crc->sentence_count, 3);
    const uint32_t *numbers = sp_signature_sentences(crc);
    CU_ASSERT_EQUAL(numbers[0], crc32(0, (const Bytef *)words, 8));
    CU_ASSERT_EQUAL(numbers[1], crc32(0, (const Bytef *)(words + 1), 16));
    CU_ASSERT_EQUAL(numbers[2], crc32(0, (const Bytef *)(words + 3), 24));
    CU_ASSERT_NOT_EQUAL(numbers[0], sp_signature_sentences(xxh3)[0]);
    CU_ASSERT_NOT_EQUAL(crc->params, xxh3->params); /* never compared */
    CU_ASSERT_EQUAL(none->sentence_count, 0);
    CU_ASSERT(!sp_id_eq(none->content_hash, xxh3->content_hash));
    CU_ASSERT_EQUAL(none->shingle_count, xxh3->shingle_count);
    sp_signature_unref(xxh3);
    sp_signature_unref(crc);
    sp_signature_unref(none);
}

static struct sp_signature *in_language(bool apart, uint16_t language)
{
    struct sp_signature_options o = {.max_shingles = 64, .languages_apart = apart};
    struct sp_builder *b = sp_builder_new(&o);
    uint64_t words[30];
    for (uint64_t i = 0; i < 30; i++)
        words[i] = sp_mix64(i);
    sp_builder_begin(b);
    sp_builder_words(b, words, 30);
    struct sp_signature *s = sp_builder_finish(b, language);
    sp_builder_free(b);
    return s;
}

static size_t shared(const struct sp_signature *a, const struct sp_signature *b)
{
    size_t count = 0;
    for (uint32_t i = 0; i < a->shingle_count; i++)
        for (uint32_t k = 0; k < b->shingle_count; k++)
            count += a->hashes[i] == b->hashes[k];
    return count;
}

TEST(shingles_of_languages_that_are_apart_are_never_equal)
{
    struct sp_signature *en = in_language(true, 0x656e), *again = in_language(true, 0x656e);
    struct sp_signature *fr = in_language(true, 0x6672), *none = in_language(true, 0);
    struct sp_signature *together = in_language(false, 0x656e), *fr2 = in_language(false, 0x6672);
    CU_ASSERT_EQUAL(en->shingle_count, 26);
    CU_ASSERT_EQUAL(shared(en, again), 26);
    CU_ASSERT(sp_id_eq(en->content_hash, again->content_hash));
    CU_ASSERT_EQUAL(shared(en, fr), 0);
    CU_ASSERT_EQUAL(shared(en, none), 0);
    CU_ASSERT(!sp_id_eq(en->content_hash, fr->content_hash));
    CU_ASSERT_EQUAL(shared(together, fr2), 26);
    CU_ASSERT(sp_id_eq(together->content_hash, fr2->content_hash));
    CU_ASSERT_EQUAL(memcmp(en->length, together->length, sizeof en->length), 0);
    for (uint32_t i = 1; i < en->shingle_count; i++)
        CU_ASSERT(en->hashes[i - 1] < en->hashes[i]);
    struct sp_signature *all[] = {en, again, fr, none, together, fr2};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        sp_signature_unref(all[i]);
}

static struct sp_id content_of(uint32_t max_sentences, const uint64_t *words, size_t count,
                               size_t sentence)
{
    struct sp_signature_options o = {.max_shingles = 64, .max_sentences = max_sentences};
    struct sp_builder *b = sp_builder_new(&o);
    sp_builder_begin(b);
    for (size_t i = 0; i < count; i++) {
        sp_builder_words(b, words + i, 1);
        if ((i + 1) % sentence == 0)
            sp_builder_sentence_end(b);
    }
    struct sp_signature *s = sp_builder_finish(b, 0);
    struct sp_id content = s->content_hash;
    CU_ASSERT(s->shingle_total > 1 || s->sentence_count == (max_sentences > 0));
    sp_signature_unref(s);
    sp_builder_free(b);
    return content;
}

TEST(the_content_of_a_text_with_one_shingle_is_that_shingle)
{
    uint64_t ha[9], other[6];
    fill_words(ha, 9, 1);
    fill_words(other, 6, 6);
    struct sp_id five = content_of(0, ha, 5, 9);
    CU_ASSERT(sp_id_eq(content_of(0, ha, 9, 9), five));
    CU_ASSERT(sp_id_eq(content_of(8, ha, 9, 9), five));
    CU_ASSERT(sp_id_eq(content_of(8, ha, 6, 2), five));
    CU_ASSERT(!sp_id_eq(content_of(0, ha, 4, 9), five));
    CU_ASSERT(!sp_id_eq(content_of(0, other, 5, 9), five));
    CU_ASSERT(!sp_id_eq(content_of(0, other, 6, 9), content_of(0, other, 5, 9)));
    CU_ASSERT(!sp_id_eq(content_of(8, other, 6, 9), content_of(8, other, 6, 2)));
}

TEST(packed_signatures_read_back_and_damage_is_noticed)
{
    uint64_t words[200];
    fill_words(words, 200, 200);
    struct sp_signature_options o = {.max_shingles = 128, .max_sentences = 8};
    struct sp_builder *b = sp_builder_new(&o);
    sp_builder_begin(b);
    sp_builder_words(b, words, 200);
    struct sp_signature *s = sp_builder_finish(b, 0x6465), *back = NULL;
    struct sp_buf packed = {0}, again = {0};
    sp_signature_encode(s, &packed);
    CU_ASSERT_EQUAL_FATAL(sp_signature_decode(sp_buf_view(&packed), &back), SP_OK);
    sp_signature_encode(back, &again);
    CU_ASSERT(sp_view_eq(sp_buf_view(&packed), sp_buf_view(&again)));
    CU_ASSERT(sp_view_eq(sp_signature_packed(back), sp_buf_view(&again)));
    CU_ASSERT(sp_view_eq(sp_signature_packed(back), sp_buf_view(&again)));
    sp_signature_unref(back);
    for (size_t len = 0; len < packed.len; len++) {
        back = NULL;
        CU_ASSERT(sp_signature_decode(sp_view(packed.data, len), &back) != SP_OK);
    }
    sp_buf_put_u8(&packed, 0);
    CU_ASSERT_EQUAL(sp_signature_decode(sp_buf_view(&packed), &back), SP_MALFORMED);
    packed.len--;
    /* A flipped bit is detected, or yields another valid signature. */
    for (size_t bit = 0; bit < packed.len * 8; bit += 3) {
        packed.data[bit / 8] ^= (char)(1 << bit % 8);
        if (sp_signature_decode(sp_buf_view(&packed), &back) == SP_OK) {
            sp_buf_reset(&again);
            sp_signature_encode(back, &again);
            CU_ASSERT(sp_view_eq(sp_buf_view(&packed), sp_buf_view(&again)));
            sp_signature_unref(back);
        }
        packed.data[bit / 8] ^= (char)(1 << bit % 8);
    }
    sp_signature_unref(s);
    sp_builder_free(b);
    sp_buf_done(&packed);
    sp_buf_done(&again);
}

/* The longest form of each number in the header. */
TEST(the_packed_form_of_the_largest_header_is_in_the_memory_of_the_signature)
{
    struct sp_signature *s = sp_signature_alloc(SP_MAX_SHINGLES_LIMIT, 1);
    struct sp_buf packed = {0};
    s->params = s->shingle_total = UINT32_MAX;
    s->content_hash = (struct sp_id){UINT64_MAX, UINT64_MAX};
    s->language = UINT16_MAX;
    for (int d = 0; d < SP_DIMS; d++)
        s->length[d] = UINT32_MAX;
    memset(s->hashes, 1, 4ull * (SP_MAX_SHINGLES_LIMIT + 1));
    sp_signature_encode(s, &packed);
    CU_ASSERT(sp_view_eq(sp_signature_packed(s), sp_buf_view(&packed)));
    sp_buf_done(&packed);
    sp_signature_unref(s);
}
