/* Shared by the files of the audit. Private to this folder. */
#ifndef SP_AUDIT_INTERNAL_H
#define SP_AUDIT_INTERNAL_H

#include "audit/audit.h"

enum { SP_AUDIT_NONE = UINT32_MAX, SP_AUDIT_BINS = 20, SP_AUDIT_EXAMPLES = 4 };

#ifdef __cplusplus
extern "C" {
#endif

struct sp_audit_document {
    uint32_t content; /* equal for documents of equal content */
    uint32_t file;
    uint64_t number; /* of the record in the file */
    uint64_t bytes;
    uint32_t source;
    uint32_t next; /* the next document with the same id, in reading order */
    uint32_t previous;
    uint32_t survivor; /* of a removed document, if known: the first document with its id */
    uint32_t cluster;
    bool removed;
    bool superseded; /* neither kept nor removed: the list is of statuses, and not about this one */
    size_t id;       /* offset into the ids */
    int64_t time;
    uint64_t text; /* hash of the content as read */
};

struct sp_audit_content {
    uint32_t kept; /* documents */
    uint32_t removed;
    uint32_t first_kept;
    uint32_t first; /* number of a document */
    double best;    /* similarity to a kept one, in the bin of the nearest */
    bool missed;    /* resembles an earlier kept one */
    bool right;     /* removed, and resembles a kept one */
    bool alike;     /* removed, and resembles only other removed ones */
};

struct sp_audit_source {
    size_t name; /* offset into the ids */
    uint64_t documents;
    uint64_t removed;
    uint64_t unjustified; /* removed in a chain or wrongly */
    uint64_t bytes;
    uint64_t removed_bytes;
};

struct sp_audit_cluster {
    uint32_t size;
    uint32_t kept;
    uint32_t first_kept;
    double least; /* similarity of a removed member to the first kept one */
    uint32_t unlike;
};

/* A pair of documents to show. */
struct sp_audit_example {
    uint32_t removed; /* or the kept document that could have been removed */
    uint32_t other;   /* SP_AUDIT_NONE: no such document */
    double similarity;
};

enum sp_audit_kind {
    SP_AUDIT_WRONG,
    SP_AUDIT_CHAIN,
    SP_AUDIT_UNLIKE,
    SP_AUDIT_MISSED,
    SP_AUDIT_KINDS
};

struct sp_audit {
    const struct sp_audit_options *options;
    struct sp_audit_result *result;
    struct sp_buf ids; /* NUL-terminated, of documents and sources */
    struct sp_audit_document *documents;
    uint32_t count;
    uint32_t document_cap;
    struct sp_audit_content *contents;
    struct sp_signature **signatures; /* of the contents */
    uint32_t content_count;
    uint32_t content_cap;
    uint32_t signature_cap;
    struct sp_audit_source *sources;
    uint32_t source_count;
    uint32_t source_cap;
    struct sp_audit_cluster *clusters;
    uint32_t cluster_count;
    uint32_t cluster_cap;
    struct sp_audit_example examples[SP_AUDIT_KINDS][SP_AUDIT_EXAMPLES];
    uint32_t example_count[SP_AUDIT_KINDS];
    uint64_t bins[SP_AUDIT_BINS + 1]; /* removed documents by similarity to the nearest kept one */
    void *names;                      /* documents.c */
};

/* ---- documents.c ---- */

enum sp_err sp_audit_read(struct sp_audit *a, struct sp_fault *fault);
/* The first document with this id, or SP_AUDIT_NONE. */
uint32_t sp_audit_find(const struct sp_audit *a, struct sp_view id);
void sp_audit_documents_done(struct sp_audit *a);

/* ---- lists.cc ---- */

enum sp_audit_said {
    SP_AUDIT_LISTED,         /* that it is in the list */
    SP_AUDIT_HEAD,           /* that it is the kept one of a cluster */
    SP_AUDIT_STATUS,         /* status of a page (codec/lines.h): the last one of each counts */
    SP_AUDIT_STATUS_KEPT,    /* unique, winner */
    SP_AUDIT_STATUS_REMOVED, /* loser */
    SP_AUDIT_STATUS_NEITHER  /* gone, forgotten, or a redirect */
};

/* One entry of a list. `cluster` and `survivor` may be empty. */
struct sp_audit_entry {
    struct sp_view id;
    struct sp_view survivor;
    struct sp_view cluster;
    uint64_t text; /* hash of the content in the line; 0: it has none */
    enum sp_audit_said said;
};

/* Reads a line: an object with "id" or "url" (or the field of that name), and perhaps "kept",
 * "survivor", "duplicate_of", "winner_url" or "cluster", "cluster_id", "__cluster__", and the
 * content; an object {"kept", "removed": [...]}; an array of ids, a cluster; a string or number, an
 * id; a line that is not JSON, an id. Calls `each` for each entry. Returns false if there is none
 * because the line has no id. */
void *sp_audit_lines_new(const char *id_field, const char *text_field);
void sp_audit_lines_free(void *lines);
bool sp_audit_lines_read(void *lines, const char *line, size_t len,
                         void (*each)(void *arg, const struct sp_audit_entry *entry), void *arg);

uint64_t sp_audit_text_hash(struct sp_view text); /* never 0 */

/* ---- marks.c ---- */

/* Reads the lists, and says of each document whether it was removed. */
enum sp_err sp_audit_lists(struct sp_audit *a, struct sp_fault *fault);

/* ---- judge.c ---- */

enum sp_err sp_audit_judge(struct sp_audit *a, struct sp_fault *fault);

/* ---- near.c ---- */

/* Fills in `missed`, `right`, `alike` and `best` of the contents, and counts the pairs of different
 * kept ones. */
enum sp_err sp_audit_compare(struct sp_audit *a);
/* The content that resembles this one most, the first of equals; SP_AUDIT_NONE: there is none. */
uint32_t sp_audit_nearest(const struct sp_audit *a, uint32_t content, double *ret_similarity);

/* ---- page.c, summary.c ---- */

enum sp_err sp_audit_page(struct sp_audit *a, struct sp_fault *fault);
enum sp_err sp_audit_summary(struct sp_audit *a, struct sp_fault *fault);

/* Shows the pair, unless there are enough of its kind. */
static inline void sp_audit_add_example(struct sp_audit *a, enum sp_audit_kind kind,
                                        uint32_t removed, uint32_t other, double similarity)
{
    uint32_t *n = &a->example_count[kind];
    struct sp_audit_example *e = &a->examples[kind][*n];
    if (*n == SP_AUDIT_EXAMPLES)
        return;
    e->removed = removed;
    e->other = other;
    e->similarity = similarity;
    (*n)++;
}

static inline double sp_audit_similarity(const struct sp_audit *a, uint32_t x, uint32_t y)
{
    uint32_t cx = a->documents[x].content, cy = a->documents[y].content;
    return cx == cy ? 1
                    : sp_similarity(&a->options->similarity, a->signatures[cx], a->signatures[cy]);
}

static inline const char *sp_audit_id(const struct sp_audit *a, uint32_t document)
{
    return a->ids.data + a->documents[document].id;
}

#ifdef __cplusplus
}
#endif

#endif
