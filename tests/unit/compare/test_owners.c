/* The owners of a row equal a plain list, cached or not, and the cost of changing one does not
 * depend on their number. */
#include "base/mem.h"
#include "compare/cell.h"
#include "compare_helper.h"
#include "harness.h"
#include "made_up.h"

enum { PAGES = 12, SHINGLES = 8 };

struct world {
    struct stage stage;
    struct sp_owner list[PAGES]; /* in order of arrival */
    uint32_t count;
    bool last_succeeded;
};

static void on_send(void *arg, struct sp_message *m)
{
    (void)arg;
    sp_message_free(m);
}

static void begin(struct world *w)
{
    *w = (struct world){0};
    stage_init(&w->stage, 1, on_send, w);
    w->stage.options.cache_bytes = 1; /* too small to keep any row */
    CU_ASSERT_EQUAL_FATAL(stage_open(&w->stage), SP_OK);
}

static const struct sp_id CONTENT = {3, 4};

static struct sp_id page_id(uint32_t page)
{
    return (struct sp_id){page % 3, page + 1};
}

static void step(struct world *w, enum sp_message_kind kind, uint32_t page, int64_t version)
{
    struct sp_put put = {.settled = true, .content_version = version};
    if (kind == SP_MSG_PUT)
        put.signature = made_up_range(CONTENT, 0, SHINGLES);
    stage_step(&w->stage, kind == SP_MSG_PUT
                              ? put_of(page_id(page), put)
                              : remove_of(page_id(page), (struct sp_remove){0, 1, CONTENT}));
}

/* ---- the plain list */

static uint32_t slot_of(const struct world *w)
{
    return sp_cell_actor_find(w->stage.compare, sp_cell_actor_get(w->stage.compare, 0), CONTENT);
}

static uint32_t place_of(const struct world *w, struct sp_id page)
{
    uint32_t at = 0;
    while (at < w->count && !sp_id_eq(w->list[at].page, page))
        at++;
    return at;
}

static void put(struct world *w, uint32_t page, int64_t version)
{
    uint32_t at = place_of(w, page_id(page));
    step(w, SP_MSG_PUT, page, version);
    w->list[at] = (struct sp_owner){page_id(page), version};
    w->count += at == w->count;
}

static void drop(struct world *w, uint32_t at)
{
    w->count--;
    for (; at < w->count; at++)
        w->list[at] = w->list[at + 1];
}

/* The owner that succeeds the first one was the second or the last. */
static void put_first(struct world *w, const struct sp_owner *successor)
{
    uint32_t at = place_of(w, successor->page);
    CU_ASSERT_FATAL(at == 0 || at + 1 == w->count);
    w->last_succeeded |= at > 0;
    struct sp_owner owner = w->list[at];
    for (; at > 0; at--)
        w->list[at] = w->list[at - 1];
    w->list[0] = owner;
}

static void take(struct world *w, uint32_t page)
{
    uint32_t at = place_of(w, page_id(page));
    step(w, SP_MSG_REMOVE, page, 0);
    if (at == w->count)
        return;
    drop(w, at);
    if (at == 0 && w->count)
        put_first(w, &sp_cell_actor_row(w->stage.compare, slot_of(w))->first);
}

static bool is_owner(const struct sp_owner *a, const struct sp_owner *b)
{
    return sp_id_eq(a->page, b->page) && a->content_version == b->content_version;
}

static void check(struct world *w)
{
    struct sp_compare_stage *c = w->stage.compare;
    uint32_t slot = slot_of(w);
    if (w->count == 0) {
        CU_ASSERT_EQUAL(slot, NO_SLOT);
        return;
    }
    CU_ASSERT_FATAL(slot != NO_SLOT);
    CU_ASSERT_EQUAL(c->slots[slot].owners, w->count);
    CU_ASSERT(is_owner(&sp_cell_actor_row(c, slot)->first, &w->list[0]));
    const struct sp_other *other = sp_owners_second(c, slot);
    for (uint32_t i = 1; i < w->count; i++) {
        struct sp_owner before;
        CU_ASSERT_FATAL(other != NULL);
        CU_ASSERT(is_owner(&other->owner, &w->list[i]));
        CU_ASSERT(sp_owners_find(c, slot, w->list[i].page) == other);
        CU_ASSERT(sp_owners_before(c, slot, other, &before));
        CU_ASSERT(is_owner(&before, &w->list[i - 1]));
        other = sp_owners_after(c, slot, other);
    }
    CU_ASSERT(other == NULL);
    for (uint32_t page = 0; page < PAGES; page++)
        if (place_of(w, page_id(page)) == w->count)
            CU_ASSERT(sp_owners_find(c, slot, page_id(page)) == NULL);
}

TEST(owners_come_and_go_as_in_a_plain_list)
{
    struct world w;
    uint64_t state = 5;
    begin(&w);
    for (int round = 0; round < 6000; round++) {
        uint64_t n = sp_mix64(++state);
        uint32_t page = (uint32_t)(n % PAGES);
        bool growing = round / 100 % 2;
        if ((n >> 8) % 4 < (growing ? 3 : 1))
            put(&w, page, (int64_t)((n >> 16) % 3 + 1));
        else
            take(&w, page);
        if ((n >> 24) % 16 == 0)
            stage_commit(&w.stage);
        if ((n >> 32) % 64 == 0)
            stage_restart(&w.stage);
        if ((n >> 40) % 4 == 0)
            check(&w);
    }
    CU_ASSERT(w.last_succeeded);
    stage_done(&w.stage);
}

/* ---- what it costs */

/* How often the row gets another first owner while its owners leave. */
static uint32_t successions(uint32_t owners, bool newest_first)
{
    struct world w;
    struct sp_id first = page_id(0);
    uint32_t count = 0;
    begin(&w);
    for (uint32_t page = 0; page < owners; page++)
        step(&w, SP_MSG_PUT, page, 1);
    step(&w, SP_MSG_REMOVE, 0, 0);
    for (uint32_t i = 1; i < owners - 1; i++) {
        step(&w, SP_MSG_REMOVE, newest_first ? owners - i : i, 0);
        struct sp_id now = sp_cell_actor_row(w.stage.compare, slot_of(&w))->first.page;
        count += !sp_id_eq(now, first);
        first = now;
    }
    stage_done(&w.stage);
    return count;
}

TEST(owners_that_leave_in_order_seldom_make_another_one_the_first)
{
    CU_ASSERT(successions(1000, false) < 10);
    CU_ASSERT(successions(1000, true) < 10);
}

struct cost {
    uint64_t rows_read;
    uint64_t rows_written;
};

/* Owners leave, change and arrive in the middle and at both ends, with a commit after each. */
static struct cost cost_of(uint32_t owners)
{
    struct world w;
    struct sp_db_counts before, after;
    begin(&w);
    for (uint32_t page = 0; page < owners; page++)
        step(&w, SP_MSG_PUT, page, 1);
    stage_restart(&w.stage);
    sp_db_counts(w.stage.db, &before);
    for (uint32_t i = 0; i < 10; i++) {
        step(&w, SP_MSG_REMOVE, i, 0);
        step(&w, SP_MSG_REMOVE, owners / 2 + i, 0);
        stage_commit(&w.stage);
        step(&w, SP_MSG_PUT, owners / 3 + i, 2);
        step(&w, SP_MSG_PUT, owners + i, 1);
        stage_commit(&w.stage);
    }
    sp_db_counts(w.stage.db, &after);
    stage_done(&w.stage);
    return (struct cost){after.rows_read - before.rows_read, after.rows_put + after.rows_deleted -
                                                                 before.rows_put -
                                                                 before.rows_deleted};
}

TEST(an_owner_costs_as_many_rows_among_four_thousand_as_among_a_thousand)
{
    struct cost few = cost_of(1000), many = cost_of(4000);
    /* Ten times a first owner leaves. If the last succeeds it and not the second, that takes up to
     * three rows more. */
    CU_ASSERT(many.rows_read <= few.rows_read + 30);
    CU_ASSERT(many.rows_written <= few.rows_written + 30);
    /* Forty changes; the first read of each also loads the cell. */
    CU_ASSERT(few.rows_read <= 200 && many.rows_read <= 200);
}

/* ---- damage */

static enum sp_err after_writing(const char *bytes, size_t len)
{
    struct world w;
    char key[3 + 16 + 16] = {'O'};
    struct sp_id second = page_id(1);
    begin(&w);
    put(&w, 0, 1);
    put(&w, 1, 1);
    stage_commit(&w.stage);
    memcpy(key + 3, &CONTENT, sizeof CONTENT);
    memcpy(key + 3 + sizeof CONTENT, &second, sizeof second);
    sp_store_put(stage_store(&w.stage), sp_view(key, sizeof key), sp_view(bytes, len));
    CU_ASSERT_EQUAL(sp_db_commit(w.stage.db), SP_OK);
    enum sp_err err = stage_reopen(&w.stage);
    stage_done(&w.stage);
    return err;
}

TEST(owners_with_a_number_instead_of_neighbours_are_of_an_older_format)
{
    static const char bytes[41];
    CU_ASSERT_EQUAL(after_writing(bytes, 16), SP_STATE_FORMAT);
    CU_ASSERT_EQUAL(after_writing(bytes, 39), SP_CORRUPT);
    CU_ASSERT_EQUAL(after_writing(bytes, 40), SP_OK);
    CU_ASSERT_EQUAL(after_writing(bytes, 41), SP_CORRUPT);
}

TEST(a_neighbour_that_is_not_there_is_damage)
{
    struct world w;
    char key[3 + 16 + 16] = {'O'};
    struct sp_id second = page_id(1);
    begin(&w);
    for (uint32_t page = 0; page < 3; page++)
        put(&w, page, 1);
    stage_restart(&w.stage);
    memcpy(key + 3, &CONTENT, sizeof CONTENT);
    memcpy(key + 3 + sizeof CONTENT, &second, sizeof second);
    sp_store_delete(stage_store(&w.stage), sp_view(key, sizeof key));
    CU_ASSERT_EQUAL(sp_db_commit(w.stage.db), SP_OK);
    CU_ASSERT_EQUAL(
        stage_try_step(&w.stage, remove_of(page_id(0), (struct sp_remove){0, 1, CONTENT})),
        SP_CORRUPT);
    stage_done(&w.stage);
}
