/* A ranked list in, the same list without near duplicates out: the real-time half of the problem.
 *
 *     struct samepage_filter *filter = samepage_filter_new(0.8, 256);
 *     const struct samepage_document *ranked[2] = {
 *         samepage_document_from_text(filter, a, strlen(a), "text/plain", 64),
 *         samepage_document_from_text(filter, b, strlen(b), "text/plain", 64)};
 *     struct samepage_verdict verdicts[2];
 *     samepage_filter_run(filter, ranked, 2, verdicts);
 *     ... verdicts[1].repeats is 0 where b repeats a, and SAMEPAGE_KEPT where it does not ...
 *
 * Source: E. Smith, "Detecting documents near duplications in realtime". A document is the sorted
 * set of the hashes of its sentences, made ahead and trimmed to the smallest n; two documents are
 * compared as sorted vectors, and the comparison ends as soon as its outcome is certain, whichever
 * it is; the verdicts on recent sets are kept.
 *
 * The similarity is Jaccard's, |A n B| / |A u B|: exact where neither document was trimmed, else
 * estimated over the range of hashes that both know. Going down the list, a document is dropped
 * if its similarity to a document kept before it is at least `threshold`.
 *
 * Running out of memory ends the process. */
#ifndef SP_SAMEPAGE_FILTER_H
#define SP_SAMEPAGE_FILTER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef SAMEPAGE_API
#if defined(__GNUC__)
#define SAMEPAGE_API __attribute__((visibility("default")))
#else
#define SAMEPAGE_API
#endif
#endif

enum {
    SAMEPAGE_KEPT = -1,
    SAMEPAGE_FILTER_DOCUMENTS = 1000,     /* most that one list may have */
    SAMEPAGE_DOCUMENT_HASHES = 1 << 16,   /* most that one document may keep */
    SAMEPAGE_DOCUMENT_DEFAULT_HASHES = 64 /* a good n for sentences */
};

/* A document's set. Immutable and reference counted. Thread rule: any thread, also several at the
 * same time. */
struct samepage_document;

/* A set of hashes that were made elsewhere, in any order (repeats count as often as they occur);
 * the smallest `keep` are kept. total: the size of the whole set, where `hashes` are only its
 * smallest ones; count where they are all. Documents can only be compared where their hashes mean
 * the same. NULL if count, total and keep contradict one another. */
SAMEPAGE_API struct samepage_document *
samepage_document_from_hashes(const uint32_t *hashes, size_t count, size_t total, size_t keep);

/* The document as bytes, to be kept for later, and back. pack returns the size it needs, and
 * writes where `size` is at least that. unpack returns NULL for bytes that pack did not write. */
SAMEPAGE_API size_t samepage_document_pack(const struct samepage_document *document, void *out,
                                           size_t size);
SAMEPAGE_API struct samepage_document *samepage_document_unpack(const void *bytes, size_t size);

/* One more owner. */
SAMEPAGE_API struct samepage_document *
samepage_document_share(const struct samepage_document *document);
/* One owner less. NULL is allowed. */
SAMEPAGE_API void samepage_document_free(struct samepage_document *document);

/* Hashes kept, and bytes of memory. */
SAMEPAGE_API size_t samepage_document_hashes(const struct samepage_document *document);
SAMEPAGE_API size_t samepage_document_bytes(const struct samepage_document *document);

/* The similarity, to the end: 0 to 1. */
SAMEPAGE_API double samepage_document_similarity(const struct samepage_document *a,
                                                 const struct samepage_document *b);

/* What becomes of one document of a list. */
struct samepage_verdict {
    int32_t repeats;  /* SAMEPAGE_KEPT, or the place in the list of the kept document it repeats */
    float similarity; /* to that document; 0 where kept */
};

/* Settings, scratch memory and recent sets. Thread rule: one thread at a time. */
struct samepage_filter;

/* threshold: above 0, at most 1. recent_sets: how many lists' verdicts are kept, 0 for none. NULL
 * where one of them makes no sense. */
SAMEPAGE_API struct samepage_filter *samepage_filter_new(double threshold, size_t recent_sets);
/* NULL is allowed. */
SAMEPAGE_API void samepage_filter_free(struct samepage_filter *filter);

/* The verdicts on a ranked list, best first. NULL in `ranked` is an unknown document, which is
 * kept. Returns how many are kept, or -1, and nothing is written, where count is above
 * SAMEPAGE_FILTER_DOCUMENTS.
 *
 * A pair at exactly the threshold is missed with a probability of 1e-10: that is the chance that
 * the first hashes of two similar documents have almost none in common. */
SAMEPAGE_API int samepage_filter_run(struct samepage_filter *filter,
                                     const struct samepage_document *const *ranked, size_t count,
                                     struct samepage_verdict *verdicts);

/* The set of a text's sentences: split at sentence ends and blocks, in lower case, each word as its
 * stem in the language that the text is found to have, short words dropped, the rest hashed.
 * type: of the text, as in HTTP: "text/plain", "text/html" (its main content counts),
 * "text/markdown"; NULL: found by a look at it. UTF-8, or what a charset parameter or a meta tag
 * says. keep: the n of the smallest hashes, 1 to SAMEPAGE_DOCUMENT_HASHES; more than 4,096 are
 * never kept. A text without sentences gives an empty document, which is similar to nothing. NULL
 * where keep makes no sense or the text cannot be read. */
SAMEPAGE_API struct samepage_document *samepage_document_from_text(struct samepage_filter *filter,
                                                                   const char *text, size_t bytes,
                                                                   const char *type, size_t keep);

/* Lists filtered, and for how many of them all sets were still in memory. */
SAMEPAGE_API uint64_t samepage_filter_runs(const struct samepage_filter *filter,
                                           uint64_t *ret_recent);

#ifdef __cplusplus
}
#endif

#endif
