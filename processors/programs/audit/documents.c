/* The collection: ids, contents, sources. Signatures of distinct contents stay in memory, texts do
 * not. */
#include <stdio.h>

#include "audit/internal.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/url.h"
#include "local/pipeline.h"

/* An id, a content or a source, found by its hash. */
struct name {
    struct sp_id hash; /* key of the map: first */
    uint32_t first;
    uint32_t last;
};

struct names {
    struct sp_map ids;
    struct sp_map contents;
    struct sp_map sources;
};

void sp_audit_documents_done(struct sp_audit *a)
{
    struct names *n = a->names;
    if (n) {
        sp_map_free_objects(&n->ids);
        sp_map_free_objects(&n->contents);
        sp_map_free_objects(&n->sources);
    }
    for (uint32_t i = 0; i < a->content_count; i++)
        sp_signature_unref(a->signatures[i]);
    sp_free(n);
    sp_free(a->documents);
    sp_free(a->contents);
    sp_free(a->signatures);
    sp_free(a->sources);
    sp_free(a->clusters);
    sp_buf_done(&a->ids);
}

/* Returns the entry of the name; a new one has first = SP_AUDIT_NONE. */
static struct name *name_of(struct sp_map *map, struct sp_id hash)
{
    struct name *n = sp_map_get(map, hash);
    if (n)
        return n;
    n = sp_alloc(sizeof *n);
    *n = (struct name){hash, SP_AUDIT_NONE, SP_AUDIT_NONE};
    sp_map_add(map, n);
    return n;
}

uint32_t sp_audit_find(const struct sp_audit *a, struct sp_view id)
{
    const struct names *names = a->names;
    const struct name *n = sp_map_get(&names->ids, sp_hash128(id.data, id.len));
    return n ? n->first : SP_AUDIT_NONE;
}

static size_t put_text(struct sp_audit *a, struct sp_view text)
{
    size_t at = a->ids.len;
    sp_buf_put_view(&a->ids, text);
    sp_buf_put_u8(&a->ids, 0);
    return at;
}

/* The source is the host of the URL, or the file if the document's id is not a URL. */
static uint32_t source_of(struct sp_audit *a, struct sp_view url, const char *file)
{
    struct sp_buf canonical = {0};
    struct sp_view name = sp_view_str(file);
    if (sp_url_canonical(url, &canonical) == SP_OK) {
        struct sp_view host = sp_url_host(sp_buf_view(&canonical));
        name = host.len ? host : name;
    }
    struct names *names = a->names;
    struct name *n = name_of(&names->sources, sp_hash128(name.data, name.len));
    if (n->first == SP_AUDIT_NONE) {
        sp_grow(&a->sources, &a->source_cap, a->source_count + 1);
        n->first = a->source_count++;
        a->sources[n->first] = (struct sp_audit_source){.name = put_text(a, name)};
    }
    sp_buf_done(&canonical);
    return n->first;
}

static uint32_t content_of(struct sp_audit *a, struct sp_signature *signature)
{
    struct names *names = a->names;
    struct name *n = name_of(&names->contents, signature->content_hash);
    if (n->first == SP_AUDIT_NONE) {
        sp_grow(&a->contents, &a->content_cap, a->content_count + 1);
        sp_grow(&a->signatures, &a->signature_cap, a->content_count + 1);
        n->first = a->content_count++;
        a->contents[n->first] =
            (struct sp_audit_content){.first_kept = SP_AUDIT_NONE, .first = a->count};
        a->signatures[n->first] = sp_signature_ref(signature);
    }
    return n->first;
}

uint64_t sp_audit_text_hash(struct sp_view text)
{
    uint64_t hash = sp_hash64(text.data, text.len);
    return hash ? hash : 1;
}

/* Computes in a worker what is needed of a record: the id, the URL, the time, the text's hash,
 * the packed signature. */
static enum sp_err make(void *arg, struct sp_text *text, const struct sp_page_record *page,
                        struct sp_buf *scratch, struct sp_buf *out, const char **ret_why)
{
    struct sp_view id = page->id.len ? page->id : page->url;
    (void)arg;
    if (!sp_page_record_succeeded(page) || !sp_text_readable(page->content_type))
        return SP_OK;
    *ret_why = sp_page_record_lacks_content(page);
    if (*ret_why)
        return SP_MALFORMED;
    struct sp_signature *signature =
        sp_text_signature(text, page->content_type, page->content, page->content_is_utf8);
    sp_buf_reset(scratch);
    sp_signature_encode(signature, scratch);
    sp_signature_unref(signature);
    sp_buf_put_varint(out, id.len);
    sp_buf_put_view(out, id);
    sp_buf_put_varint(out, page->url.len);
    sp_buf_put_view(out, page->url);
    sp_buf_put_u64(out, (uint64_t)page->fetch_time_ms);
    sp_buf_put_u64(out, sp_audit_text_hash(page->content));
    sp_buf_put_view(out, sp_buf_view(scratch));
    return SP_OK;
}

static enum sp_err add(struct sp_audit *a, uint32_t file, const struct sp_batch_item *item)
{
    struct sp_reader r = sp_reader(item->made);
    struct sp_view id = sp_read_bytes(&r, sp_read_varint(&r));
    struct sp_view url = sp_read_bytes(&r, sp_read_varint(&r));
    int64_t time = (int64_t)sp_read_u64(&r);
    uint64_t hash = sp_read_u64(&r);
    struct sp_signature *signature;
    enum sp_err err = sp_signature_decode(sp_read_bytes(&r, sp_reader_left(&r)), &signature);
    if (err != SP_OK)
        return err;
    sp_grow(&a->documents, &a->document_cap, a->count + 1);
    struct sp_audit_document *d = &a->documents[a->count];
    *d = (struct sp_audit_document){.content = content_of(a, signature),
                                    .file = file,
                                    .number = item->number,
                                    .bytes = item->content_bytes,
                                    .source = source_of(a, url, a->options->inputs[file]),
                                    .next = SP_AUDIT_NONE,
                                    .previous = SP_AUDIT_NONE,
                                    .survivor = SP_AUDIT_NONE,
                                    .cluster = SP_AUDIT_NONE,
                                    .id = put_text(a, id),
                                    .time = time,
                                    .text = hash};
    sp_signature_unref(signature);
    struct names *names = a->names;
    struct name *n = name_of(&names->ids, sp_hash128(id.data, id.len));
    if (n->first == SP_AUDIT_NONE) {
        n->first = a->count;
    } else {
        d->previous = n->last;
        a->documents[n->last].next = a->count;
    }
    n->last = a->count++;
    return SP_OK;
}

static enum sp_err read_input(struct sp_audit *a, uint32_t file, uint64_t *bytes,
                              struct sp_fault *fault)
{
    const struct sp_audit_options *o = a->options;
    struct sp_pipeline_maker maker = {make, NULL};
    struct sp_input *input = NULL;
    struct sp_batch *batch;
    uint64_t records = 0;
    enum sp_err err = sp_input_open(&o->inputs[file], 1, &o->input, &input, fault);
    if (err != SP_OK)
        return err;
    struct sp_pipeline *pipeline = sp_pipeline_start_making(
        input, &o->input, &o->text, sp_pipeline_workers(o->threads), &maker);
    while ((err = sp_pipeline_next(pipeline, &batch, fault)) == SP_OK) {
        for (size_t i = 0; i < batch->count && err == SP_OK; i++) {
            const struct sp_batch_item *item = &batch->items[i];
            records += item->records;
            sp_batch_item_count(item, o->readings);
            a->result->dead_letters += item->err != SP_OK;
            if (item->err == SP_OK && item->made.len)
                err = add(a, file, item);
        }
        if (err != SP_OK) {
            sp_fault_set(fault, err, "a document cannot be read back: %s", sp_err_text(err));
            break;
        }
        if (o->progress)
            o->progress(o->progress_arg, a->count, *bytes + batch->read_bytes, 0, a->content_count);
    }
    sp_pipeline_stop(pipeline);
    *bytes += sp_input_read_bytes(input);
    sp_input_close(input);
    sp_readings_end_input(o->readings, o->inputs[file], records);
    return err == SP_END ? SP_OK : err;
}

enum sp_err sp_audit_read(struct sp_audit *a, struct sp_fault *fault)
{
    enum sp_err err = SP_OK;
    uint64_t bytes = 0;
    a->names = sp_calloc(1, sizeof(struct names));
    for (size_t i = 0; i < a->options->input_count && err == SP_OK; i++)
        err = read_input(a, (uint32_t)i, &bytes, fault);
    if (err == SP_OK && a->count == 0)
        err = sp_fault_set(fault, SP_INVALID, "the input holds no document that can be read");
    return err;
}
