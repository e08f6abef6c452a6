/* Rows of one cell resemble two rows of another cell that are not similar to each other. Both
 * depend on them and ask them to probe again, but must not do so in turn endlessly. */
#include "base/mem.h"
#include "compare/compare.h"
#include "harness.h"

enum { SHINGLES = 100, CELLS = 64, ROWS = 40, STEPS_A_ROW = 100 };

/* Texts are ranges of a hundred shingles. */
enum { LEFT = 1000, MIDDLE = 1011, RIGHT = 1022 };

struct world {
    struct sp_db *db;
    struct sp_partition_map map;
    struct sp_compare_stage *compare;
    struct sp_message *messages[ROWS * STEPS_A_ROW]; /* messages within tier 2 */
    uint32_t first, count;
    uint32_t edges;
};

static void on_send(void *arg, struct sp_message *m)
{
    struct world *w = arg;
    if (sp_message_tier(m) == SP_TIER_2) {
        CU_ASSERT_FATAL(w->count < ROWS * STEPS_A_ROW); /* otherwise the rows probe endlessly */
        w->messages[w->count++] = m;
        return;
    }
    w->edges += m->link.edge_count;
    sp_message_free(m);
}

static void on_publish(void *arg, const struct sp_status_event *event)
{
    (void)arg, (void)event;
    CU_FAIL("a cell publishes nothing");
}

static void start(struct world *w)
{
    struct sp_compare_stage_options o = {.similarity = {.threshold = 0.8},
                                         .maps = {.now = &w->map},
                                         .routing = SP_ROUTING_LOSSLESS,
                                         .rho = 1,
                                         .cache_bytes = 1 << 20};
    struct sp_outbox outbox = {on_send, on_publish, w};
    w->compare = sp_compare_stage_new(&o, sp_db_store(w->db, 1), &outbox);
    CU_ASSERT_EQUAL_FATAL(sp_compare_stage_load(w->compare), SP_OK);
}

static void begin(struct world *w)
{
    *w = (struct world){.db = sp_db_open_memory()};
    CU_ASSERT_EQUAL_FATAL(sp_partition_default(CELLS, &w->map), SP_OK);
    start(w);
}

static void restart(struct world *w)
{
    CU_ASSERT_EQUAL(sp_compare_stage_flush(w->compare), SP_OK);
    CU_ASSERT_EQUAL(sp_db_commit(w->db), SP_OK);
    sp_compare_stage_free(w->compare);
    start(w);
}

static void end(struct world *w)
{
    sp_compare_stage_free(w->compare);
    sp_partition_done(&w->map);
    sp_db_close(w->db);
}

static uint32_t cell_of(const struct world *w, uint32_t length)
{
    struct sp_maps maps = {.now = &w->map};
    return sp_maps_cell(&maps, &(struct sp_signature){.length = {length}});
}

/* The smallest length above 100 that routes to the other cell. */
static uint32_t length_next_door(const struct world *w)
{
    uint32_t length = SHINGLES;
    while (cell_of(w, length) == cell_of(w, SHINGLES))
        length++;
    CU_ASSERT_FATAL(length * 0.8 < SHINGLES); /* so that pages of the two cells can be similar */
    return length;
}

static void deliver(struct world *w)
{
    for (; w->first < w->count; w->first++) {
        CU_ASSERT_EQUAL(sp_compare_stage_step(w->compare, w->messages[w->first]), SP_OK);
        sp_message_free(w->messages[w->first]);
    }
}

static void finish(struct world *w)
{
    do
        deliver(w);
    while (sp_compare_stage_work(w->compare, 100) || w->first < w->count);
}

static void put(struct world *w, uint64_t page, uint32_t from, uint32_t length)
{
    struct sp_signature *s = sp_signature_alloc(SHINGLES, 0);
    struct sp_message *m = sp_message_new(SP_MSG_PUT);
    s->params = 1;
    s->content_hash = (struct sp_id){1, page};
    s->shingle_total = SHINGLES;
    s->length[0] = length;
    s->length[1] = s->length[2] = 0;
    s->language = 0;
    for (uint32_t i = 0; i < SHINGLES; i++)
        s->hashes[i] = (from + i) * 1000;
    m->page = (struct sp_id){0, page};
    m->put = (struct sp_put){.cell = cell_of(w, length), .content_version = 1, .signature = s};
    CU_ASSERT_EQUAL(sp_compare_stage_step(w->compare, m), SP_OK);
    sp_message_free(m);
    finish(w);
}

static void remove_page(struct world *w, uint64_t page, uint32_t length)
{
    struct sp_message *m = sp_message_new(SP_MSG_REMOVE);
    m->page = (struct sp_id){0, page};
    m->remove = (struct sp_remove){cell_of(w, length), 2, {1, page}};
    CU_ASSERT_EQUAL(sp_compare_stage_step(w->compare, m), SP_OK);
    sp_message_free(m);
    finish(w);
}

static uint64_t probes(const struct world *w)
{
    struct sp_compare_stage_stats stats;
    sp_compare_stage_stats(w->compare, &stats);
    return stats.probes;
}

/* Pages 3 and on, which resemble the others from another cell. */
static void put_rows(struct world *w)
{
    for (uint64_t page = 3; page < 3 + ROWS; page++)
        put(w, page, MIDDLE, length_next_door(w));
}

TEST(rows_that_rely_on_two_others_do_not_probe_endlessly)
{
    struct world w;
    begin(&w);
    put(&w, 1, LEFT, SHINGLES);
    put(&w, 2, RIGHT, SHINGLES);
    CU_ASSERT_EQUAL(w.edges, 0);
    put_rows(&w);
    CU_ASSERT(w.edges >= 2 * ROWS);
    /* A row probes once on arrival, and again each time a list doubles. */
    CU_ASSERT(probes(&w) > 2 * ROWS); /* the lists doubled */
    CU_ASSERT(probes(&w) < 12 * ROWS);
    end(&w);
}

/* The lists keep the lengths at which they are cleaned. */
TEST(after_a_restart_rows_that_rely_on_others_do_not_probe_again)
{
    struct world w;
    begin(&w);
    put(&w, 1, LEFT, SHINGLES);
    put(&w, 2, RIGHT, SHINGLES);
    put_rows(&w);
    restart(&w);
    put(&w, 3 + ROWS, MIDDLE, length_next_door(&w));
    CU_ASSERT(probes(&w) < ROWS / 4); /* only the row that came */
    end(&w);
}

/* By then the lists have been purged of duplicates and of nothing else. */
TEST(all_rows_that_relied_on_one_look_again_when_it_leaves)
{
    struct world w;
    begin(&w);
    put(&w, 1, LEFT, SHINGLES);
    put(&w, 2, LEFT + 1, SHINGLES); /* in the star of the first */
    put_rows(&w);
    uint64_t before = probes(&w);
    remove_page(&w, 1, SHINGLES);
    CU_ASSERT(probes(&w) >= before + ROWS);
    end(&w);
}

/* It connected them with no other row. */
TEST(rows_that_relied_on_one_that_was_alone_in_its_star_do_not_look_again)
{
    struct world w;
    begin(&w);
    put(&w, 1, LEFT, SHINGLES);
    put(&w, 2, RIGHT, SHINGLES);
    put_rows(&w);
    uint64_t before = probes(&w);
    remove_page(&w, 1, SHINGLES);
    CU_ASSERT_EQUAL(probes(&w), before);
    end(&w);
}
