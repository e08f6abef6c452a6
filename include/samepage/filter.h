/* Removes near duplicates from a ranked list, for example from a page of search results.
 *
 *     struct samepage_filter *filter = samepage_filter_new(0.8, 256);
 *     const struct samepage_document *ranked[2] = {
 *         samepage_document_from_text(filter, a, strlen(a), "text/plain", 64),
 *         samepage_document_from_text(filter, b, strlen(b), "text/plain", 64)};
 *     struct samepage_verdict verdicts[2];
 *     samepage_filter_run(filter, ranked, 2, verdicts);
 *     ... verdicts[1].repeats is 0 if b repeats a, and SAMEPAGE_KEPT if it does not ...
 *
 * Source: E. Smith, "Detecting documents near duplications in realtime" (2008). A document is the
 * sorted set of the hashes of its sentences, made in advance and limited to the n smallest. Two
 * documents are compared by merging their sorted hashes; the merge stops as soon as the verdict is
 * certain. The verdicts on recent lists are remembered.
 *
 * The similarity is the Jaccard similarity |A n B| / |A u B|. It is exact if both documents have
 * all their hashes, and otherwise estimated over the range of hashes that both cover. The list is
 * processed from the top: a document is dropped if its similarity to a document kept before it is
 * at least `threshold`.
 *
 * Running out of memory ends the process. */
#ifndef SP_SAMEPAGE_FILTER_H
#define SP_SAMEPAGE_FILTER_H

#include <stddef.h>
#include <stdint.h>

#include "samepage/api.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    SAMEPAGE_KEPT = -1,
    SAMEPAGE_FILTER_DOCUMENTS = 1000,     /* the largest number of documents in a list */
    SAMEPAGE_DOCUMENT_HASHES = 1 << 16,   /* the largest number of hashes in a document */
    SAMEPAGE_DOCUMENT_DEFAULT_HASHES = 64 /* a good n for sentences */
};

/* The set of hashes of a document. Immutable and reference counted. Thread rule: any thread, also
 * several at the same time. */
struct samepage_document;

/* Makes a document of hashes that the caller has computed, for example of shingles. Documents can
 * only be compared if their hashes are made in the same way.
 *
 * hashes, count: the hashes in any order, copied; a hash that occurs twice counts twice.
 * total: the size of the whole set: `count`, or more if `hashes` are only its smallest ones.
 * keep: how many of the smallest hashes are kept, 1 to SAMEPAGE_DOCUMENT_HASHES.
 *
 * Returns NULL if keep is out of range, total is less than count or above 2^32 - 1, or count is 0
 * and total is not. The caller frees the document. */
SAMEPAGE_API struct samepage_document *
samepage_document_from_hashes(const uint32_t *hashes, size_t count, size_t total, size_t keep);

/* pack serialises a document, so that it can be stored. It returns the number of bytes needed, and
 * writes them to `out` if `size` is at least that number; otherwise it writes nothing. unpack makes
 * a document of such bytes, which the caller frees, or returns NULL if the bytes are not valid. */
SAMEPAGE_API size_t samepage_document_pack(const struct samepage_document *document, void *out,
                                           size_t size);
SAMEPAGE_API struct samepage_document *samepage_document_unpack(const void *bytes, size_t size);

/* Adds a reference and returns the document; each reference must be freed. */
SAMEPAGE_API struct samepage_document *
samepage_document_share(const struct samepage_document *document);
/* Frees a reference; the last one frees the document. NULL is allowed. */
SAMEPAGE_API void samepage_document_free(struct samepage_document *document);

/* Return the number of hashes that are kept, and the memory of the document in bytes. */
SAMEPAGE_API size_t samepage_document_hashes(const struct samepage_document *document);
SAMEPAGE_API size_t samepage_document_bytes(const struct samepage_document *document);

/* Returns the similarity of two documents, 0 to 1, computed without stopping early. */
SAMEPAGE_API double samepage_document_similarity(const struct samepage_document *a,
                                                 const struct samepage_document *b);

/* The verdict on one document of a list. */
struct samepage_verdict {
    int32_t repeats;  /* SAMEPAGE_KEPT, or the position in the list, from 0, of the first kept
                       * document that it repeats */
    float similarity; /* to that document; 0 if the document is kept */
};

/* Settings, scratch memory and the verdicts on recent lists. Thread rule: one thread at a time. */
struct samepage_filter;

/* Makes a filter, which the caller frees. threshold: above 0, at most 1. recent_sets: the largest
 * number of lists whose verdicts are remembered, 0 to 2^20. Returns NULL if one of them is out of
 * range. */
SAMEPAGE_API struct samepage_filter *samepage_filter_new(double threshold, size_t recent_sets);
/* Frees a filter; its documents stay. NULL is allowed. */
SAMEPAGE_API void samepage_filter_free(struct samepage_filter *filter);

/* Filters a ranked list of `count` documents, the best first, and writes `count` verdicts. A NULL
 * in `ranked` is an unknown document, which is kept. Returns the number of documents kept, or -1 if
 * count is above SAMEPAGE_FILTER_DOCUMENTS; then nothing is written.
 *
 * A pair whose similarity is exactly the threshold is missed with a probability of 1e-10, because
 * the first hashes of two similar documents may by chance have almost none in common. */
SAMEPAGE_API int samepage_filter_run(struct samepage_filter *filter,
                                     const struct samepage_document *const *ranked, size_t count,
                                     struct samepage_verdict *verdicts);

/* Makes a document of the sentences of a text. Sentences end at sentence marks and at block
 * borders. Words are put into lower case and stemmed in the detected language, short words are
 * dropped, and the remaining words of a sentence are hashed.
 *
 * type: the content type as in HTTP: "text/plain", "text/html" (the main content counts) or
 * "text/markdown"; NULL: detected from the text. The charset is that of `type` or of a meta tag,
 * otherwise UTF-8.
 * keep: how many of the smallest hashes are kept, 1 to SAMEPAGE_DOCUMENT_HASHES, in fact at most
 * 4,096.
 *
 * A text without sentences gives an empty document, which is similar to nothing. Returns NULL if
 * keep is out of range. The caller frees the document. */
SAMEPAGE_API struct samepage_document *samepage_document_from_text(struct samepage_filter *filter,
                                                                   const char *text, size_t bytes,
                                                                   const char *type, size_t keep);

/* Returns the number of lists filtered; *ret_recent (may be NULL): for how many of them verdicts
 * were remembered. */
SAMEPAGE_API uint64_t samepage_filter_runs(const struct samepage_filter *filter,
                                           uint64_t *ret_recent);

#ifdef __cplusplus
}
#endif

#endif
