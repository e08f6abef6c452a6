/* See asker.h. Nothing is allocated before there are known to be enough bytes to fill it. */
#include "codec/asker.h"

#include "base/mem.h"

/* The fewest bytes of an edge and of a member row. */
enum { EDGE_BYTES = 16 + 1, ROW_BYTES = 16 + 1 + 1 + 1 + 1 + 1 + (8 + 3) + 1 + 1 + 1 };

static void put_edges(struct sp_buf *out, const struct sp_link *link)
{
    sp_codec_put_items(out, link->edge_count);
    for (uint32_t i = 0; i < link->edge_count; i++) {
        sp_codec_put_id(out, link->edges[i].page);
        sp_buf_put_zigzag(out, link->edges[i].content_version);
    }
    sp_codec_put_end_items(out);
}

static void get_edges(struct sp_decoder *d, struct sp_link *link)
{
    uint32_t count = sp_codec_get_items(d, EDGE_BYTES);
    if (count) {
        link->edges = sp_calloc(count, sizeof *link->edges);
        link->edge_count = count;
    }
    for (uint32_t i = 0; i < count && !d->r.failed; i++) {
        link->edges[i].page = sp_codec_get_id(d);
        link->edges[i].content_version = sp_codec_get_long(d);
    }
    sp_codec_get_end_items(d, count);
}

void sp_codec_put_asker(struct sp_buf *out, const struct sp_message *m)
{
    sp_codec_put_id(out, m->page);
    sp_buf_put_zigzag(out, m->link.content_version);
    put_edges(out, &m->link);
    sp_codec_put_some_text(out, m->link.url);
}

void sp_codec_get_asker(struct sp_decoder *d, struct sp_message *m)
{
    m->page = sp_codec_get_id(d);
    m->link.content_version = sp_codec_get_long(d);
    get_edges(d, &m->link);
    m->link.url = sp_codec_get_some_text(d);
}

/* The branches of a row's signature. */
enum { NO_CONTENT, NEW_CONTENT, SAME_CONTENT };

/* Consecutive rows of equal content have their signature written once. */
static void put_row_signature(struct sp_buf *out, const struct sp_member_row *row,
                              const struct sp_signature *last)
{
    if (!row->signature) {
        sp_codec_put_count(out, NO_CONTENT);
    } else if (row->signature == last) {
        sp_codec_put_count(out, SAME_CONTENT);
    } else {
        sp_codec_put_count(out, NEW_CONTENT);
        sp_codec_put_signature(out, row->signature);
    }
}

static struct sp_signature *get_row_signature(struct sp_decoder *d, struct sp_signature *last)
{
    switch (sp_codec_get_count(d, SAME_CONTENT)) {
    case NEW_CONTENT:
        return sp_codec_get_signature(d);
    case SAME_CONTENT:
        if (last)
            return sp_signature_ref(last);
        sp_codec_refuse(d, SP_MALFORMED);
        return NULL;
    default:
        return NULL;
    }
}

static void put_row(struct sp_buf *out, const struct sp_member_row *row,
                    const struct sp_signature *last)
{
    sp_codec_put_id(out, row->page);
    sp_buf_put_zigzag(out, row->version);
    sp_buf_put_zigzag(out, row->content_version);
    sp_codec_put_count(out, row->kind);
    sp_codec_put_some_id(out, row->target);
    put_row_signature(out, row, last);
    sp_codec_put_rank(out, &row->rank);
    sp_codec_put_bytes(out, sp_view_str(row->url));
    sp_codec_put_count(out, row->epoch);
    sp_codec_put_some_id(out, row->parent);
}

static void get_row(struct sp_decoder *d, struct sp_member_row *row, struct sp_signature *last)
{
    row->page = sp_codec_get_id(d);
    row->version = sp_codec_get_long(d);
    row->content_version = sp_codec_get_long(d);
    row->kind = (enum sp_page_kind)sp_codec_get_count(d, SP_PAGE_DEAD);
    row->target = sp_codec_get_some_id(d);
    row->signature = get_row_signature(d, last);
    row->rank = sp_codec_get_rank(d);
    row->url = sp_codec_get_text(d);
    row->epoch = (uint64_t)sp_codec_get_long(d);
    row->parent = sp_codec_get_some_id(d);
    if ((row->signature != NULL) != (row->kind == SP_PAGE_CONTENT))
        sp_codec_refuse(d, SP_MALFORMED);
}

void sp_codec_put_rows(struct sp_buf *out, const struct sp_link *link)
{
    const struct sp_signature *last = NULL;
    sp_codec_put_items(out, link->row_count);
    for (uint32_t i = 0; i < link->row_count; i++) {
        put_row(out, &link->rows[i], last);
        if (link->rows[i].signature)
            last = link->rows[i].signature;
    }
    sp_codec_put_end_items(out);
}

void sp_codec_get_rows(struct sp_decoder *d, struct sp_link *link)
{
    uint32_t count = sp_codec_get_items(d, ROW_BYTES);
    if (count) {
        link->rows =
            sp_calloc(count, sizeof *link->rows); /* rows not read are empty and can be freed */
        link->row_count = count;
    }
    struct sp_signature *last = NULL;
    for (uint32_t i = 0; i < count && !d->r.failed; i++) {
        get_row(d, &link->rows[i], last);
        if (link->rows[i].signature)
            last = link->rows[i].signature;
    }
    sp_codec_get_end_items(d, count);
}
