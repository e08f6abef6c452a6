/* The kept documents, and a search for the one that a new document resembles most. Private to this
 * folder.
 *
 * Candidates by the rule of candidates.h, then F. A search reads the shorter lists of the
 * document's 16 keys and compares each candidate once; removed documents take no memory. Where many
 * kept documents resemble one another, though not enough, a larger index (crowd.h) leaves few of
 * them. Rows of the store, all written at a flush:
 *
 *   'S', 'N'         the signatures (contents.h)
 *   'I' slot         content hash, then the kept document's id
 *   'R' slot number  similarity, then the id of a document removed for this one
 *
 * Errors: SP_STORE, SP_CORRUPT. Thread rule: one thread. */
#ifndef SP_DEDUP_SURVIVORS_H
#define SP_DEDUP_SURVIVORS_H

#include "similarity/similarity.h"
#include "store/store.h"

enum { SP_SURVIVORS_MAX = 1 << 27 };

struct sp_survivors;

struct sp_survivor_match {
    uint32_t slot;
    bool exact; /* equal content */
    double similarity;
    struct sp_view id; /* valid until the next call */
};

struct sp_survivors *sp_survivors_new(const struct sp_similarity_options *similarity,
                                      struct sp_store *store, size_t cache_bytes);
/* NULL is allowed. */
void sp_survivors_free(struct sp_survivors *s);
/* Loads the store's rows; call once, before anything else. */
enum sp_err sp_survivors_load(struct sp_survivors *s);

/* The most similar kept document, the first kept among equals. SP_NOT_FOUND: none is similar. */
enum sp_err sp_survivors_find(struct sp_survivors *s, const struct sp_signature *signature,
                              struct sp_survivor_match *ret_match);
/* Adds a kept document; takes a reference to the signature. SP_TOO_LARGE: there are
 * SP_SURVIVORS_MAX. */
enum sp_err sp_survivors_keep(struct sp_survivors *s, struct sp_signature *signature,
                              struct sp_view id);
/* Assigns one more removed document to this one. */
void sp_survivors_stand_for(struct sp_survivors *s, const struct sp_survivor_match *match,
                            struct sp_view id);
uint64_t sp_survivors_count(const struct sp_survivors *s);
/* Comparisons so far. */
uint64_t sp_survivors_compared(const struct sp_survivors *s);
/* Postings that the candidate index read. */
uint64_t sp_survivors_walked(const struct sp_survivors *s);

/* Writes everything to the store's open batch, which the caller commits before the next call. */
void sp_survivors_flush(struct sp_survivors *s);

/* Appends a JSON line to the file for each kept document with removed ones, in the order of
 * keeping: {"kept","removed":[{"id","similarity"}]}. Everything must be flushed and committed. */
enum sp_err sp_survivors_write(struct sp_survivors *s, const char *file, struct sp_fault *fault);

#endif
