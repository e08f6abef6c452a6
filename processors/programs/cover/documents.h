/* All documents: their sets of shingles, the fields that the relation uses, and what the output
 * says of them.
 *
 * A document is one fetch with content: every version of a URL is one. Its set are all distinct
 * 5-shingles of its text, as 32-bit hashes, without a cap (signature.max_shingles does not apply):
 * measures are exact but for collisions of hashes, which move a measure of two texts of 500 words
 * by 0.002 once in 17,000 pairs. Documents with equal sets share one content.
 *
 *   in memory   28 bytes a document, 8 for each field the relation uses, and the distinct texts of
 *               those fields (with `text`: the texts of all documents); about 70 bytes a content
 *   on disk     4 bytes a shingle of each content, URL and time of each document */
#ifndef SP_COVER_DOCUMENTS_H
#define SP_COVER_DOCUMENTS_H

#include "base/map.h"
#include "cover/spool.h"
#include "cover/versions.h"
#include "input/input.h"
#include "relation/relation.h"
#include "text/text.h"

struct sp_cover_document {
    uint64_t number; /* of its record in the input */
    uint64_t at;     /* of its details */
    uint32_t content;
    uint32_t bytes; /* of content as fetched */
};

struct sp_cover_content {
    uint64_t at; /* of its first shingle in `sets` */
    uint32_t size;
};

struct sp_documents {
    struct sp_cover_document *items; /* in order of the input */
    size_t count;
    size_t cap;
    struct sp_cover_content *contents;
    size_t content_count;
    size_t content_cap;
    uint32_t fields; /* bit n: field n is kept */
    uint8_t slot[SP_FIELD_COUNT];
    size_t slots;
    union sp_cell *cells; /* slots for each document */
    size_t cell_cap;
    const uint32_t *sets; /* after sp_documents_finish */
    const char *details;
    struct sp_map by_set;
    struct sp_map texts;
    struct sp_versions versions;
    uint64_t urls; /* where versions are counted, of the documents that are left */
    double version_squares;
    const struct sp_relation *weight; /* NULL: none */
    double *weights;                  /* of each document, by it */
    size_t weight_cap;
    uint64_t bad_weight; /* number + 1 of the first record whose weight is not above 0 */
    struct sp_spool set_spool;
    struct sp_spool detail_spool;
};

/* `fields`: those to keep, one bit each; with those of sp_versions_fields of the filter. `weight`:
 * of kind SP_VALUE, outlives the documents; NULL: they have none. */
void sp_documents_open(struct sp_documents *d, uint32_t fields, const struct sp_relation *weight,
                       const char *temp);
void sp_documents_done(struct sp_documents *d);

/* What a worker needs to make documents. */
struct sp_document_maker {
    uint32_t fields; /* that are wanted: of all of them, or less work is done */
};

/* For sp_pipeline_start_making: appends a fetch as bytes for sp_documents_add; nothing for what is
 * no document (redirects, errors, images). */
enum sp_err sp_document_make(void *maker, struct sp_text *text, const struct sp_page_record *page,
                             struct sp_buf *scratch, struct sp_buf *out, const char **ret_why);

/* Adds a document where the filter holds, as far as it can be asked yet (versions.h; NULL: always);
 * false where it does not. */
bool sp_documents_add(struct sp_documents *d, uint64_t number, struct sp_view made,
                      const struct sp_relation *filter);

/* When all are added: counts their versions and asks the rest of the filter. Returns how many
 * documents it takes out. */
size_t sp_documents_settle(struct sp_documents *d, const struct sp_relation *filter);

/* Different sets of shingles among the documents. */
size_t sp_documents_contents(const struct sp_documents *d);

/* Makes `sets` and `details` readable. */
enum sp_err sp_documents_finish(struct sp_documents *d, struct sp_fault *fault);

static inline const union sp_cell *sp_document_cells(const struct sp_documents *d, size_t i)
{
    return d->cells + i * d->slots;
}

/* The pair (a, b) with `overlap` shared shingles, for sp_relation_holds. */
struct sp_relation_pair sp_documents_pair(const struct sp_documents *d, uint32_t a, uint32_t b,
                                          uint32_t overlap);

/* URL as it was given, and the time of the fetch. */
struct sp_view sp_document_url(const struct sp_documents *d, size_t i, int64_t *ret_time_ms);

#endif
