/* The filter: see samepage/filter.h. Source: E. Smith, "Detecting documents near duplications in
 * realtime" (sorted sentence signatures, early termination in both directions, recent sets); the
 * estimate from the smallest hashes is Broder's (1997).
 *
 * Two documents are walked together from their smallest hashes on. Each step of that walk is one
 * element of the union, and J is the probability that it is shared. So after the first 16 to 128
 * steps (32 at a threshold of 0.8, 64 at 0.5) nearly all unrelated pairs are decided:
 * `prefix_least` is the number of shared elements that a pair at the threshold falls short of once
 * in 10^10 (the binomial distribution; drawing without replacement scatters less). The walk
 * continues for the remaining pairs; every 32 steps it checks whether the rest can still change the
 * outcome.
 *
 * Not every pair is walked: a document that shares none of its first hashes with another is not
 * similar to it. These are the hashes of those first steps or, in small documents, one more than
 * may be missing at that threshold (the prefix filter of set joins, which is exact). The first
 * hashes of the documents kept so far are in a table, so a document meets only those it shares one
 * with: a list of a hundred takes microseconds where walking each pair took 280. */
#include <math.h>
#include <string.h>

#include "filter/internal.h"

#include "base/assert.h"
#include "base/mem.h"
#include "text/text.h"

enum { PREFIX_MAX = 128, STRIDE = 32 };

static const double slack = 1e-9; /* as in similarity/jaccard.c: 4/5 reaches 0.8 */
static const double missed = 1e-10;

struct recent {
    struct sp_id key;
    size_t count; /* 0: free */
    struct samepage_verdict *verdicts;
    int kept;
};

struct samepage_filter {
    double threshold;
    uint32_t prefix_steps; /* 0: the threshold is too low for any prefix to tell */
    uint32_t prefix_least;
    struct recent *recent;
    size_t recent_count;
    struct sp_text *text; /* made when first needed */
    uint64_t runs;
    uint64_t runs_recent;
    /* Scratch of one list: the first hashes of the documents kept so far. */
    struct node {
        uint32_t hash;
        uint32_t document; /* its place in the list */
        uint32_t next;
    } * nodes;
    size_t node_count;
    size_t node_cap;
    uint32_t *heads; /* node + 1; 0: none */
    size_t head_mask;
    size_t head_cap;
};

struct walk {
    size_t i;
    size_t k;
    size_t shared;
};

/* Returns how many of `steps` draws with that chance are shared, except once in 10^10; 0: any
 * number is possible. */
static uint32_t least_shared(uint32_t steps, double chance)
{
    double below = 0;
    for (uint32_t s = 0; s <= steps; s++) {
        double ways = lgamma(steps + 1.0) - lgamma(s + 1.0) - lgamma(steps - s + 1.0);
        below += exp(ways + s * log(chance) + (steps - s) * log1p(-chance));
        if (below > missed)
            return s;
    }
    return steps;
}

static void choose_prefix(struct samepage_filter *f)
{
    for (uint32_t steps = 16; steps <= PREFIX_MAX; steps *= 2) {
        uint32_t least = f->threshold < 1 ? least_shared(steps, f->threshold) : steps;
        if (least >= 2) {
            f->prefix_steps = steps;
            f->prefix_least = least;
            return;
        }
    }
}

struct samepage_filter *samepage_filter_new(double threshold, size_t recent_sets)
{
    if (!(threshold > 0 && threshold <= 1) || recent_sets > 1 << 20)
        return NULL;
    struct samepage_filter *f = sp_calloc(1, sizeof *f);
    f->threshold = threshold;
    f->recent_count = recent_sets;
    f->recent = recent_sets ? sp_calloc(recent_sets, sizeof *f->recent) : NULL;
    choose_prefix(f);
    return f;
}

void samepage_filter_free(struct samepage_filter *f)
{
    if (!f)
        return;
    for (size_t i = 0; i < f->recent_count; i++)
        sp_free(f->recent[i].verdicts);
    sp_free(f->recent);
    sp_free(f->nodes);
    sp_text_free(f->text);
    sp_free(f->heads);
    sp_free(f);
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Makes steps within which neither side ends; without branches. */
static inline void step(struct walk *w, const uint32_t *a, const uint32_t *b, size_t steps)
{
    size_t i = w->i, k = w->k, shared = w->shared;
    for (; steps > 0; steps--) {
        uint32_t x = a[i], y = b[k];
        shared += x == y;
        i += x <= y;
        k += y <= x;
    }
    *w = (struct walk){i, k, shared};
}

static bool reaches(size_t part, size_t whole, double threshold)
{
    return (double)part + slack * (double)whole >= threshold * (double)whole;
}

/* Computes the similarity at this point of the walk if no further element is shared. What follows
 * the end of a trimmed document is unknown and does not count. */
static double similarity_at_end(const struct walk *w, const struct samepage_document *a,
                                const struct samepage_document *b)
{
    size_t whole = w->i + w->k - w->shared;
    bool a_ended = w->i == a->count, b_ended = w->k == b->count;
    if (!(a_ended && !a->complete) && !(b_ended && !b->complete))
        whole += (a->count - w->i) + (b->count - w->k);
    return whole ? (double)w->shared / (double)whole : 0;
}

double samepage_document_similarity(const struct samepage_document *a,
                                    const struct samepage_document *b)
{
    struct walk w = {0, 0, 0};
    for (size_t left; (left = smaller(a->count - w.i, b->count - w.k)) > 0;)
        step(&w, a->hashes, b->hashes, left);
    return similarity_at_end(&w, a, b);
}

enum outcome { OPEN, SIMILAR, DIFFERENT };

/* Whether the rest of the walk can still matter. */
static enum outcome look_ahead(const struct walk *w, const struct samepage_document *a,
                               const struct samepage_document *b, double threshold)
{
    size_t whole = w->i + w->k - w->shared, a_left = a->count - w->i, b_left = b->count - w->k;
    size_t most = smaller(a_left, b_left);
    /* A trimmed document ends the walk; the rest of the other one then does not count. */
    size_t surely = a->complete && b->complete ? a_left + b_left - most : most;
    if (!reaches(w->shared + most, whole + surely, threshold))
        return DIFFERENT;
    return reaches(w->shared, whole + a_left + b_left, threshold) ? SIMILAR : OPEN;
}

/* Continues the walk after the prefix, to the end if necessary. */
static bool similar_from(struct walk w, const struct samepage_document *a,
                         const struct samepage_document *b, double threshold)
{
    for (size_t left; (left = smaller(a->count - w.i, b->count - w.k)) > 0;) {
        enum outcome outcome = look_ahead(&w, a, b, threshold);
        if (outcome != OPEN)
            return outcome == SIMILAR;
        step(&w, a->hashes, b->hashes, smaller(left, STRIDE));
    }
    return w.shared > 0 && similarity_at_end(&w, a, b) >= threshold - slack;
}

/* Rules a pair out by sizes, because J is at most the smaller size divided by the larger one. */
static inline bool sizes_differ(const struct samepage_document *a,
                                const struct samepage_document *b, double threshold)
{
    size_t least = smaller(a->total, b->total), most = (size_t)a->total + b->total - least;
    return !reaches(least, most, threshold);
}

static inline bool similar(const struct samepage_filter *f, const struct samepage_document *a,
                           const struct samepage_document *b)
{
    struct walk w = {0, 0, 0};
    if (sizes_differ(a, b, f->threshold))
        return false;
    if (f->prefix_steps && smaller(a->count, b->count) >= f->prefix_steps) {
        step(&w, a->hashes, b->hashes, f->prefix_steps);
        if (w.shared < f->prefix_least)
            return false;
    }
    return similar_from(w, a, b, f->threshold);
}

/* ---- the table of first hashes */

static size_t first_hashes(const struct samepage_filter *f, const struct samepage_document *d)
{
    size_t first = f->prefix_steps ? smaller(f->prefix_steps, d->count) : d->count;
    if (!d->complete || d->count == 0)
        return first;
    size_t needed = (size_t)ceil((f->threshold - slack) * (double)d->count);
    return smaller(first, d->count - smaller(needed, d->count) + 1);
}

static void clear_table(struct samepage_filter *f, const struct samepage_document *const *ranked,
                        size_t count)
{
    size_t most = 0, heads = 64;
    for (size_t i = 0; i < count; i++)
        most += ranked[i] ? first_hashes(f, ranked[i]) : 0;
    while (heads < 2 * most)
        heads *= 2;
    sp_grow(&f->nodes, &f->node_cap, most);
    sp_grow(&f->heads, &f->head_cap, heads);
    memset(f->heads, 0, heads * sizeof *f->heads);
    f->head_mask = heads - 1;
    f->node_count = 0;
}

/* Returns the list for the hash. Hashes are compared in ascending order, but each of their bits is
 * random. */
static uint32_t *head_of(const struct samepage_filter *f, uint32_t hash)
{
    return &f->heads[hash & f->head_mask];
}

static void enter(struct samepage_filter *f, const struct samepage_document *d, size_t place)
{
    size_t first = first_hashes(f, d);
    for (size_t h = 0; h < first; h++) {
        uint32_t *head = head_of(f, d->hashes[h]);
        f->nodes[f->node_count] = (struct node){d->hashes[h], (uint32_t)place, *head};
        *head = (uint32_t)++f->node_count;
    }
}

enum { WORDS = (SAMEPAGE_FILTER_DOCUMENTS + 63) / 64 };

/* Marks the kept documents that share a first hash with d. */
static bool meet(const struct samepage_filter *f, const struct samepage_document *d,
                 uint64_t met[WORDS])
{
    size_t first = first_hashes(f, d);
    bool any = false;
    for (size_t h = 0; h < first; h++)
        for (uint32_t n = *head_of(f, d->hashes[h]); n; n = f->nodes[n - 1].next) {
            const struct node *node = &f->nodes[n - 1];
            if (node->hash != d->hashes[h])
                continue;
            met[node->document / 64] |= 1ull << node->document % 64;
            any = true;
        }
    return any;
}

/* Returns the first of the marked documents that d repeats, or SAMEPAGE_KEPT. */
static int32_t repeated(const struct samepage_filter *f,
                        const struct samepage_document *const *ranked,
                        const struct samepage_document *d)
{
    uint64_t met[WORDS] = {0};
    if (!meet(f, d, met))
        return SAMEPAGE_KEPT;
    for (size_t word = 0; word < WORDS; word++)
        for (uint64_t bits = met[word]; bits; bits &= bits - 1) {
            size_t other = word * 64 + (size_t)__builtin_ctzll(bits);
            if (similar(f, ranked[other], d))
                return (int32_t)other;
        }
    return SAMEPAGE_KEPT;
}

static int filter_list(struct samepage_filter *f, const struct samepage_document *const *ranked,
                       size_t count, struct samepage_verdict *verdicts)
{
    int kept = 0;
    clear_table(f, ranked, count);
    for (size_t i = 0; i < count; i++) {
        const struct samepage_document *d = ranked[i];
        verdicts[i] = (struct samepage_verdict){SAMEPAGE_KEPT, 0};
        if (d && d->count)
            verdicts[i].repeats = repeated(f, ranked, d);
        if (verdicts[i].repeats != SAMEPAGE_KEPT) {
            const struct samepage_document *kept_one = ranked[verdicts[i].repeats];
            SP_ASSERT(kept_one && d);
            verdicts[i].similarity = (float)samepage_document_similarity(kept_one, d);
            continue;
        }
        kept++;
        if (d)
            enter(f, d, i);
    }
    return kept;
}

static struct sp_id key_of(const struct samepage_document *const *ranked, size_t count)
{
    struct sp_id digests[SAMEPAGE_FILTER_DOCUMENTS];
    for (size_t i = 0; i < count; i++)
        digests[i] = ranked[i] ? ranked[i]->digest : (struct sp_id){0, 0};
    return sp_hash128(digests, count * sizeof *digests);
}

int samepage_filter_run(struct samepage_filter *f, const struct samepage_document *const *ranked,
                        size_t count, struct samepage_verdict *verdicts)
{
    if (count > SAMEPAGE_FILTER_DOCUMENTS)
        return -1;
    f->runs++;
    if (!f->recent_count || count == 0)
        return filter_list(f, ranked, count, verdicts);
    struct sp_id key = key_of(ranked, count);
    struct recent *r = &f->recent[key.lo % f->recent_count];
    if (r->count == count && sp_id_eq(r->key, key)) {
        f->runs_recent++;
        memcpy(verdicts, r->verdicts, count * sizeof *verdicts);
        return r->kept;
    }
    int kept = filter_list(f, ranked, count, verdicts);
    sp_free(r->verdicts);
    *r = (struct recent){key, count, sp_memdup(verdicts, count * sizeof *verdicts), kept};
    return kept;
}

/* ---- texts */

static struct sp_text *new_text(void)
{
    struct sp_text_options options;
    sp_text_options_default(&options);
    options.signature.method = SP_METHOD_SENTENCES;
    options.signature.max_sentences = SP_MAX_SENTENCES_LIMIT;
    return sp_text_new(&options);
}

struct samepage_document *samepage_document_from_text(struct samepage_filter *f, const char *text,
                                                      size_t bytes, const char *type, size_t keep)
{
    if (!f->text)
        f->text = new_text();
    struct sp_signature *signature =
        sp_text_signature(f->text, sp_view_str(type), sp_view(text, bytes), false);
    struct samepage_document *d = samepage_document_from_hashes(
        sp_signature_shingles(signature), signature->shingle_count, signature->shingle_total, keep);
    sp_signature_unref(signature);
    return d;
}

uint64_t samepage_filter_runs(const struct samepage_filter *f, uint64_t *ret_recent)
{
    if (ret_recent)
        *ret_recent = f->runs_recent;
    return f->runs;
}
