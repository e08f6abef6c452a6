/* An index of documents in memory that finds the near duplicates of a text.
 *
 *     const char *settings[] = {"similarity.threshold", "0.8", NULL};
 *     char error[256];
 *     struct samepage_index *index = samepage_index_new(settings, error, sizeof error);
 *     struct samepage_reader *reader = samepage_reader_new(settings, error, sizeof error);
 *     struct samepage_signature *signature = samepage_read(reader, text, bytes, "text/plain");
 *     struct samepage_match match;
 *     uint32_t document;
 *     if (samepage_index_nearest(index, signature, &match) == 1)
 *         ... match.document is a similar document, match.similarity how similar ...
 *     else
 *         samepage_index_add(index, signature, &document);
 *     samepage_signature_free(signature);
 *
 * Similarity is that of `samepage run`, `pairs` and `similar`: by default, two documents are
 * similar if the Jaccard similarity of their five-word shingles is at least 0.8 (Broder et al.,
 * "Syntactic clustering of the Web", WWW 1997; the choice of Zhu et al., WWW 2012, section 4.2). No
 * similar document is missed, except by the methods cosine and lcs, which compare candidates
 * only. Many near duplicates do not slow the index down, because a document and those
 * similar to it are stored as one star, and a search needs one comparison or two for each star
 * (processors/model/stars/stars.h).
 *
 * The binary interface is stable within a major version of the library: structures here do not
 * change, functions are only added. Running out of memory ends the process. */
#ifndef SP_SAMEPAGE_INDEX_H
#define SP_SAMEPAGE_INDEX_H

#include <stddef.h>
#include <stdint.h>

#include "samepage/api.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    SAMEPAGE_INDEX_OK = 0,
    SAMEPAGE_INDEX_NO_DOCUMENT = -1, /* the index has no document of this number */
    SAMEPAGE_INDEX_FULL = -2,        /* the index has 2^30 documents */
    SAMEPAGE_INDEX_FOREIGN = -3,     /* the signature was made with other settings */
    SAMEPAGE_INDEX_DAMAGED = -4      /* reserved; no function returns it */
};

/* ---- texts ---- */

/* The summary of a text that is compared instead of the text: the hashes of its shingles, about
 * four bytes a word, and at most `signature.max_shingles` hashes (1,024 by default). Immutable.
 * The caller frees it. Thread rule: one thread at a time. */
struct samepage_signature;

/* Turns texts into signatures; holds the settings and scratch memory. Thread rule: one thread at a
 * time; different readers are independent. */
struct samepage_reader;

/* Makes a reader, which the caller frees.
 *
 * settings: an array of alternating keys and values that ends with NULL, or NULL for the defaults.
 * It may contain the settings of docs/CONFIGURATION.md that begin with similarity., signature. and
 * text.
 * error: room for `size` bytes.
 *
 * Returns NULL if a setting is unknown or its value is not allowed; `error` then has a sentence,
 * truncated to fit and terminated by NUL. */
SAMEPAGE_API struct samepage_reader *samepage_reader_new(const char *const *settings, char *error,
                                                         size_t size);
/* Frees a reader. NULL is allowed. */
SAMEPAGE_API void samepage_reader_free(struct samepage_reader *reader);

/* Computes the signature of a text of `bytes` bytes, which is not changed and not kept.
 *
 * type: the content type as in HTTP, for example "text/plain", "text/html; charset=latin1" or
 * "text/markdown". If it is NULL or has only a charset ("; charset=utf-8"), the type is detected
 * from the text. If no charset is given, the text's byte order mark or meta tag decides; otherwise
 * the text is read as UTF-8 if it is valid UTF-8, and as windows-1252 if not.
 *
 * Never returns NULL: a text without words has an empty signature, which is similar to nothing. The
 * caller frees the signature. */
SAMEPAGE_API struct samepage_signature *
samepage_read(struct samepage_reader *reader, const char *text, size_t bytes, const char *type);

/* Extracts the text that is compared, for a full-text index or for display: UTF-8, one block
 * (paragraph, heading, list item) a line, not terminated by NUL. `type` is as above. Returns
 * *ret_bytes bytes that belong to the reader and are valid until its next call. */
SAMEPAGE_API const char *samepage_extract(struct samepage_reader *reader, const char *text,
                                          size_t bytes, const char *type, size_t *ret_bytes);
/* Returns 1 if content of this type can have text (HTML, Markdown, plain text, or an unknown type:
 * NULL or empty), and 0 if not (images, style sheets, scripts, ...). */
SAMEPAGE_API int samepage_readable(const char *type);

/* Frees the caller's reference to a signature. NULL is allowed. */
SAMEPAGE_API void samepage_signature_free(struct samepage_signature *signature);

/* Returns the number of distinct shingles of the whole text, also of those beyond
 * `signature.max_shingles`; 0 if it has no words. (Another similarity.method counts its own
 * features.) */
SAMEPAGE_API uint32_t samepage_signature_size(const struct samepage_signature *signature);

/* pack serialises a signature, so that it can be stored. It returns the number of bytes needed, and
 * writes them to `out` if `size` is at least that number; otherwise it writes nothing (`out` may be
 * NULL if `size` is 0). unpack makes a signature of such bytes, which the caller frees, or returns
 * NULL if the bytes are not a valid signature. */
SAMEPAGE_API size_t samepage_signature_pack(const struct samepage_signature *signature, void *out,
                                            size_t size);
SAMEPAGE_API struct samepage_signature *samepage_signature_unpack(const void *bytes, size_t size);

/* ---- the index ---- */

/* A set of documents, each with a number and a signature. Thread rule: one thread at a time. */
struct samepage_index;

/* Makes an empty index, which the caller frees. Parameters and errors are those of
 * samepage_reader_new. Use the settings of the readers that make the signatures; otherwise their
 * signatures are refused (SAMEPAGE_INDEX_FOREIGN). */
SAMEPAGE_API struct samepage_index *samepage_index_new(const char *const *settings, char *error,
                                                       size_t size);
/* Frees an index and its references to signatures. NULL is allowed. */
SAMEPAGE_API void samepage_index_free(struct samepage_index *index);

/* Returns the similarity of two texts by the index's method, 0 to 1; 0 if a signature was made with
 * other settings than the index's. */
SAMEPAGE_API double samepage_index_similarity(const struct samepage_index *index,
                                              const struct samepage_signature *a,
                                              const struct samepage_signature *b);
/* Returns 1 if the two texts are near duplicates by the index's method and threshold, else 0; 0
 * also for signatures of other settings. */
SAMEPAGE_API int samepage_index_similar(const struct samepage_index *index,
                                        const struct samepage_signature *a,
                                        const struct samepage_signature *b);

/* Adds a document. *ret_document is its number: that of a removed document if there is one, or the
 * next unused number, from 0. The index takes a reference of its own to the signature, so the
 * caller may free its reference. Returns SAMEPAGE_INDEX_OK, _FULL or _FOREIGN; after an error
 * nothing has changed. */
SAMEPAGE_API int samepage_index_add(struct samepage_index *index,
                                    const struct samepage_signature *signature,
                                    uint32_t *ret_document);

/* Removes a document. Takes time proportional to its number of shingles; if the document is the
 * pivot of a star, which is rare, also one comparison for each document of the star. Returns
 * SAMEPAGE_INDEX_OK or _NO_DOCUMENT. */
SAMEPAGE_API int samepage_index_remove(struct samepage_index *index, uint32_t document);

struct samepage_match {
    uint32_t document; /* its number */
    double similarity; /* to the signature that was searched for: threshold to 1 */
};

/* Finds one similar document, often but not always the most similar one: of each star it considers
 * one similar document (the pivot, if it is similar), and it chooses the most similar of these.
 * Returns 1 and sets *ret_match; 0 if no document is similar; or SAMEPAGE_INDEX_FOREIGN. Takes one
 * look-up for each shingle, and one or two comparisons for each star that shares rare shingles with
 * the text, however many near duplicates the text has. */
SAMEPAGE_API int samepage_index_nearest(struct samepage_index *index,
                                        const struct samepage_signature *signature,
                                        struct samepage_match *ret_match);

/* Finds all similar documents and writes the first `room` of them to ret_matches: the most similar
 * first, and by number if equally similar. Returns how many there are, which may be more than
 * `room`, or SAMEPAGE_INDEX_FOREIGN. Takes the time of samepage_index_nearest, and one comparison
 * for each document of each star in which it found one. */
SAMEPAGE_API int64_t samepage_index_query(struct samepage_index *index,
                                          const struct samepage_signature *signature,
                                          struct samepage_match *ret_matches, size_t room);

/* Returns a new reference to the signature of a document, which the caller frees; NULL if the index
 * has no document of this number. */
SAMEPAGE_API struct samepage_signature *samepage_index_get(struct samepage_index *index,
                                                           uint32_t document);

/* Return the number of documents in the index, and its memory in bytes, signatures included. */
SAMEPAGE_API uint64_t samepage_index_count(const struct samepage_index *index);
SAMEPAGE_API uint64_t samepage_index_bytes(const struct samepage_index *index);
/* Returns the version of the library, for example "0.2.0"; a constant. */
SAMEPAGE_API const char *samepage_index_version(void);

#ifdef __cplusplus
}
#endif

#endif
