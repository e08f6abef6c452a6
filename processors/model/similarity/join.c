/* The exact join. If F implies a Jaccard similarity of the signatures' sets:
 *
 *   1  form classes of equal content; one page represents each class
 *   2  in order of size, look up each page's prefix in the index of the smaller pages, then add it
 *   3  F decides about every page found
 *
 * Why the prefix is enough: F needs J >= tau over the shingles that both signatures know, so the
 * kept sets share at least tau * n of the n shingles that either keeps (a capped signature keeps no
 * fewer than any other). A prefix leaves out the ceil(tau * n) - 1 most common shingles, so the
 * rarest shared one is in both prefixes. Chaudhuri, Ganti, Kaushik 2006; Xiao et al. 2008.
 *
 * Fewer are added to the index (sp_prefix_indexed), as the pages that look them up are no smaller.
 * Pages of a template whose similarity is just below tau share only more common shingles, and do
 * not meet. The sizes of capped signatures are not known, so all of their prefix is added.
 *
 * With other methods, all pairs for which F holds share a key of the candidate rule, because the
 * rule misses none or because F includes it. So each page is compared with all pages that share a
 * key with it.
 *
 * Signatures with different parameters are never similar. Memory: about 20 bytes for each shingle
 * in the index, of which a page of n shingles has 0.11 n + 1 at tau = 0.8. */
#include "similarity/join.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/order.h"
#include "candidates/candidates.h"
#include "similarity/classes.h"
#include "similarity/prefix.h"

struct join {
    const struct sp_similarity_options *options;
    void (*each)(void *arg, size_t i, size_t j, double similarity);
    void *arg;
    struct sp_classes classes;
    bool capped; /* some signature does not keep all shingles */
    uint64_t compared;
};

static void report(const struct join *j, const struct sp_class_page *a,
                   const struct sp_class_page *b, double similarity)
{
    bool ordered = a->number < b->number;
    j->each(j->arg, ordered ? a->number : b->number, ordered ? b->number : a->number, similarity);
}

static void report_within(const struct join *j, size_t start)
{
    double similarity;
    size_t end = sp_class_end(&j->classes, start);
    const struct sp_signature *s = j->classes.sorted[start].signature;
    if (end == start + 1 || !sp_similar(j->options, s, s, &similarity))
        return;
    for (size_t a = start; a < end; a++)
        for (size_t b = a + 1; b < end; b++)
            report(j, &j->classes.sorted[a], &j->classes.sorted[b], similarity);
}

static void report_between(const struct join *j, size_t x, size_t y, double similarity)
{
    size_t x_end = sp_class_end(&j->classes, x), y_end = sp_class_end(&j->classes, y);
    for (size_t a = x; a < x_end; a++)
        for (size_t b = y; b < y_end; b++)
            report(j, &j->classes.sorted[a], &j->classes.sorted[b], similarity);
}

static void compare(struct join *j, size_t earlier, size_t later)
{
    double similarity;
    j->compared++;
    if (sp_similar(j->options, sp_class_signature(&j->classes, later),
                   sp_class_signature(&j->classes, earlier), &similarity))
        report_between(j, j->classes.firsts[earlier], j->classes.firsts[later], similarity);
}

/* How many shingles of a signature are added to the index. */
static size_t indexed(const struct join *j, const struct sp_signature *s)
{
    double threshold = j->options->threshold;
    return j->capped ? sp_prefix_length(threshold, s->shingle_count)
                     : sp_prefix_indexed(threshold, s->shingle_count);
}

static void join_classes(struct join *j, const struct sp_frequencies *frequencies,
                         struct sp_prefix_index *index, uint64_t *keys)
{
    uint32_t *met_by = sp_calloc(j->classes.count + 1, sizeof *met_by);
    for (size_t c = 0; c < j->classes.count; c++) {
        const struct sp_signature *s = sp_class_signature(&j->classes, c);
        size_t length = sp_prefix_length(j->options->threshold, s->shingle_count);
        report_within(j, j->classes.firsts[c]);
        sp_frequencies_rarest(frequencies, s, length, keys);
        qsort(keys, length, sizeof *keys, sp_by_u64);
        size_t added = indexed(j, s);
        double least = (j->options->threshold - 1e-9) * s->shingle_count;
        for (size_t k = 0; k < length; k++) {
            uint32_t key = (uint32_t)keys[k];
            uint32_t at = k < added ? sp_prefix_index_add(index, key, (uint32_t)c)
                                    : sp_prefix_index_find(index, key);
            for (; at; at = index->postings[at - 1].next) {
                uint32_t other = index->postings[at - 1].page;
                const struct sp_signature *o = sp_class_signature(&j->classes, other);
                if (o->shingle_count < least)
                    break; /* the rest of the list is smaller still */
                if (other == c || met_by[other] == c + 1)
                    continue;
                met_by[other] = (uint32_t)c + 1;
                compare(j, other, c);
            }
        }
    }
    sp_free(met_by);
}

static void join_by_keys(struct join *j, const struct sp_candidate_rule *rule,
                         struct sp_prefix_index *index)
{
    uint32_t *met_by = sp_calloc(j->classes.count + 1, sizeof *met_by);
    for (size_t c = 0; c < j->classes.count; c++) {
        const struct sp_signature *s = sp_class_signature(&j->classes, c);
        uint32_t scratch[SP_SKETCH_MAX], count;
        const uint32_t *keys = sp_candidate_keys(rule, s, scratch, &count);
        report_within(j, j->classes.firsts[c]);
        for (uint32_t k = 0; k < count; k++) {
            uint32_t at = sp_prefix_index_add(index, keys[k], (uint32_t)c);
            for (; at; at = index->postings[at - 1].next) {
                uint32_t other = index->postings[at - 1].page;
                if (other == c || met_by[other] == c + 1)
                    continue;
                met_by[other] = (uint32_t)c + 1;
                compare(j, other, c);
            }
        }
    }
    sp_free(met_by);
}

static enum sp_err join_all_by_keys(struct join *j)
{
    const struct sp_similarity_options *o = j->options;
    struct sp_candidate_rule rule = sp_candidate_rule(o->method, o->threshold);
    struct sp_prefix_index index = {0};
    if (j->classes.count * (uint64_t)rule.sketch >= UINT32_MAX / 2)
        return SP_TOO_LARGE;
    sp_prefix_index_init(&index, j->classes.count * rule.sketch);
    join_by_keys(j, &rule, &index);
    sp_prefix_index_done(&index);
    return SP_OK;
}

static enum sp_err join_all_by_prefix(struct join *j, struct sp_signature *const *signatures)
{
    struct sp_frequencies frequencies = {0};
    struct sp_prefix_index index = {0};
    size_t postings = 0, largest = 0;
    for (size_t c = 0; c < j->classes.count; c++) {
        const struct sp_signature *s = sp_class_signature(&j->classes, c);
        largest = s->shingle_count > largest ? s->shingle_count : largest;
        j->capped |= s->shingle_count < s->shingle_total;
    }
    for (size_t c = 0; c < j->classes.count; c++)
        postings += indexed(j, sp_class_signature(&j->classes, c));
    if (postings >= UINT32_MAX)
        return SP_TOO_LARGE;
    uint64_t *keys = sp_alloc((largest + 1) * sizeof *keys);
    sp_frequencies_count(&frequencies, signatures, j->classes.page_count);
    sp_prefix_index_init(&index, postings);
    join_classes(j, &frequencies, &index, keys);
    sp_free(keys);
    sp_prefix_index_done(&index);
    sp_frequencies_done(&frequencies);
    return SP_OK;
}

enum sp_err sp_join(const struct sp_similarity_options *o, struct sp_signature *const *signatures,
                    size_t count, void (*each)(void *arg, size_t i, size_t j, double similarity),
                    void *arg, struct sp_join_stats *ret_stats)
{
    if (count >= UINT32_MAX)
        return SP_TOO_LARGE;
    struct join j = {.options = o, .each = each, .arg = arg};
    sp_classes_make(signatures, count, &j.classes);
    enum sp_err err = sp_method_info(o->method)->jaccard ? join_all_by_prefix(&j, signatures)
                                                         : join_all_by_keys(&j);
    sp_classes_done(&j.classes);
    if (ret_stats)
        ret_stats->compared = j.compared;
    return err;
}
