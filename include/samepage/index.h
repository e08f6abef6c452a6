/* An index of documents in memory that finds the near duplicates of a text.
 *
 *     const char *settings[] = {"similarity.threshold", "0.8", NULL};
 *     char error[256];
 *     struct samepage_index *index = samepage_index_new(settings, error, sizeof error);
 *     struct samepage_reader *reader = samepage_reader_new(settings, error, sizeof error);
 *     struct samepage_signature *signature = samepage_read(reader, text, bytes, "text/plain");
 *     struct samepage_match match;
 *     if (samepage_index_nearest(index, signature, &match) == 1)
 *         ... match.document is the most similar document, match.similarity how similar ...
 *     else
 *         samepage_index_add(index, signature, &document);
 *     samepage_signature_free(signature);
 *
 * Similarity is that of `samepage run`, `pairs` and `similar`: by default the Jaccard similarity of
 * five-word shingles must be at least 0.8. No similar document is missed, except by the methods
 * simhash, cosine and lcs, which look only among candidates. Many near duplicates do not slow the
 * index down, because documents that resemble one another are stored as one star.
 *
 * The binary interface is stable within a major version of the library: structures here do not
 * change, functions are only added. Running out of memory ends the process. */
#ifndef SP_SAMEPAGE_INDEX_H
#define SP_SAMEPAGE_INDEX_H

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
    SAMEPAGE_INDEX_OK = 0,
    SAMEPAGE_INDEX_NO_DOCUMENT = -1, /* there is no such document */
    SAMEPAGE_INDEX_FULL = -2,        /* 2^30 documents */
    SAMEPAGE_INDEX_FOREIGN = -3,     /* the signature was made with other settings */
    SAMEPAGE_INDEX_DAMAGED = -4      /* the bytes are no signature */
};

/* ---- texts ---- */

/* What is compared: made of a text, some four bytes a word, at most max_shingles of them. Thread
 * rule: one thread at a time. */
struct samepage_signature;

/* Scratch memory. Thread rule: one thread at a time; different readers are independent. */
struct samepage_reader;

/* settings: keys and values in turns, NULL at the end; NULL for none. Of the settings of
 * docs/CONFIGURATION.md those that begin with similarity., signature. and text. are known. NULL
 * where one is wrong: a sentence goes to error, cut off after size bytes. */
SAMEPAGE_API struct samepage_reader *samepage_reader_new(const char *const *settings, char *error,
                                                         size_t size);
/* NULL is allowed. */
SAMEPAGE_API void samepage_reader_free(struct samepage_reader *reader);

/* The signature of a text. type: as in HTTP: "text/plain", "text/html; charset=latin1",
 * "text/markdown"; NULL, or one that is only "; charset=utf-8": found by a look at it. Where it
 * names no charset, the text's byte order mark or meta tag decides, else it is UTF-8 if it can be.
 * Never NULL: a text without words gives an empty signature, which is similar to nothing. */
SAMEPAGE_API struct samepage_signature *
samepage_read(struct samepage_reader *reader, const char *text, size_t bytes, const char *type);

/* The text itself, for full-text indexes and people: the blocks that count, one a line, UTF-8. What
 * type means is as above. Valid until the next call with this reader. */
SAMEPAGE_API const char *samepage_extract(struct samepage_reader *reader, const char *text,
                                          size_t bytes, const char *type, size_t *ret_bytes);
/* Whether content of a type can have text: HTML, Markdown, plain text, and where it is NULL or says
 * nothing; not images, style sheets and the like. 1 or 0. */
SAMEPAGE_API int samepage_readable(const char *type);

/* NULL is allowed. */
SAMEPAGE_API void samepage_signature_free(struct samepage_signature *signature);

/* Shingles (or what the method counts) of the text; 0: it has no words. */
SAMEPAGE_API uint32_t samepage_signature_size(const struct samepage_signature *signature);

/* The signature as bytes, to be kept for later, and back. pack returns the size it needs, and
 * writes where `size` is at least that. unpack returns NULL for bytes that pack did not write. */
SAMEPAGE_API size_t samepage_signature_pack(const struct samepage_signature *signature, void *out,
                                            size_t size);
SAMEPAGE_API struct samepage_signature *samepage_signature_unpack(const void *bytes, size_t size);

/* ---- the index ---- */

/* Thread rule: one thread at a time. */
struct samepage_index;

/* As samepage_reader_new; the same settings, or signatures are foreign. */
SAMEPAGE_API struct samepage_index *samepage_index_new(const char *const *settings, char *error,
                                                       size_t size);
/* NULL is allowed. */
SAMEPAGE_API void samepage_index_free(struct samepage_index *index);

/* The similarity of two texts, 0 to 1, by the method. */
SAMEPAGE_API double samepage_index_similarity(const struct samepage_index *index,
                                              const struct samepage_signature *a,
                                              const struct samepage_signature *b);
/* Whether it reaches the threshold: 1 or 0. */
SAMEPAGE_API int samepage_index_similar(const struct samepage_index *index,
                                        const struct samepage_signature *a,
                                        const struct samepage_signature *b);

/* Adds a document; *ret_document is its number, the number of one that was removed or the next
 * one. The index keeps a reference of its own. SAMEPAGE_INDEX_OK, _FULL or _FOREIGN. */
SAMEPAGE_API int samepage_index_add(struct samepage_index *index,
                                    const struct samepage_signature *signature,
                                    uint32_t *ret_document);

/* Removes a document. Costs as much as its star has documents where it holds the star together,
 * which is rare, else O(shingles). SAMEPAGE_INDEX_OK or _NO_DOCUMENT. */
SAMEPAGE_API int samepage_index_remove(struct samepage_index *index, uint32_t document);

struct samepage_match {
    uint32_t document;
    double similarity;
};

/* One similar document: the most similar of those that hold a star together, else one of the
 * others. 1: *ret_match is it; 0: none is similar. SAMEPAGE_INDEX_FOREIGN. Costs a look-up a
 * shingle and a comparison or two for each star that shares rare shingles with the text, however
 * many near duplicates it has. */
SAMEPAGE_API int samepage_index_nearest(struct samepage_index *index,
                                        const struct samepage_signature *signature,
                                        struct samepage_match *ret_match);

/* All similar documents, most similar first, then by number: the number found, of which at most
 * `room` are written. SAMEPAGE_INDEX_FOREIGN. Costs a comparison for each document of each star
 * that is touched, so as much as nearest and what it returns. */
SAMEPAGE_API int64_t samepage_index_query(struct samepage_index *index,
                                          const struct samepage_signature *signature,
                                          struct samepage_match *ret_matches, size_t room);

/* A reference to the signature of a document, to be freed; NULL where there is no such document. */
SAMEPAGE_API struct samepage_signature *samepage_index_get(struct samepage_index *index,
                                                           uint32_t document);

/* Documents in the index, and bytes of memory. */
SAMEPAGE_API uint64_t samepage_index_count(const struct samepage_index *index);
SAMEPAGE_API uint64_t samepage_index_bytes(const struct samepage_index *index);
/* The version of the library: "0.1.0". */
SAMEPAGE_API const char *samepage_index_version(void);

#ifdef __cplusplus
}
#endif

#endif
