/* See documents.h. Workers convert documents to bytes; the caller's thread adds them in order. */
#include "cover/documents.h"

#include <strings.h>

#include "base/assert.h"
#include "base/mem.h"
#include "base/url.h"

/* A converted document: this struct, then its shingles, then its texts in the order of the lengths.
 */
struct made {
    int64_t time_ms;
    double popularity;
    struct sp_id set;
    uint32_t shingles;
    uint32_t words;
    uint32_t bytes;
    uint32_t url, canonical, mime, title, language, text; /* lengths */
};

struct text {
    struct sp_id id; /* key of the map: first */
    struct sp_view view;
    char data[];
};

struct set {
    struct sp_id id; /* key of the map: first */
    uint32_t content;
};

/* ---- converting ---- */

/* Appends "text/html" for "Text/HTML; charset=…". */
static uint32_t put_mime(struct sp_view type, struct sp_buf *out)
{
    size_t start = out->len;
    for (size_t i = 0; i < type.len && type.data[i] != ';'; i++) {
        char c = type.data[i];
        if ((uint8_t)c > ' ')
            sp_buf_put_u8(out, (uint8_t)(c >= 'A' && c <= 'Z' ? c | 0x20 : c));
    }
    return (uint32_t)(out->len - start);
}

static uint32_t put_language(uint16_t language, struct sp_buf *out)
{
    if (!language)
        return 0;
    sp_buf_put_u8(out, (uint8_t)(language >> 8));
    sp_buf_put_u8(out, (uint8_t)language);
    return 2;
}

static void put_signature(const struct sp_signature *s, struct made *m, struct sp_buf *out)
{
    m->set = sp_hash128(s->hashes, 4ull * s->shingle_count);
    m->shingles = s->shingle_count;
    sp_buf_put(out, s->hashes, 4ull * s->shingle_count);
}

enum sp_err sp_document_make(void *maker, struct sp_text *text, const struct sp_page_record *page,
                             struct sp_buf *scratch, struct sp_buf *out, const char **ret_why)
{
    const struct sp_document_maker *maker_ = maker;
    struct made m = {.time_ms = page->fetch_time_ms, .popularity = page->popularity};
    sp_buf_reset(scratch);
    enum sp_err err = sp_url_canonical(page->url, scratch);
    *ret_why = SP_URL_REFUSED;
    if (err != SP_OK)
        return err;
    if (!sp_page_record_succeeded(page) || !sp_text_readable(page->content_type))
        return SP_OK;
    *ret_why = sp_page_record_lacks_content(page);
    if (*ret_why)
        return SP_MALFORMED;
    struct sp_signature *signature =
        sp_text_signature(text, page->content_type, page->content, page->content_is_utf8);
    size_t start = out->len;
    sp_buf_put(out, &m, sizeof m);
    put_signature(signature, &m, out);
    m.words = sp_text_word_count(text);
    m.bytes = (uint32_t)page->content.len;
    m.url = (uint32_t)page->url.len;
    m.canonical = (uint32_t)scratch->len;
    sp_buf_put_view(out, page->url);
    sp_buf_put_view(out, sp_buf_view(scratch));
    m.mime = put_mime(page->content_type, out);
    if (maker_->fields & 1u << SP_FIELD_title) {
        size_t before = out->len;
        sp_text_title(text, out);
        m.title = (uint32_t)(out->len - before);
    }
    m.language = put_language(signature->language, out);
    if (maker_->fields & 1u << SP_FIELD_text) {
        size_t before = out->len;
        sp_text_extract(text, page->content_type, page->content, page->content_is_utf8, out);
        m.text = (uint32_t)(out->len - before);
    }
    memcpy(out->data + start, &m, sizeof m);
    sp_signature_unref(signature);
    return SP_OK;
}

/* ---- adding ---- */

void sp_documents_open(struct sp_documents *d, uint32_t fields, const struct sp_relation *weight,
                       const char *temp)
{
    *d = (struct sp_documents){.fields = fields, .weight = weight};
    for (size_t f = 0; f < SP_FIELD_COUNT; f++)
        if (fields & 1u << f)
            d->slot[f] = (uint8_t)d->slots++;
    sp_spool_open(&d->set_spool, temp);
    sp_spool_open(&d->detail_spool, temp);
}

void sp_documents_done(struct sp_documents *d)
{
    sp_map_free_objects(&d->by_set);
    sp_map_free_objects(&d->texts);
    sp_versions_done(&d->versions);
    sp_spool_close(&d->set_spool);
    sp_spool_close(&d->detail_spool);
    sp_free(d->items);
    sp_free(d->contents);
    sp_free(d->cells);
    sp_free(d->weights);
    *d = (struct sp_documents){0};
}

static const struct sp_view *intern(struct sp_documents *d, struct sp_view view)
{
    struct sp_id id = sp_hash128(view.data ? view.data : "", view.len);
    struct text *t = sp_map_get(&d->texts, id);
    if (!t) {
        t = sp_alloc(sizeof *t + view.len);
        t->id = id;
        t->view = sp_view(t->data, view.len);
        if (view.data && view.len)
            memcpy(t->data, view.data, view.len);
        sp_map_add(&d->texts, t);
    }
    return &t->view;
}

static uint32_t content_of(struct sp_documents *d, const struct made *m, struct sp_view shingles)
{
    struct set *set = sp_map_get(&d->by_set, m->set);
    if (set)
        return set->content;
    sp_grow(&d->contents, &d->content_cap, d->content_count + 1);
    set = sp_alloc(sizeof *set);
    *set = (struct set){m->set, (uint32_t)d->content_count};
    sp_map_add(&d->by_set, set);
    d->contents[d->content_count++] = (struct sp_cover_content){d->set_spool.len / 4, m->shingles};
    sp_spool_put(&d->set_spool, shingles.data, shingles.len);
    return set->content;
}

/* Reads all fields; the texts are valid as long as the bytes. */
static void read_fields(const struct made *m, struct sp_reader *r, struct sp_view *ret_url,
                        struct sp_view texts[SP_FIELD_COUNT], union sp_cell cells[SP_FIELD_COUNT])
{
    *ret_url = sp_read_bytes(r, m->url);
    texts[SP_FIELD_url] = sp_read_bytes(r, m->canonical);
    texts[SP_FIELD_host] = sp_url_host(texts[SP_FIELD_url]);
    texts[SP_FIELD_mime] = sp_read_bytes(r, m->mime);
    texts[SP_FIELD_title] = sp_read_bytes(r, m->title);
    texts[SP_FIELD_language] = sp_read_bytes(r, m->language);
    texts[SP_FIELD_text] = sp_read_bytes(r, m->text);
    for (size_t f = 0; f < SP_FIELD_COUNT; f++)
        cells[f].text = &texts[f];
    cells[SP_FIELD_timestamp].number = m->time_ms > 0 ? (double)m->time_ms : 0;
    cells[SP_FIELD_popularity].number = m->popularity;
    cells[SP_FIELD_length].number = m->words;
    cells[SP_FIELD_shingles].number = m->shingles;
    cells[SP_FIELD_bytes].number = m->bytes;
    cells[SP_FIELD_versions].number = 0; /* set by sp_documents_settle */
}

static union sp_cell *new_document(struct sp_documents *d)
{
    sp_grow(&d->items, &d->cap, d->count + 1);
    sp_grow(&d->cells, &d->cell_cap, (d->count + 1) * d->slots + 1); /* never NULL */
    return d->cells + d->count++ * d->slots;
}

static void add_weight(struct sp_documents *d, uint64_t number, const struct sp_relation_pair *one)
{
    double weight = sp_relation_number(d->weight->root, one);
    sp_grow(&d->weights, &d->weight_cap, d->count);
    d->weights[d->count - 1] = weight;
    if (!(weight > 0 && weight < 1e300) && !d->bad_weight)
        d->bad_weight = number + 1;
}

bool sp_documents_add(struct sp_documents *d, uint64_t number, struct sp_view made,
                      const struct sp_relation *filter)
{
    struct sp_view url, texts[SP_FIELD_COUNT] = {{0}};
    union sp_cell all[SP_FIELD_COUNT];
    struct sp_reader r = sp_reader(made);
    struct made m;
    struct sp_view head = sp_read_bytes(&r, sizeof m);
    SP_ASSERT(head.data);
    memcpy(&m, head.data, sizeof m);
    struct sp_view shingles = sp_read_bytes(&r, 4ull * m.shingles);
    read_fields(&m, &r, &url, texts, all);
    struct sp_relation_pair one = {.document = {all, all}, .size = {m.shingles, m.shingles}};
    if (filter && !sp_versions_part(filter->root, false, &one))
        return false;
    if (d->fields & 1u << SP_FIELD_versions)
        sp_versions_add(&d->versions, d->count, texts[SP_FIELD_url]);
    union sp_cell *cells = new_document(d);
    d->items[d->count - 1] = (struct sp_cover_document){number, d->detail_spool.len,
                                                        content_of(d, &m, shingles), m.bytes};
    if (d->weight)
        add_weight(d, number, &one);
    for (size_t f = 0; f < SP_FIELD_COUNT; f++)
        if (d->fields & 1u << f)
            cells[d->slot[f]] =
                sp_field_is_text(f) ? (union sp_cell){.text = intern(d, texts[f])} : all[f];
    sp_spool_put(&d->detail_spool, &m.time_ms, sizeof m.time_ms);
    sp_spool_put(&d->detail_spool, &m.url, sizeof m.url);
    sp_spool_put(&d->detail_spool, url.data, url.len);
    return true;
}

size_t sp_documents_settle(struct sp_documents *d, const struct sp_relation *filter)
{
    size_t kept = 0, before = d->count;
    if (!(d->fields & 1u << SP_FIELD_versions))
        return 0;
    for (size_t i = 0; i < before; i++) {
        union sp_cell *cells = d->cells + i * d->slots;
        struct sp_relation_pair one = {.document = {cells, cells}, .slot = d->slot};
        uint32_t versions = sp_versions_of(&d->versions, i);
        cells[d->slot[SP_FIELD_versions]].number = versions;
        if (filter && !sp_versions_part(filter->root, true, &one))
            continue;
        d->urls += sp_versions_first(&d->versions, i);
        d->version_squares += versions;
        memmove(d->cells + kept * d->slots, cells, d->slots * sizeof *cells);
        if (d->weights)
            d->weights[kept] = d->weights[i];
        d->items[kept++] = d->items[i];
    }
    d->count = kept;
    sp_versions_done(&d->versions);
    return before - kept;
}

size_t sp_documents_contents(const struct sp_documents *d)
{
    uint8_t *used = sp_calloc(d->content_count + 1, 1);
    size_t count = 0;
    for (size_t i = 0; i < d->count; i++) {
        count += !used[d->items[i].content];
        used[d->items[i].content] = 1;
    }
    sp_free(used);
    return count;
}

static const uint32_t nothing[1];

enum sp_err sp_documents_finish(struct sp_documents *d, struct sp_fault *fault)
{
    d->sets = sp_spool_map(&d->set_spool);
    d->details = sp_spool_map(&d->detail_spool);
    if (!d->sets)
        d->sets = nothing; /* arithmetic on NULL is undefined */
    sp_map_free_objects(&d->by_set);
    enum sp_err err = sp_spool_check(&d->set_spool, fault);
    return err == SP_OK ? sp_spool_check(&d->detail_spool, fault) : err;
}

struct sp_relation_pair sp_documents_pair(const struct sp_documents *d, uint32_t a, uint32_t b,
                                          uint32_t overlap)
{
    return (struct sp_relation_pair){
        .document = {sp_document_cells(d, a), sp_document_cells(d, b)},
        .slot = d->slot,
        .size = {d->contents[d->items[a].content].size, d->contents[d->items[b].content].size},
        .overlap = overlap,
    };
}

struct sp_view sp_document_url(const struct sp_documents *d, size_t i, int64_t *ret_time_ms)
{
    const char *at = d->details + d->items[i].at;
    uint32_t len;
    memcpy(ret_time_ms, at, 8);
    memcpy(&len, at + 8, 4);
    return sp_view(at + 12, len);
}
