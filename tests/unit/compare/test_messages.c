/* What a cell does with each message, seen from outside: the edges it reports and what it drops. A
 * text is a range of a hundred shingles: texts that begin ten shingles apart are similar (J =
 * 0.82), those that begin twenty apart are not. */
#include "base/mem.h"
#include "compare_helper.h"
#include "harness.h"
#include "made_up.h"

enum { SHINGLES = 100, MOST = 64 };

struct edge {
    char from, to;
};

struct world {
    struct stage stage;
    struct sp_partition_map next;
    struct edge edges[MOST]; /* edges of matches since the last step */
    uint32_t edge_count;
    char moved[MOST]; /* pages that were asked to move */
    uint32_t move_count;
    uint32_t probed; /* the other cell that was probed */
};

static struct sp_id id_of(char page)
{
    return (struct sp_id){0, (uint64_t)page};
}

static struct sp_id content_of(uint32_t from)
{
    return (struct sp_id){1, from};
}

static struct sp_signature *signature(uint32_t from)
{
    return made_up_range(content_of(from), from, SHINGLES);
}

static uint32_t cell(const struct world *w)
{
    return stage_cell(&w->stage, SHINGLES);
}

static void on_send(void *arg, struct sp_message *m)
{
    struct world *w = arg;
    if (m->kind == SP_MSG_MOVE) {
        CU_ASSERT_PTR_NOT_NULL(m->move.signature);
        CU_ASSERT_FATAL(w->move_count < MOST);
        w->moved[w->move_count++] = (char)m->page.lo;
    } else if (m->kind == SP_MSG_PROBE) {
        CU_ASSERT_NOT_EQUAL(m->probe.cell, cell(w));
        w->probed++;
    } else {
        CU_ASSERT_EQUAL_FATAL(m->kind, SP_MSG_MATCH);
        for (uint32_t i = 0; i < m->link.edge_count; i++) {
            CU_ASSERT_FATAL(w->edge_count < MOST);
            w->edges[w->edge_count++] =
                (struct edge){(char)m->page.lo, (char)m->link.edges[i].page.lo};
        }
    }
    sp_message_free(m);
}

/* `later`: by so much the version of the first map is higher than that of a map that is new. */
static void begin_with(struct world *w, uint32_t later)
{
    *w = (struct world){0};
    stage_init(&w->stage, 1, on_send, w);
    CU_ASSERT_EQUAL_FATAL(sp_partition_default(1, &w->next), SP_OK);
    w->stage.map.version += later;
    w->next.version = w->stage.map.version + 1;
    CU_ASSERT_EQUAL_FATAL(sp_maps_make(&w->stage.map, NULL, &w->stage.options.maps), SP_OK);
    CU_ASSERT_EQUAL_FATAL(stage_open(&w->stage), SP_OK);
}

static void begin(struct world *w)
{
    begin_with(w, 0);
}

static void end(struct world *w)
{
    stage_done(&w->stage);
    sp_partition_done(&w->next);
}

static void step(struct world *w, struct sp_message *m)
{
    w->edge_count = w->move_count = 0;
    stage_step(&w->stage, m);
    stage_settle(&w->stage);
}

/* The page's text becomes `from`, replacing `old` (0: the page is not in this cell). */
static void put_at(struct world *w, char page, int64_t version, uint32_t from, uint32_t old)
{
    struct sp_put put = {.cell = cell(w),
                         .content_version = version,
                         .signature = signature(from),
                         .old_content = old ? content_of(old) : (struct sp_id){0}};
    step(w, put_of(id_of(page), put));
}

static void put(struct world *w, char page, uint32_t from)
{
    put_at(w, page, 1, from, 0);
}

static void remove_page(struct world *w, uint32_t from_cell, char page, uint32_t old)
{
    step(w, remove_of(id_of(page), (struct sp_remove){from_cell, 2, content_of(old)}));
}

static void probe(struct world *w, char page, uint32_t from)
{
    struct sp_message *m = sp_message_new(SP_MSG_PROBE);
    m->page = id_of(page);
    m->probe = (struct sp_probe){cell(w), 1, signature(from)};
    step(w, m);
}

/* Whether an edge joins the two, in either direction. */
static bool joined(const struct world *w, char a, char b)
{
    for (uint32_t i = 0; i < w->edge_count; i++)
        if ((w->edges[i].from == a && w->edges[i].to == b) ||
            (w->edges[i].from == b && w->edges[i].to == a))
            return true;
    return false;
}

static uint64_t rows(const struct world *w)
{
    return stage_stats(&w->stage).rows;
}

/* ---- put */

TEST(a_page_that_is_put_gets_an_edge_to_what_it_resembles)
{
    struct world w;
    begin(&w);
    put(&w, 'A', 1000);
    CU_ASSERT_EQUAL(w.edge_count, 0);
    put(&w, 'B', 1010);
    CU_ASSERT(joined(&w, 'A', 'B'));
    put(&w, 'C', 5000);
    CU_ASSERT_EQUAL(w.edge_count, 0);
    CU_ASSERT_EQUAL(rows(&w), 3);
    end(&w);
}

TEST(equal_contents_share_a_row_and_its_first_owner_speaks_for_it)
{
    struct world w;
    begin(&w);
    put(&w, 'A', 1000);
    put(&w, 'B', 1000);
    CU_ASSERT_EQUAL(w.edge_count, 1);
    CU_ASSERT(joined(&w, 'B', 'A'));
    put(&w, 'C', 1000);
    CU_ASSERT_EQUAL(w.edge_count, 1);
    CU_ASSERT(joined(&w, 'C', 'B')); /* C is linked to A */
    CU_ASSERT_EQUAL(rows(&w), 1);
    probe(&w, 'P', 1010); /* names the spokesman and no other owner */
    CU_ASSERT_EQUAL(w.edge_count, 1);
    CU_ASSERT(joined(&w, 'P', 'A'));
    end(&w);
}

TEST(a_page_with_a_new_text_leaves_the_row_of_the_old_one)
{
    struct world w;
    begin(&w);
    put(&w, 'A', 1000);
    put_at(&w, 'A', 2, 5000, 1000);
    CU_ASSERT_EQUAL(rows(&w), 1);
    probe(&w, 'P', 1000);
    CU_ASSERT_EQUAL(w.edge_count, 0);
    probe(&w, 'P', 5010);
    CU_ASSERT(joined(&w, 'P', 'A'));
    end(&w);
}

/* ---- remove */

TEST(what_was_removed_is_not_found)
{
    struct world w;
    begin(&w);
    put(&w, 'A', 1000);
    put(&w, 'B', 5000);
    remove_page(&w, cell(&w), 'A', 1000);
    CU_ASSERT_EQUAL(rows(&w), 1);
    probe(&w, 'P', 1000);
    CU_ASSERT_EQUAL(w.edge_count, 0);
    remove_page(&w, cell(&w), 'A', 1000); /* a second remove is ignored */
    remove_page(&w, cell(&w), 'A', 5000); /* A does not own this content */
    CU_ASSERT_EQUAL(rows(&w), 1);
    probe(&w, 'P', 5000);
    CU_ASSERT(joined(&w, 'P', 'B'));
    end(&w);
}

TEST(an_owner_that_does_not_speak_for_its_row_leaves_in_silence)
{
    struct world w;
    begin(&w);
    put(&w, 'A', 1000);
    put(&w, 'B', 1000);
    remove_page(&w, cell(&w), 'B', 1000);
    CU_ASSERT_EQUAL(w.edge_count, 0);
    probe(&w, 'P', 1000);
    CU_ASSERT(joined(&w, 'P', 'A'));
    CU_ASSERT(!joined(&w, 'P', 'B'));
    end(&w);
}

/* ---- successor */

/* A is the spokesman of a row that B and C also own; Q resembles the row. When A leaves, B becomes
 * the spokesman and gets an edge to Q. C has had an edge to B since it came. */
TEST(a_successor_is_linked_to_what_its_row_resembles)
{
    struct world w;
    begin(&w);
    put(&w, 'A', 1000);
    put(&w, 'B', 1000);
    put(&w, 'C', 1000);
    put(&w, 'Q', 1010);
    CU_ASSERT(joined(&w, 'Q', 'A'));
    remove_page(&w, cell(&w), 'A', 1000);
    CU_ASSERT(joined(&w, 'B', 'Q'));
    CU_ASSERT(!joined(&w, 'C', 'Q'));
    CU_ASSERT_EQUAL(rows(&w), 2);
    end(&w);
}

TEST(the_neighbours_of_an_owner_that_leaves_are_linked)
{
    struct world w;
    begin(&w);
    for (int page = 'A'; page <= 'E'; page++)
        put(&w, (char)page, 1000);
    remove_page(&w, cell(&w), 'C', 1000);
    CU_ASSERT_EQUAL(w.edge_count, 1);
    CU_ASSERT(joined(&w, 'D', 'B'));
    remove_page(&w, cell(&w), 'E', 1000); /* the last owner */
    CU_ASSERT_EQUAL(w.edge_count, 0);
    put_at(&w, 'B', 3, 1000, 1000); /* a new version invalidates the edges of the first */
    CU_ASSERT_EQUAL(w.edge_count, 2);
    CU_ASSERT(joined(&w, 'B', 'A'));
    CU_ASSERT(joined(&w, 'D', 'B'));
    end(&w);
}

/* Owners leave in order of arrival, in reverse, and by id, which is the order of the store. */
TEST(a_change_of_one_owner_sends_two_edges_at_most_however_many_there_are)
{
    for (uint32_t n = 15; n <= 60; n *= 4)
        for (int order = 0; order < 3; order++) {
            struct world w;
            begin(&w);
            for (uint32_t i = 0; i < n; i++) {
                put(&w, (char)(1 + i * 7 % n), 1000);
                CU_ASSERT_EQUAL(w.edge_count, i > 0);
            }
            for (uint32_t i = 0; i < n; i++) {
                uint32_t came = order == 1 ? n - 1 - i : i;
                remove_page(&w, cell(&w), (char)(1 + (order == 2 ? i : came * 7 % n)), 1000);
                CU_ASSERT(w.edge_count <= 1);
            }
            CU_ASSERT_EQUAL(rows(&w), 0);
            end(&w);
        }
}

TEST(a_new_version_of_the_spokesman_is_a_successor_too)
{
    struct world w;
    begin(&w);
    put(&w, 'A', 1000);
    put(&w, 'B', 1000);
    put_at(&w, 'A', 3, 1000, 1000);
    CU_ASSERT(joined(&w, 'B', 'A'));
    end(&w);
}

/* ---- move */

static void next_map(struct world *w)
{
    CU_ASSERT_EQUAL_FATAL(sp_maps_make(&w->next, &w->stage.map, &w->stage.options.maps), SP_OK);
    stage_restart(&w->stage);
}

/* After the map is replaced, the old cell asks its owners to move, with the signature, until it is
 * empty. Meanwhile a page that has moved is found in its new cell, and by probes of the old one. */
static void check_moves(uint32_t later)
{
    struct world w;
    begin_with(&w, later);
    put(&w, 'A', 1000);
    put(&w, 'B', 1000);
    put(&w, 'C', 5000);
    uint32_t old_cell = cell(&w);
    CU_ASSERT_EQUAL(sp_compare_stage_move(w.stage.compare, 100),
                    0); /* with one map no page moves */
    next_map(&w);
    CU_ASSERT_NOT_EQUAL(cell(&w), old_cell);

    w.move_count = 0;
    CU_ASSERT_EQUAL(sp_compare_stage_move(w.stage.compare, 100), 3);
    CU_ASSERT_EQUAL(w.move_count, 3);
    CU_ASSERT(memchr(w.moved, 'B', 3) < memchr(w.moved, 'A', 3)); /* the spokesman moves last */

    put(&w, 'B', 1000);
    CU_ASSERT_EQUAL(w.edge_count, 0);
    CU_ASSERT_EQUAL(w.probed, 1); /* A is still in the old cell */
    remove_page(&w, old_cell, 'B', 1000);
    w.move_count = 0;
    CU_ASSERT_EQUAL(sp_compare_stage_move(w.stage.compare, 1), 1); /* one page a call */
    CU_ASSERT_EQUAL(sp_compare_stage_move(w.stage.compare, 100), 2);
    remove_page(&w, old_cell, 'A', 1000);
    remove_page(&w, old_cell, 'C', 5000);
    CU_ASSERT_EQUAL(sp_compare_stage_move(w.stage.compare, 100), 0);
    probe(&w, 'P', 1010);
    CU_ASSERT(joined(&w, 'P', 'B'));
    end(&w);
}

TEST(a_cell_of_the_old_map_asks_its_owners_to_move_until_it_is_empty)
{
    for (uint32_t later = 0; later < 4; later++)
        check_moves(later);
}

/* A cell requests a probe again when what it found has changed. The maps may have changed since,
 * and cells that no page can be in are not probed. */
TEST(a_probe_is_repeated_in_cells_where_pages_live_and_in_no_other)
{
    struct world w;
    begin(&w);
    uint32_t leaving = cell(&w);
    next_map(&w);
    put(&w, 'A', 1000);
    uint32_t present = cell(&w), version = 1u << SP_CELL_BITS;
    const struct {
        uint32_t from, probes;
    } cases[] = {{leaving, 1},
                 {(leaving - version) & (SP_CELL_VERSIONS * version - 1), 0}, /* past */
                 {present + version, 0},                                      /* future */
                 {present + 1, 0}};                                           /* no such cell */
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sp_message *m = sp_message_new(SP_MSG_AGAIN);
        m->page = id_of('A');
        m->again = (struct sp_again){present, cases[i].from, content_of(1000)};
        w.probed = 0;
        step(&w, m);
        CU_ASSERT_EQUAL(w.probed, cases[i].probes);
    }
    end(&w);
}
