/* See payloads.h. The store cannot read an open batch, so each note is a commit of its own, which
 * is cheap without a write-ahead log. */
#include "cli/payloads.h"

#include "base/hash.h"
#include "base/mem.h"
#include "store/store.h"
#include "text/text.h"

struct sp_payloads {
    struct sp_db *db;
    struct sp_store *store;
    struct sp_buf value;
    struct sp_buf found; /* the last revisit's views point into it */
    uint64_t bytes_left;
    uint64_t forgone;
};

static const char FINGERPRINT[] = "payloads=1\n";
static const uint64_t MEMORY_BYTES = UINT64_C(256) << 20;

enum sp_err sp_payloads_open(const char *directory, struct sp_payloads **ret_payloads,
                             struct sp_fault *fault)
{
    struct sp_payloads *p = sp_calloc(1, sizeof *p);
    enum sp_err err = SP_OK;
    p->bytes_left = directory ? UINT64_MAX : MEMORY_BYTES;
    if (directory)
        err = sp_db_open_rocksdb(directory, FINGERPRINT, NULL, &p->db, fault);
    else
        p->db = sp_db_open_memory();
    if (err != SP_OK) {
        sp_free(p);
        return err;
    }
    p->store = sp_db_store(p->db, 0);
    *ret_payloads = p;
    return SP_OK;
}

enum sp_err sp_payloads_close(struct sp_payloads *p, struct sp_fault *fault)
{
    enum sp_err err = SP_OK;
    if (!p)
        return SP_OK;
    err = sp_db_sync(p->db);
    if (err != SP_OK)
        sp_fault_set(fault, err, "payloads: %s", sp_db_message(p->db));
    sp_db_close(p->db);
    sp_buf_done(&p->value);
    sp_buf_done(&p->found);
    sp_free(p);
    return err;
}

/* If two contents have the same digest, the later one counts, as in `run`. */
static enum sp_err note(struct sp_payloads *p, struct sp_view key,
                        const struct sp_page_record *page)
{
    sp_buf_reset(&p->value);
    sp_buf_put_varint(&p->value, page->content_type.len);
    sp_buf_put_view(&p->value, page->content_type);
    sp_buf_put_u8(&p->value, page->content_is_utf8);
    sp_buf_put_view(&p->value, page->content);
    if (p->value.len > p->bytes_left) {
        p->forgone++;
        return SP_OK;
    }
    struct sp_view known;
    enum sp_err err = sp_store_get(p->store, key, &known);
    if (err == SP_OK && sp_view_eq(known, sp_buf_view(&p->value)))
        return SP_OK;
    if (err != SP_OK && err != SP_NOT_FOUND)
        return err;
    p->bytes_left -= p->value.len;
    sp_store_put(p->store, key, sp_buf_view(&p->value));
    return sp_db_commit(p->db);
}

static enum sp_err find(struct sp_payloads *p, struct sp_view key, struct sp_page_record *page)
{
    struct sp_view value;
    enum sp_err err = sp_store_get(p->store, key, &value);
    if (err != SP_OK)
        return err == SP_NOT_FOUND ? SP_OK : err;
    sp_buf_reset(&p->found);
    sp_buf_put_view(&p->found, value);
    struct sp_reader r = sp_reader(sp_buf_view(&p->found));
    struct sp_view type = sp_read_bytes(&r, sp_read_varint(&r));
    bool utf8 = sp_read_u8(&r) != 0;
    if (r.failed)
        return SP_CORRUPT;
    page->content_type = type;
    page->content_is_utf8 = utf8;
    page->content = sp_view(r.at, sp_reader_left(&r));
    page->http_status = 200;
    page->as_of_ms = 0;
    page->as_elsewhere = false;
    return SP_OK;
}

enum sp_err sp_payloads_use(struct sp_payloads *p, struct sp_page_record *page,
                            struct sp_fault *fault)
{
    bool has_content = sp_page_record_succeeded(page) && page->content.len > 0 &&
                       sp_text_readable(page->content_type);
    if (page->payload_digest.len == 0)
        return SP_OK;
    struct sp_id digest = sp_hash128(page->payload_digest.data, page->payload_digest.len);
    struct sp_view key = sp_view(&digest, sizeof digest);
    enum sp_err err = SP_OK;
    if (has_content)
        err = note(p, key, page);
    else if (page->http_status == 304)
        err = find(p, key, page);
    if (err != SP_OK)
        sp_fault_set(fault, err, "payloads: %s", sp_db_message(p->db));
    return err;
}

uint64_t sp_payloads_forgone(const struct sp_payloads *p)
{
    return p->forgone;
}
