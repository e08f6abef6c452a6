/* Labelled data: pages, and which of them are the same. Read by `evaluate --labelled`.
 *
 * Pages: JSON lines {"id", "content", "content_type", "cluster"}; the id may be a number or a text,
 * and its place taken by "url"; content_type and cluster may be missing. Other fields are ignored,
 * except that "url" gives the page's site. Pairs: JSON lines {"a", "b", "label"} of ids; label 1
 * (or none): the same, 0: not. A line may have "jaccard" instead, which counts as 1 from 0.8 on.
 *
 *   pairs with some label 0      only the listed pairs are scored
 *   pairs, all of label 1        every other pair of pages is a pair of different ones
 *   no pairs                     pages of equal "cluster" are the same, all others are not
 *
 * Files may be compressed as any input. Thread rule: one thread at a time. */
#ifndef SP_EVALUATE_LABELLED_H
#define SP_EVALUATE_LABELLED_H

#include "base/bytes.h"
#include "base/fault.h"
#include "text/text.h"

struct sp_labelled_page {
    char *id;
    char *content_type; /* "": not given */
    char *cluster;      /* NULL: none */
    char *site;         /* host of its URL, or of its id if that is one; NULL: none */
    struct sp_view content;
};

struct sp_labelled_pair {
    uint32_t a; /* numbers of pages, a < b */
    uint32_t b;
    bool same;
};

struct sp_labelled {
    char *name; /* of its folder, or its file */
    struct sp_labelled_page *pages;
    size_t page_count;
    struct sp_labelled_pair *pairs; /* ascending by (a, b), each once; of equal pages, and where
                                       `listed` also of different ones */
    size_t pair_count;
    size_t same_count; /* of them */
    bool listed;       /* only these pairs are scored */
};

/* `where` is a directory that holds pages.jsonl or docs.jsonl and perhaps pairs.jsonl (or .zst,
 * .gz), a file of pages, or "PAGES,PAIRS". On failure the fault names the file, the line and what
 * is wrong. */
enum sp_err sp_labelled_read(const char *where, struct sp_labelled **ret_set,
                             struct sp_fault *fault);
/* The pair of a < b, or NULL: it is not listed. */
const struct sp_labelled_pair *sp_labelled_find(const struct sp_labelled *set, uint32_t a,
                                                uint32_t b);
/* ret_truth[i] becomes the smallest page of those that i is the same as, over others too. */
void sp_labelled_truth(const struct sp_labelled *set, uint32_t *ret_truth);
/* The signature of each page, a reference each, until one fails; what is made stays the caller's.
 * *ret_seconds: of this thread. */
enum sp_err sp_labelled_sign(const struct sp_labelled *set, const struct sp_text_options *options,
                             struct sp_signature **ret_signatures, double *ret_seconds);
/* NULL is allowed. */
void sp_labelled_free(struct sp_labelled *set);

#endif
