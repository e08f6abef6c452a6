/* The documents of known pages for the filter. A document is made from the state's signature when
 * it is first needed, and kept while there is room; the least recently used is evicted first. When
 * the state has changed, a kept document is compared with its page's row again. Private to this
 * folder. Thread rule: any thread, each with its own reader. */
#ifndef SP_SERVE_INDEX_H
#define SP_SERVE_INDEX_H

#include "samepage/filter.h"
#include "serve/redirects.h"

enum { SP_INDEX_SENTENCES = SAMEPAGE_DOCUMENT_DEFAULT_HASHES };

struct sp_index;

/* `sentences`: documents are sets of sentences also if pages are compared by shingles. */
struct sp_index *sp_index_new(enum sp_method method, bool sentences, uint64_t bytes);
void sp_index_free(struct sp_index *index);
/* Whether documents are sets of sentences; else of shingles. */
bool sp_index_of_sentences(const struct sp_index *index);

/* The page's document, which the caller frees; of a redirect, that of the page it leads to.
 * SP_NOT_FOUND for a page that is not known or has no content. */
enum sp_err sp_index_document(struct sp_index *index, struct sp_state_reader *r,
                              struct sp_redirects *redirects, struct sp_id page,
                              struct samepage_document **ret_document);
/* The document of a signature of this state, or of a text made into one alike. */
struct samepage_document *sp_index_of_signature(const struct sp_index *index,
                                                const struct sp_signature *signature);

struct sp_index_stats {
    uint64_t documents;
    uint64_t bytes;
    uint64_t hits;
    uint64_t misses;
};

void sp_index_stats(struct sp_index *index, struct sp_index_stats *ret_stats);

#endif
