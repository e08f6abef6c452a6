/* links: sp_group */
/* Any bytes as stored rows of the group stage: reading them, for reports and in the stage, returns
 * SP_CORRUPT or consistent data. Never a crash.
 *
 * The input is a list of rows: kind (P page, G group, M member, S signature, N its count, B clock),
 * a number that determines the key, and the value after its length (two bytes, little-endian). */
#include "base/assert.h"
#include "base/mem.h"
#include "group/stored.h"

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

static struct sp_signature *some_content(unsigned number)
{
    enum { SHINGLES = 4 };
    struct sp_signature *s = sp_signature_alloc(SHINGLES, 0);
    s->content_hash = id_of(number);
    s->shingle_total = s->length[0] = SHINGLES;
    for (uint32_t i = 0; i < SHINGLES; i++)
        s->hashes[i] = (number % KEYS + i) << 20;
    return s;
}

/* Changes a member, so that the stage checks whether the group is still connected and chooses its
 * winner. */
static void change(struct sp_group_stage *stage, const struct sp_group *g, unsigned number)
{
    const struct sp_member *member = sp_member_find(g, id_of(number));
    if (!member || member->version == INT64_MAX)
        return;
    struct sp_message *m = sp_message_new(SP_MSG_CHANGE);
    struct sp_change *c = &m->change;
    m->page = member->page;
    c->group = g->id;
    c->content_version = c->version = member->version + 1;
    c->page_kind = SP_PAGE_CONTENT + (number / KEYS + number) % 3;
    c->target = c->page_kind == SP_PAGE_REDIRECT ? id_of(number + 1) : (struct sp_id){0, 0};
    c->signature = c->page_kind == SP_PAGE_CONTENT ? some_content(number) : NULL;
    checksum += sp_group_stage_step(stage, m) == SP_OK;
}

/* Runs a stage on these rows: it reads every page and group, then handles messages. */
static void read_in_stage(struct sp_db *db, struct sp_store *store)
{
    struct sp_group_stage_options options = {.mode = SP_MODE_EXACT};
    sp_similarity_options_default(&options.similarity);
    struct sp_outbox outbox = {on_message, on_event, NULL};
    for (unsigned number = 0; number < KEYS * KEYS; number++) {
        struct sp_group_stage *stage = sp_group_stage_new(&options, store, &outbox);
        const struct sp_page_actor *p = sp_page_actor_get(stage, id_of(number));
        SP_ASSERT(!p || p->url);
        const struct sp_group *g = stage->err ? NULL : sp_group_get(stage, group_of(number));
        for (uint32_t i = 0; g && i < g->count; i++)
            SP_ASSERT(g->members[i]->url &&
                      (g->members[i]->kind != SP_PAGE_CONTENT || g->members[i]->winner));
        if (g)
            change(stage, g, number);
        if (sp_group_stage_flush(stage) == SP_OK)
            SP_ASSERT(sp_db_commit(db) == SP_OK);
        else
            sp_db_discard(db);
        sp_group_stage_free(stage);
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
    read_in_stage(db, store);
    sp_db_close(db);
    return 0;
}
