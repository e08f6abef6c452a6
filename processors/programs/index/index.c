/* Documents in memory: see samepage/index.h.
 *
 * A document is a row of a star index (stars/stars.h). Removals are applied at once, so every star
 * has its pivot when a query comes. A row number is reused as soon as no star refers to it.
 * Documents without words are not in the index: they resemble nothing. */
#include "samepage/index.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/mem.h"
#include "index/internal.h"
#include "stars/stars.h"

/* ---- texts ---- */

struct samepage_reader {
    struct sp_text *text;
    struct sp_buf extract;
};

static struct samepage_signature *as_public(struct sp_signature *s)
{
    return (struct samepage_signature *)s;
}

struct samepage_reader *samepage_reader_new(const char *const *settings, char *error, size_t size)
{
    struct sp_index_settings read;
    if (!sp_index_settings_read(settings, &read, error, size))
        return NULL;
    struct samepage_reader *reader = sp_calloc(1, sizeof *reader);
    reader->text = sp_text_new(&read.text);
    return reader;
}

void samepage_reader_free(struct samepage_reader *reader)
{
    if (!reader)
        return;
    sp_text_free(reader->text);
    sp_buf_done(&reader->extract);
    sp_free(reader);
}

struct samepage_signature *samepage_read(struct samepage_reader *reader, const char *text,
                                         size_t bytes, const char *type)
{
    struct sp_view content_type = sp_view_str(type ? type : "");
    return as_public(sp_text_signature(reader->text, content_type, sp_view(text, bytes), false));
}

const char *samepage_extract(struct samepage_reader *reader, const char *text, size_t bytes,
                             const char *type, size_t *ret_bytes)
{
    sp_buf_reset(&reader->extract);
    sp_text_extract(reader->text, sp_view_str(type ? type : ""), sp_view(text, bytes), false,
                    &reader->extract);
    *ret_bytes = reader->extract.len;
    return reader->extract.len ? reader->extract.data : "";
}

int samepage_readable(const char *type)
{
    return sp_text_readable(sp_view_str(type ? type : ""));
}

void samepage_signature_free(struct samepage_signature *signature)
{
    sp_signature_unref(sp_index_signature(signature));
}

uint32_t samepage_signature_size(const struct samepage_signature *signature)
{
    return sp_index_signature(signature)->shingle_total;
}

size_t samepage_signature_pack(const struct samepage_signature *signature, void *out, size_t size)
{
    struct sp_buf packed = {0};
    sp_signature_encode(sp_index_signature(signature), &packed);
    size_t bytes = packed.len;
    if (size >= bytes)
        memcpy(out, packed.data, bytes);
    sp_buf_done(&packed);
    return bytes;
}

struct samepage_signature *samepage_signature_unpack(const void *bytes, size_t size)
{
    struct sp_signature *signature;
    return sp_signature_decode(sp_view(bytes, size), &signature) == SP_OK ? as_public(signature)
                                                                          : NULL;
}

/* ---- the index ---- */

struct samepage_index {
    struct sp_similarity_options similarity;
    uint32_t params; /* of its signatures */
    struct sp_stars *stars;
    struct sp_stars_domain *domain;
    struct document {
        struct sp_signature *signature; /* also of a removed document, while its star needs it */
        bool live;
    } * documents;
    size_t document_cap;
    uint32_t used; /* numbers given out so far */
    uint32_t *free;
    size_t free_cap;
    size_t free_count;
    uint64_t count;
    uint64_t signature_bytes;
    struct samepage_match *matches;
    size_t match_cap;
    size_t match_count;
    const struct sp_signature *asked;
    uint32_t *again; /* rows that left their star */
    size_t again_cap;
};

static enum sp_err signature_of(void *arg, uint32_t row, const struct sp_signature **ret_signature)
{
    const struct samepage_index *index = arg;
    *ret_signature = index->documents[row].signature;
    return SP_OK;
}

static uint64_t name_of(void *arg, uint32_t row)
{
    const struct samepage_index *index = arg;
    return index->documents[row].signature->content_hash.lo;
}

/* Returns the params of signatures that are made with these settings. */
static uint32_t params_of(const struct sp_text_options *options)
{
    struct sp_text *text = sp_text_new(options);
    struct sp_signature *empty = sp_text_signature(text, sp_view_str(""), sp_view_str(""), true);
    uint32_t params = empty->params;
    sp_signature_unref(empty);
    sp_text_free(text);
    return params;
}

struct samepage_index *samepage_index_new(const char *const *settings, char *error, size_t size)
{
    struct sp_index_settings read;
    if (!sp_index_settings_read(settings, &read, error, size))
        return NULL;
    struct samepage_index *index = sp_calloc(1, sizeof *index);
    index->similarity = read.similarity;
    index->params = params_of(&read.text);
    index->stars = sp_stars_new(&(struct sp_stars_options){
        .similarity = read.similarity, .signature = signature_of, .name = name_of, .arg = index});
    index->domain = sp_stars_domain_new(index->stars, 0, false);
    return index;
}

void samepage_index_free(struct samepage_index *index)
{
    if (!index)
        return;
    sp_stars_free(index->stars);
    sp_stars_domain_free(index->domain);
    for (uint32_t i = 0; i < index->used; i++)
        sp_signature_unref(index->documents[i].signature);
    sp_free(index->documents);
    sp_free(index->free);
    sp_free(index->matches);
    sp_free(index->again);
    sp_free(index);
}

/* Other features would be compared than those of the index's method. */
static bool are_own(const struct samepage_index *index, const struct sp_signature *a,
                    const struct sp_signature *b)
{
    return a->params == index->params && b->params == index->params;
}

double samepage_index_similarity(const struct samepage_index *index,
                                 const struct samepage_signature *a,
                                 const struct samepage_signature *b)
{
    const struct sp_signature *x = sp_index_signature(a), *y = sp_index_signature(b);
    return are_own(index, x, y) ? sp_similarity(&index->similarity, x, y) : 0;
}

int samepage_index_similar(const struct samepage_index *index, const struct samepage_signature *a,
                           const struct samepage_signature *b)
{
    const struct sp_signature *x = sp_index_signature(a), *y = sp_index_signature(b);
    return are_own(index, x, y) && sp_similar(&index->similarity, x, y, NULL);
}

static void release(struct samepage_index *index, uint32_t row)
{
    struct document *d = &index->documents[row];
    index->signature_bytes -= sp_signature_bytes(d->signature);
    sp_signature_unref(d->signature);
    *d = (struct document){0};
    sp_grow(&index->free, &index->free_cap, index->free_count + 1);
    index->free[index->free_count++] = row;
}

int samepage_index_add(struct samepage_index *index, const struct samepage_signature *signature,
                       uint32_t *ret_document)
{
    struct sp_signature *s = sp_index_signature(signature);
    struct sp_touches touches;
    if (s->params != index->params)
        return SAMEPAGE_INDEX_FOREIGN;
    if (!index->free_count && index->used == SP_STARS_ROWS)
        return SAMEPAGE_INDEX_FULL;
    uint32_t row = index->free_count ? index->free[--index->free_count] : index->used++;
    sp_grow(&index->documents, &index->document_cap, index->used);
    index->documents[row] = (struct document){.signature = sp_signature_ref(s), .live = true};
    index->signature_bytes += sp_signature_bytes(s);
    index->count++;
    if (s->shingle_total > 0) {
        enum sp_err err = sp_stars_insert(index->domain, row, s, &touches);
        SP_ASSERT(err == SP_OK); /* signatures are in memory */
    }
    *ret_document = row;
    return SAMEPAGE_INDEX_OK;
}

/* Does one step of the work that removals left. */
static void settle(struct samepage_index *index)
{
    enum { KIDS = 64 };
    struct sp_stars_left left;
    struct sp_touches touches;
    enum sp_err err = sp_stars_work(index->domain, KIDS, &left);
    SP_ASSERT(err == SP_OK);
    size_t again = left.count;
    sp_grow(&index->again, &index->again_cap, again);
    for (size_t i = 0; i < again; i++)
        index->again[i] = left.rows[i];
    for (size_t i = 0; i < left.ghost_count; i++)
        release(index, left.ghosts[i]);
    for (size_t i = 0; i < again; i++) {
        uint32_t row = index->again[i];
        err = sp_stars_insert(index->domain, row, index->documents[row].signature, &touches);
        SP_ASSERT(err == SP_OK);
    }
}

static bool is_document(const struct samepage_index *index, uint32_t document)
{
    return document < index->used && index->documents[document].live;
}

int samepage_index_remove(struct samepage_index *index, uint32_t document)
{
    if (!is_document(index, document))
        return SAMEPAGE_INDEX_NO_DOCUMENT;
    struct document *d = &index->documents[document];
    bool ghost = false;
    if (d->signature->shingle_total > 0) {
        enum sp_err err = sp_stars_remove(index->domain, document, &ghost);
        SP_ASSERT(err == SP_OK);
    }
    d->live = false;
    index->count--;
    if (!ghost)
        release(index, document);
    while (sp_stars_owes(index->domain))
        settle(index);
    return SAMEPAGE_INDEX_OK;
}

int samepage_index_nearest(struct samepage_index *index, const struct samepage_signature *signature,
                           struct samepage_match *ret_match)
{
    const struct sp_signature *s = sp_index_signature(signature);
    struct sp_touches touches = {0};
    if (s->params != index->params)
        return SAMEPAGE_INDEX_FOREIGN;
    if (s->shingle_total > 0) {
        enum sp_err err = sp_stars_probe(index->domain, s, SP_STARS_NONE, &touches);
        SP_ASSERT(err == SP_OK);
    }
    if (touches.count == 0)
        return 0;
    uint32_t row = touches.items[0].row;
    *ret_match = (struct samepage_match){
        row, sp_similarity(&index->similarity, s, index->documents[row].signature)};
    return 1;
}

static void try_member(void *arg, uint32_t row)
{
    struct samepage_index *index = arg;
    const struct sp_signature *signature = index->documents[row].signature;
    if (!sp_similar(&index->similarity, index->asked, signature, NULL))
        return;
    double similarity = sp_similarity(&index->similarity, index->asked, signature);
    sp_grow(&index->matches, &index->match_cap, index->match_count + 1);
    index->matches[index->match_count++] = (struct samepage_match){row, similarity};
}

static int best_first(const void *a, const void *b)
{
    const struct samepage_match *x = a, *y = b;
    if (x->similarity != y->similarity)
        return x->similarity > y->similarity ? -1 : 1;
    return x->document < y->document ? -1 : x->document > y->document;
}

int64_t samepage_index_query(struct samepage_index *index,
                             const struct samepage_signature *signature,
                             struct samepage_match *ret_matches, size_t room)
{
    const struct sp_signature *s = sp_index_signature(signature);
    struct sp_touches touches = {0};
    if (s->params != index->params)
        return SAMEPAGE_INDEX_FOREIGN;
    index->match_count = 0;
    index->asked = s;
    if (s->shingle_total > 0) {
        enum sp_err err = sp_stars_probe(index->domain, s, SP_STARS_NONE, &touches);
        SP_ASSERT(err == SP_OK);
    }
    for (size_t i = 0; i < touches.count; i++)
        sp_stars_each_member(index->stars, touches.items[i].row, try_member, index);
    if (index->match_count > 1)
        qsort(index->matches, index->match_count, sizeof *index->matches, best_first);
    size_t kept = 0;
    for (size_t i = 0; i < index->match_count; i++) /* a star can be found through several rows */
        if (kept == 0 || index->matches[i].document != index->matches[kept - 1].document)
            index->matches[kept++] = index->matches[i];
    for (size_t i = 0; i < kept && i < room; i++)
        ret_matches[i] = index->matches[i];
    return (int64_t)kept;
}

struct samepage_signature *samepage_index_get(struct samepage_index *index, uint32_t document)
{
    return is_document(index, document)
               ? as_public(sp_signature_ref(index->documents[document].signature))
               : NULL;
}

uint64_t samepage_index_count(const struct samepage_index *index)
{
    return index->count;
}

uint64_t samepage_index_bytes(const struct samepage_index *index)
{
    struct sp_stars_stats stats;
    sp_stars_stats(index->stars, &stats);
    return sizeof *index + stats.bytes + index->signature_bytes +
           index->document_cap * sizeof *index->documents + index->free_cap * sizeof *index->free +
           index->match_cap * sizeof *index->matches + index->again_cap * sizeof *index->again;
}

const char *samepage_index_version(void)
{
    return SP_VERSION;
}
