/* links: sp_compare sp_contents sp_partition sp_store sp_base */
/* Any bytes as stored rows of the compare stage: the stage refuses them, or it handles messages,
 * and the next stage accepts what it stored. Never a crash.
 *
 * The input is a list of rows: kind (P pivot, K kid, R row, O owner, E reliance, Q recall, S
 * signature, N its count), a number that determines the key, and the value after its length (two
 * bytes, little-endian). */
#include "base/assert.h"
#include "base/mem.h"
#include "compare/cell.h"

enum { CELLS = 2, CONTENTS = 4, SLOTS = 8, SHINGLES = 12 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct sp_id content_of(unsigned number)
{
    return (struct sp_id){number % CONTENTS + 1, 7};
}

static void put_number(struct sp_buf *key, uint32_t number)
{
    for (int i = 0; i < 4; i++)
        sp_buf_put_u8(key, (uint8_t)(number >> (24 - 8 * i)));
}

static void put_key(struct sp_buf *key, uint8_t kind, uint8_t number)
{
    struct sp_id content = content_of(number), page = {0, number % 5 + 1};
    uint8_t cell = number / CONTENTS % CELLS;
    sp_buf_put_u8(key, kind);
    if (kind == 'P' || kind == 'K' || kind == 'E')
        put_number(key, number % SLOTS);
    if (kind == 'Q')
        put_number(key, cell);
    if (kind == 'E' || kind == 'Q')
        put_number(key, cell);
    if (kind == 'R' || kind == 'O') {
        sp_buf_put_u8(key, 0);
        sp_buf_put_u8(key, cell);
    }
    if (kind != 'P' && kind != 'K')
        sp_buf_put(key, &content, sizeof content);
    if (kind == 'O')
        sp_buf_put(key, &page, sizeof page);
}

static void put_rows(struct sp_store *store, struct sp_view in)
{
    struct sp_reader r = sp_reader(in);
    struct sp_buf key = {0};
    while (sp_reader_left(&r) >= 4) {
        uint8_t kind = sp_read_u8(&r), number = sp_read_u8(&r);
        size_t len = sp_read_u8(&r);
        len |= (size_t)sp_read_u8(&r) << 8;
        size_t left = sp_reader_left(&r);
        sp_buf_reset(&key);
        put_key(&key, kind, number);
        sp_store_put(store, sp_buf_view(&key), sp_read_bytes(&r, len < left ? len : left));
    }
    sp_buf_done(&key);
}

static void on_message(void *arg, struct sp_message *m)
{
    (void)arg;
    sp_message_free(m);
}

static void on_event(void *arg, const struct sp_status_event *event)
{
    (void)arg, (void)event;
}

/* Contents of graded similarity. */
static struct sp_signature *signature(unsigned number)
{
    struct sp_signature *s = sp_signature_alloc(SHINGLES, 0);
    s->params = 1;
    s->content_hash = content_of(number);
    s->length[0] = s->shingle_total = SHINGLES;
    for (uint32_t i = 0; i < SHINGLES; i++)
        s->hashes[i] = (i + 1) << 20;
    s->hashes[SHINGLES - 1] += number % CONTENTS / 2;
    s->hashes[SHINGLES - 2] += number % 2;
    return s;
}

static enum sp_err step(struct sp_compare_stage *c, enum sp_message_kind kind, unsigned number)
{
    struct sp_message *m = sp_message_new(kind);
    uint32_t cell = number / CONTENTS % CELLS;
    m->page = (struct sp_id){0, number % 5 + 1};
    if (kind == SP_MSG_PUT)
        m->put = (struct sp_put){
            .cell = cell, .settled = true, .content_version = 1, .signature = signature(number)};
    else if (kind == SP_MSG_PROBE)
        m->probe = (struct sp_probe){cell, 1, signature(number)};
    else
        m->remove = (struct sp_remove){cell, 1, content_of(number)};
    enum sp_err err = sp_compare_stage_step(c, m);
    sp_message_free(m);
    return err;
}

/* Sends messages for each content of each cell, in an order that depends on `round`. */
static enum sp_err work(struct sp_compare_stage *c, unsigned round)
{
    static const enum sp_message_kind kinds[] = {SP_MSG_PUT, SP_MSG_PROBE, SP_MSG_REMOVE};
    enum sp_err err = SP_OK;
    for (unsigned i = 0; i < 3 * CONTENTS * CELLS && err == SP_OK; i++)
        err = step(c, kinds[(i + round) % 3], i * 5 + round);
    for (int i = 0; i < 200 && err == SP_OK && sp_compare_stage_owes(c); i++)
        sp_compare_stage_work(c, 16);
    return err == SP_OK ? sp_compare_stage_flush(c) : err;
}

/* Runs a stage on the stored rows; returns whether it ended without an error. */
static bool live(struct sp_db *db, const struct sp_partition_map *map, unsigned round)
{
    struct sp_store *store = sp_db_store(db, 1);
    struct sp_compare_stage_options o = {.similarity = {.threshold = 0.8},
                                         .maps = {.now = map},
                                         .routing = SP_ROUTING_LOSSLESS,
                                         .rho = 1,
                                         .cache_bytes = 1 << 16};
    struct sp_outbox outbox = {on_message, on_event, NULL};
    struct sp_compare_stage *c = sp_compare_stage_new(&o, store, &outbox);
    enum sp_err err = sp_compare_stage_load(c);
    if (err == SP_OK)
        err = work(c, round);
    SP_ASSERT(err == SP_OK || err == SP_CORRUPT || err == SP_STATE_FORMAT || err == SP_OTHER_MAP);
    sp_compare_stage_free(c);
    if (err == SP_OK)
        SP_ASSERT(sp_db_commit(db) == SP_OK);
    else
        sp_db_discard(db);
    return err == SP_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct sp_partition_map map;
    if (!map.cells)
        SP_ASSERT(sp_partition_default(CELLS, &map) == SP_OK);
    struct sp_db *db = sp_db_open_memory();
    put_rows(sp_db_store(db, 1), sp_view(data, size));
    SP_ASSERT(sp_db_commit(db) == SP_OK);
    for (unsigned round = 0; round < 3 && live(db, &map, round); round++)
        ;
    sp_db_close(db);
    return 0;
}
