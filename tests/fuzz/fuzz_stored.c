/* links: sp_group sp_store sp_partition sp_protocol sp_base */
/* Any bytes as stored rows of the group stage. Reading them back, for reports and in the stage,
 * answers SP_CORRUPT or something that holds together; it never crashes.
 *
 * The input is a list of rows: kind (P page, G group, M member, S signature, N its
 * count, B clock), a number
 * that makes the key, and the value with its length in front (two bytes, little-endian). */
#include "base/assert.h"
#include "base/mem.h"
#include "group/internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { KEYS = 4 };

static unsigned checksum;

static struct sp_id id_of(unsigned number)
{
    return (struct sp_id){number % KEYS + 1, 0};
}

static struct sp_group_id group_of(unsigned number)
{
    return (struct sp_group_id){1, id_of(number / KEYS)};
}

static void put_row(struct sp_store *store, uint8_t kind, uint8_t number, struct sp_view value)
{
    struct sp_buf key = {0};
    struct sp_id id = id_of(number);
    struct sp_group_id group = group_of(number);
    sp_buf_put_u8(&key, kind);
    if (kind == 'G' || kind == 'M') {
        sp_buf_put_u64(&key, group.birth);
        sp_buf_put(&key, &group.founder, sizeof group.founder);
    }
    if (kind == 'P' || kind == 'M' || kind == 'S' || kind == 'N')
        sp_buf_put(&key, &id, sizeof id);
    sp_store_put(store, sp_buf_view(&key), value);
    sp_buf_done(&key);
}

static void put_rows(struct sp_store *store, struct sp_view in)
{
    struct sp_reader r = sp_reader(in);
    while (sp_reader_left(&r) >= 4) {
        uint8_t kind = sp_read_u8(&r), number = sp_read_u8(&r);
        size_t len = sp_read_u8(&r);
        len |= (size_t)sp_read_u8(&r) << 8;
        size_t left = sp_reader_left(&r);
        put_row(store, kind, number, sp_read_bytes(&r, len < left ? len : left));
    }
}

static void on_page(void *arg, const struct sp_page_view *page)
{
    (void)arg;
    checksum += (unsigned)strlen(page->url) + (page->winner_url ? 1 : 0);
}

static void on_signature(void *arg, struct sp_signature *s)
{
    (void)arg;
    checksum += s->shingle_count;
}

static void on_message(void *arg, struct sp_message *m)
{
    (void)arg;
    sp_message_free(m);
}

static void on_event(void *arg, const struct sp_status_event *event)
{
    (void)arg;
    checksum += (unsigned)strlen(event->url);
}

/* A stage on these rows reads every page and every group. */
static void read_in_stage(struct sp_store *store)
{
    struct sp_group_options options = {.mode = SP_MODE_EXACT};
    struct sp_outbox outbox = {on_message, on_event, NULL};
    for (unsigned number = 0; number < KEYS * KEYS; number++) {
        struct sp_group *stage = sp_group_new(&options, store, &outbox);
        const struct page *p = page_get(stage, id_of(number));
        SP_ASSERT(!p || p->url);
        const struct group *g = stage->err ? NULL : group_get(stage, group_of(number));
        for (uint32_t i = 0; g && i < g->count; i++)
            SP_ASSERT(g->members[i]->url &&
                      (g->members[i]->kind != SP_PAGE_CONTENT || g->members[i]->winner));
        sp_group_free(stage);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sp_db *db = sp_db_open_memory();
    struct sp_store *store = sp_db_store(db, 0);
    put_rows(store, sp_view(data, size));
    SP_ASSERT(sp_db_commit(db) == SP_OK);
    (void)sp_group_each_page(store, on_page, NULL);
    (void)sp_contents_each(store, on_signature, NULL);
    read_in_stage(store);
    sp_db_close(db);
    return 0;
}
