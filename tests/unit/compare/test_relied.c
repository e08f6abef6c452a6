/* Rows of one cell resemble two rows of another cell that are not similar to each other. Both
 * depend on them and ask them to probe again, but must not do so in turn endlessly. */
#include "base/mem.h"
#include "compare_helper.h"
#include "harness.h"
#include "made_up.h"

enum { SHINGLES = 100, CELLS = 64, ROWS = 40, STEPS_A_ROW = 100, MOST_STARS = 64 };

/* Texts are ranges of a hundred shingles. */
enum { LEFT = 1000, MIDDLE = 1011, RIGHT = 1022 };

struct world {
    struct stage stage;
    struct sp_message *messages[ROWS * STEPS_A_ROW]; /* messages within tier 2 */
    uint32_t first, count;
    uint32_t edges;
    struct sp_edge last_edge;
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
    w->last_edge = m->link.edges[m->link.edge_count - 1];
    sp_message_free(m);
}

static void begin_working(struct world *w, uint32_t work_per_step)
{
    *w = (struct world){0};
    stage_init(&w->stage, CELLS, on_send, w);
    w->stage.options.cache_bytes = 1 << 20;
    w->stage.options.work_per_step = work_per_step;
    CU_ASSERT_EQUAL_FATAL(stage_open(&w->stage), SP_OK);
}

static void begin(struct world *w)
{
    begin_working(w, 0);
}

/* The smallest length above 100 that routes to the other cell. */
static uint32_t length_next_door(const struct world *w)
{
    uint32_t length = SHINGLES;
    while (stage_cell(&w->stage, length) == stage_cell(&w->stage, SHINGLES))
        length++;
    CU_ASSERT_FATAL(length * 0.8 < SHINGLES); /* so that pages of the two cells can be similar */
    return length;
}

static void deliver(struct world *w)
{
    while (w->first < w->count)
        stage_step(&w->stage, w->messages[w->first++]);
}

static void finish(struct world *w)
{
    do
        deliver(w);
    while (sp_compare_stage_work(w->stage.compare, 100) || w->first < w->count);
}

/* `hashes`: SHINGLES of them, in ascending order. */
static void put_text(struct world *w, uint64_t page, const uint32_t *hashes, uint32_t length)
{
    struct sp_signature *s = made_up((struct sp_id){1, page}, SHINGLES);
    s->length[0] = length;
    memcpy(s->hashes, hashes, SHINGLES * sizeof *hashes);
    struct sp_put put = {
        .cell = stage_cell(&w->stage, length), .content_version = 1, .signature = s};
    stage_step(&w->stage, put_of((struct sp_id){0, page}, put));
    finish(w);
}

static void put(struct world *w, uint64_t page, uint32_t from, uint32_t length)
{
    uint32_t hashes[SHINGLES];
    for (uint32_t i = 0; i < SHINGLES; i++)
        hashes[i] = (from + i) * 1000;
    put_text(w, page, hashes, length);
}

static void step_remove(struct world *w, uint64_t page, uint32_t length)
{
    struct sp_remove remove = {stage_cell(&w->stage, length), 2, {1, page}};
    stage_step(&w->stage, remove_of((struct sp_id){0, page}, remove));
}

static void remove_page(struct world *w, uint64_t page, uint32_t length)
{
    step_remove(w, page, length);
    finish(w);
}

static uint64_t probes(const struct world *w)
{
    return stage_stats(&w->stage).probes;
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
    stage_done(&w.stage);
}

/* The lists keep the lengths at which they are cleaned. */
TEST(after_a_restart_rows_that_rely_on_others_do_not_probe_again)
{
    struct world w;
    begin(&w);
    put(&w, 1, LEFT, SHINGLES);
    put(&w, 2, RIGHT, SHINGLES);
    put_rows(&w);
    stage_restart(&w.stage);
    put(&w, 3 + ROWS, MIDDLE, length_next_door(&w));
    CU_ASSERT(probes(&w) < ROWS / 4); /* only the row that came */
    stage_done(&w.stage);
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
    stage_done(&w.stage);
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
    stage_done(&w.stage);
}

/* ---- one page that resembles a member of each of many stars ---- */

/* A text has a few shingles of its own in place of some of the centre's: with 10 of them it
 * resembles the centre, with 13 it does not. Two families resemble each other only if they replace
 * nearly the same shingles. */
enum { OWN = 10, MORE = 3, CENTRE = 100000, NEIGHBOUR = 300 };

/* The place of a family's own shingle: a step through the text that is different for each family.
 */
static uint32_t place_of(uint32_t family, uint32_t i)
{
    return (family * 37 + i * (1 + family % 9) * 3 + family / 9) % SHINGLES;
}

/* The text of a family with `own` of its shingles, and those from OWN on of this member. */
static void put_member_of_length(struct world *w, uint64_t page, uint32_t family, uint32_t own,
                                 uint32_t member, uint32_t length)
{
    uint32_t hashes[SHINGLES];
    for (uint32_t i = 0; i < SHINGLES; i++)
        hashes[i] = (i + 1) * NEIGHBOUR;
    for (uint32_t i = 0; i < own; i++)
        hashes[place_of(family, i)] += 1 + family + (i >= OWN ? MOST_STARS * member : 0);
    put_text(w, page, hashes, length);
}

static void put_member(struct world *w, uint64_t page, uint32_t family, uint32_t own,
                       uint32_t member)
{
    put_member_of_length(w, page, family, own, member, SHINGLES);
}

static uint64_t page_of(uint32_t family, uint32_t member)
{
    return 1 + family * 4 + member;
}

static uint64_t compared(const struct world *w)
{
    return stage_stats(&w->stage).candidates;
}

/* Each family is a star: of its members the first `similar` resemble the centre. */
static void put_families(struct world *w, uint32_t stars, uint32_t similar)
{
    for (uint32_t family = 0; family < stars; family++) {
        for (uint32_t member = 0; member < similar; member++)
            put_member(w, page_of(family, member), family, OWN - member, 0);
        for (uint32_t member = 2; member < 4; member++)
            put_member(w, page_of(family, member), family, OWN + MORE, member - 1);
    }
    put_member(w, CENTRE, 0, 0, 0);
}

/* Rows that resemble all of as many stars of another cell: the probes of a row. */
static uint64_t probes_of_rows(uint32_t rows)
{
    struct world w;
    begin(&w);
    for (uint32_t family = 0; family < rows; family++)
        put_member(&w, page_of(family, 0), family, OWN, 0);
    uint64_t before = probes(&w);
    for (uint32_t i = 0; i < rows; i++)
        put_member_of_length(&w, CENTRE + i, 0, 0, 0, length_next_door(&w));
    CU_ASSERT(w.edges >= rows * rows);
    uint64_t found = (probes(&w) - before) / rows;
    stage_done(&w.stage);
    return found;
}

TEST(rows_that_all_rely_on_as_many_rows_of_another_cell_probe_few_times)
{
    uint64_t few = probes_of_rows(MOST_STARS / 4), many = probes_of_rows(MOST_STARS);
    CU_ASSERT(many <= 2 * few); /* a sample of each list whenever it has doubled */
}

/* Rows of another cell come and go, and no message says that they went. */
TEST(of_rows_that_are_gone_few_are_kept)
{
    enum { GONE = 300 };
    struct world w;
    begin(&w);
    put(&w, 1, LEFT, SHINGLES);
    put(&w, 2, LEFT + 1, SHINGLES); /* in the star of the first */
    for (uint64_t page = 3; page < 3 + GONE; page++) {
        put(&w, page, MIDDLE, length_next_door(&w));
        remove_page(&w, page, length_next_door(&w));
    }
    uint32_t before = w.count;
    remove_page(&w, 1, SHINGLES); /* asks each of them to probe again */
    CU_ASSERT(w.count > before);
    CU_ASSERT(w.count <= before + GONE / 3);
    stage_done(&w.stage);
}

/* The edges that were told, and the comparisons, while the first members of all stars left. */
static void removals(uint32_t stars, uint32_t *ret_edges, uint64_t *ret_compared)
{
    struct world w;
    begin(&w);
    put_families(&w, stars, 1);
    CU_ASSERT(w.edges >= 3 * stars); /* the centre is told of each star */
    uint32_t edges = w.edges;
    uint64_t before = compared(&w);
    for (uint32_t family = 0; family < stars; family++)
        remove_page(&w, page_of(family, 0), SHINGLES);
    *ret_edges = w.edges - edges;
    *ret_compared = compared(&w) - before;
    stage_done(&w.stage);
}

TEST(a_row_looks_again_only_at_the_star_that_a_row_has_left)
{
    uint32_t edges, edges_of_four;
    uint64_t compared_of_one, compared_of_four;
    removals(MOST_STARS / 4, &edges, &compared_of_one);
    removals(MOST_STARS, &edges_of_four, &compared_of_four);
    CU_ASSERT(edges > 0);
    CU_ASSERT(edges_of_four <= 6 * edges); /* 16 times as many if it looked at all stars */
    CU_ASSERT(compared_of_four <= 6 * compared_of_one);
}

TEST(a_row_is_told_of_another_member_of_that_star)
{
    struct world w;
    begin(&w);
    put_families(&w, 4, 2);
    for (uint32_t family = 1; family < 4; family++) {
        uint32_t before = w.edges;
        remove_page(&w, page_of(family, 0), SHINGLES);
        CU_ASSERT(w.edges > before);
        CU_ASSERT_EQUAL(w.last_edge.page.lo, page_of(family, 1));
    }
    stage_done(&w.stage);
}

/* After a restart nobody knows the star any more: such a row looks at all of them, once. */
TEST(rows_that_wait_to_look_again_do_so_after_a_restart)
{
    enum { STARS = 4, WAITING = 3 };
    struct world w;
    begin_working(&w, 1);
    put_families(&w, STARS, 2);
    for (uint32_t i = 1; i <= WAITING; i++)
        put_member(&w, CENTRE + i, i, 1, 0);
    step_remove(&w, page_of(1, 0), SHINGLES);
    step_remove(&w, page_of(2, 0), SHINGLES);
    uint32_t edges = w.edges;
    stage_restart(&w.stage);
    finish(&w);
    CU_ASSERT(w.edges >= edges + WAITING);
    CU_ASSERT(probes(&w) > 0);
    CU_ASSERT(probes(&w) <= 2 * (WAITING + STARS));
    edges = w.edges;
    stage_restart(&w.stage);
    finish(&w);
    CU_ASSERT_EQUAL(w.edges, edges); /* none of them waits any more */
    stage_done(&w.stage);
}

/* ---- the last kid of a headless star ---- */

/* A text that is equal to MIDDLE, but for its last shingle. */
static void put_like_middle(struct world *w, uint64_t page)
{
    uint32_t hashes[SHINGLES];
    for (uint32_t i = 0; i < SHINGLES; i++)
        hashes[i] = (MIDDLE + i) * 1000;
    hashes[SHINGLES - 1]++;
    put_text(w, page, hashes, SHINGLES);
}

/* A row resembles two kids and relies on one of them. When their pivot leaves, the other one goes
 * to the star of the heir; then the first one leaves, as the last kid of its star. */
TEST(a_row_that_relied_on_the_last_kid_of_a_headless_star_looks_again)
{
    enum { PIVOT = 50, HEIR = 51, ROW = 52, RELIED = 53, OTHER = 54 };
    struct world w;
    begin_working(&w, 1);
    put(&w, PIVOT, LEFT, SHINGLES);
    put(&w, HEIR, LEFT + 2, SHINGLES);
    put(&w, RELIED, MIDDLE, SHINGLES);
    put_like_middle(&w, OTHER);
    put(&w, ROW, LEFT + 21, SHINGLES);
    CU_ASSERT_EQUAL(w.last_edge.page.lo, RELIED);
    step_remove(&w, PIVOT, SHINGLES);
    uint32_t edges = w.edges;
    step_remove(&w, RELIED, SHINGLES);
    finish(&w);
    CU_ASSERT(w.edges > edges);
    CU_ASSERT_EQUAL(w.last_edge.page.lo, OTHER);
    stage_done(&w.stage);
}
