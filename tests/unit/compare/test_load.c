/* A compare stage made anew from its rows answers as the one that wrote them; rows that no stage
 * wrote are refused. */
#include "base/mem.h"
#include "compare/compare.h"
#include "harness.h"

enum { CELLS = 3, CONTENTS = 300, SHINGLES = 40, PAGES = 2 * CONTENTS };

struct world {
    struct sp_db *db;
    struct sp_partition_map map;
    struct sp_compare *compare;
    uint64_t said; /* hash of the edges that probes gave */
    uint64_t edges;
};

static void on_send(void *arg, struct sp_message *m)
{
    struct world *w = arg;
    for (uint32_t i = 0; i < m->edge_count; i++) {
        w->said = sp_mix64(w->said ^ m->page.lo) + sp_mix64(m->edges[i].page.lo);
        w->edges++;
    }
    sp_message_free(m);
}

static void on_publish(void *arg, const struct sp_status_event *event)
{
    (void)arg, (void)event;
}

static struct sp_store *store(struct world *w)
{
    return sp_db_store(w->db, 1);
}

static enum sp_err open_stage(struct world *w)
{
    struct sp_compare_options o = {.similarity = {.threshold = 0.8},
                                   .maps = {&w->map, NULL},
                                   .routing = SP_ROUTING_LOSSLESS,
                                   .rho = 1,
                                   .cache_bytes = 1 << 16};
    struct sp_outbox outbox = {on_send, on_publish, w};
    w->compare = sp_compare_new(&o, store(w), &outbox);
    return sp_compare_load(w->compare);
}

static void begin(struct world *w)
{
    *w = (struct world){.db = sp_db_open_memory()};
    CU_ASSERT_EQUAL_FATAL(sp_partition_default(CELLS, &w->map), SP_OK);
    CU_ASSERT_EQUAL_FATAL(open_stage(w), SP_OK);
}

static void end(struct world *w)
{
    sp_compare_free(w->compare);
    sp_partition_done(&w->map);
    sp_db_close(w->db);
}

/* Contents come in threes that resemble one another; every tenth has next to no words. */
static struct sp_signature *content(uint32_t number)
{
    uint32_t n = number % 10 == 9 ? number % 3 : SHINGLES;
    struct sp_signature *s = sp_signature_alloc(n, 0);
    s->params = 1;
    s->content_hash = (struct sp_id){sp_mix64(number + 1), sp_mix64(number + 2)};
    s->length[0] = s->shingle_total = n;
    s->length[1] = s->length[2] = 0;
    s->language = 0;
    for (uint32_t i = 0; i < n; i++)
        s->hashes[i] = (i + 1) * 1000 + (uint32_t)(sp_mix64(number / 3 * SHINGLES + i) % 900);
    if (n)
        s->hashes[n - 1] += number % 3;
    return s;
}

static void step(struct world *w, enum sp_message_kind kind, uint32_t page, uint32_t number)
{
    struct sp_message *m = sp_message_new(kind);
    m->cell = number / 3 % CELLS;
    m->page = (struct sp_id){0, page + 1};
    m->content_version = 1;
    m->settled = kind == SP_MSG_PUT;
    m->signature = kind == SP_MSG_REMOVE ? NULL : content(number);
    if (kind == SP_MSG_REMOVE)
        m->old_content = (struct sp_id){sp_mix64(number + 1), sp_mix64(number + 2)};
    CU_ASSERT_EQUAL(sp_compare_step(w->compare, m), SP_OK);
    sp_message_free(m);
}

static void commit(struct world *w)
{
    CU_ASSERT_EQUAL(sp_compare_flush(w->compare), SP_OK);
    CU_ASSERT_EQUAL(sp_db_commit(w->db), SP_OK);
}

/* Each content has one page, every other one three. */
static void put_all(struct world *w)
{
    for (uint32_t page = 0; page < PAGES; page++)
        step(w, SP_MSG_PUT, page, page < CONTENTS ? page : page / 2 * 2 % CONTENTS);
    commit(w);
}

static uint64_t probe_all(struct world *w)
{
    w->said = w->edges = 0;
    for (uint32_t number = 0; number < CONTENTS; number++)
        step(w, SP_MSG_PROBE, PAGES, number);
    return w->said;
}

static bool count(void *arg, struct sp_view key, struct sp_view value)
{
    size_t *rows = arg;
    (void)key, (void)value;
    ++*rows;
    return true;
}

static size_t rows(struct world *w, const char *kind)
{
    size_t n = 0;
    CU_ASSERT_EQUAL(sp_store_scan(store(w), sp_view_str(kind), sp_view(NULL, 0), count, &n), SP_OK);
    return n;
}

static enum sp_err reopen(struct world *w)
{
    sp_compare_free(w->compare);
    return open_stage(w);
}

TEST(a_stage_made_anew_answers_as_before)
{
    struct world w;
    struct sp_compare_stats before, after;
    begin(&w);
    put_all(&w);
    uint64_t said = probe_all(&w);
    CU_ASSERT(w.edges > CONTENTS * 2);
    sp_compare_stats(w.compare, &before);
    CU_ASSERT_EQUAL(reopen(&w), SP_OK);
    sp_compare_stats(w.compare, &after);
    CU_ASSERT_EQUAL(after.rows, before.rows);
    CU_ASSERT_EQUAL(after.row_loads, 0); /* no row was read */
    CU_ASSERT_EQUAL(probe_all(&w), said);
    end(&w);
}

TEST(a_sketch_comes_and_goes_with_its_row)
{
    struct world w;
    begin(&w);
    put_all(&w);
    CU_ASSERT_EQUAL(rows(&w, "R"), CONTENTS);
    CU_ASSERT_EQUAL(rows(&w, "K"), CONTENTS);
    for (uint32_t page = 0; page < PAGES; page += 3) /* in one batch: gone and there again */
        step(&w, SP_MSG_REMOVE, page, page < CONTENTS ? page : page / 2 * 2 % CONTENTS);
    for (uint32_t page = 0; page < PAGES; page += 6)
        step(&w, SP_MSG_PUT, page, page < CONTENTS ? page : page / 2 * 2 % CONTENTS);
    commit(&w);
    CU_ASSERT(rows(&w, "R") > 0 && rows(&w, "R") < CONTENTS);
    CU_ASSERT_EQUAL(rows(&w, "K"), rows(&w, "R"));
    CU_ASSERT_EQUAL(rows(&w, "S"), rows(&w, "R"));
    uint64_t said = probe_all(&w);
    CU_ASSERT_EQUAL(reopen(&w), SP_OK);
    CU_ASSERT_EQUAL(probe_all(&w), said);
    for (uint32_t page = 0; page < PAGES; page++)
        step(&w, SP_MSG_REMOVE, page, page < CONTENTS ? page : page / 2 * 2 % CONTENTS);
    commit(&w);
    CU_ASSERT_EQUAL(rows(&w, "R") + rows(&w, "K") + rows(&w, "O"), 0);
    CU_ASSERT_EQUAL(rows(&w, "S") + rows(&w, "N"), 0);
    CU_ASSERT_EQUAL(reopen(&w), SP_OK);
    end(&w);
}

static void check_refused(const char *key, size_t key_len, size_t value_len, enum sp_err err)
{
    static const char bytes[4 * SP_SKETCH_MAX];
    struct world w;
    begin(&w);
    sp_store_put(store(&w), sp_view(key, key_len), sp_view(bytes, value_len));
    CU_ASSERT_EQUAL(sp_db_commit(w.db), SP_OK);
    CU_ASSERT_EQUAL(reopen(&w), err);
    end(&w);
}

TEST(rows_that_no_stage_wrote_are_refused)
{
    char key[3 + 16 + 16] = {'K', 0, CELLS - 1};
    check_refused(key, 19, 4 * SP_SKETCH, SP_OK);
    check_refused(key, 19, 0, SP_OK);
    check_refused(key, 19, 4 * SP_SKETCH + 4, SP_CORRUPT);
    check_refused(key, 19, 7, SP_CORRUPT);
    check_refused(key, 18, 8, SP_CORRUPT);
    check_refused(key, 20, 8, SP_CORRUPT);
    key[2] = CELLS;
    check_refused(key, 19, 8, SP_CORRUPT);
}

TEST(rows_without_sketches_are_of_an_older_format)
{
    char key[3 + 16] = {'R'};
    check_refused(key, sizeof key, 24, SP_STATE_FORMAT);
}

TEST(rows_with_signatures_in_them_are_of_an_older_format)
{
    struct world w;
    begin(&w);
    put_all(&w);
    char key[3 + 16] = {'R'};
    static const char bytes[100];
    sp_store_put(store(&w), sp_view(key, sizeof key), sp_view(bytes, sizeof bytes));
    CU_ASSERT_EQUAL(sp_db_commit(w.db), SP_OK);
    CU_ASSERT_EQUAL(reopen(&w), SP_STATE_FORMAT);
    end(&w);
}

TEST(a_further_owner_of_no_row_is_damage)
{
    struct world w;
    begin(&w);
    put_all(&w);
    char key[3 + 16 + 16] = {'O'};
    sp_store_put(store(&w), sp_view(key, sizeof key), sp_view("12345678", 8));
    CU_ASSERT_EQUAL(sp_db_commit(w.db), SP_OK);
    CU_ASSERT_EQUAL(reopen(&w), SP_CORRUPT);
    end(&w);
}
