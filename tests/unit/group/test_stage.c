/* The stage says at once when a store is not one to go on from; and where members of a group lie in
 * it, as the group grows and shrinks. */
#include "base/mem.h"
#include "group/internal.h"
#include "harness.h"

static void on_message(void *arg, struct sp_message *m)
{
    (void)arg;
    sp_message_free(m);
}

static void on_event(void *arg, const struct sp_status_event *event)
{
    (void)arg, (void)event;
}

static enum sp_err error_of(struct sp_store *store)
{
    struct sp_group_options options = {.mode = SP_MODE_EXACT};
    struct sp_outbox outbox = {on_message, on_event, NULL};
    struct sp_group *stage = sp_group_new(&options, store, &outbox);
    enum sp_err err = sp_group_error(stage);
    CU_ASSERT(err == SP_OK || sp_group_step(stage, sp_message_new(SP_MSG_CRAWLED)) == err);
    sp_group_free(stage);
    return err;
}

TEST(a_store_that_cannot_be_gone_on_from_is_told_at_once)
{
    struct sp_db *db = sp_db_open_memory();
    struct sp_store *store = sp_db_store(db, 1);
    char key[17] = {'S'};
    CU_ASSERT_EQUAL(error_of(store), SP_OK);
    sp_store_put(store, sp_view("B", 1), sp_view("1234567", 7));
    CU_ASSERT_EQUAL(sp_db_commit(db), SP_OK);
    CU_ASSERT_EQUAL(error_of(store), SP_CORRUPT);
    sp_store_put(store, sp_view(key, sizeof key), sp_view("\1a signature", 12));
    CU_ASSERT_EQUAL(sp_db_commit(db), SP_OK);
    CU_ASSERT_EQUAL(error_of(store), SP_STATE_FORMAT); /* its count was in front of it */
    sp_db_close(db);
}

/* ---- rows of members */

static void join(struct sp_group *st, struct group *g, uint64_t page)
{
    struct member *m = sp_calloc(1, sizeof *m);
    m->page = (struct sp_id){page, page};
    m->kind = SP_PAGE_DEAD;
    m->url = sp_strdup("https://a.example/");
    member_insert(st, g, m);
    member_changed(st, g, m);
}

static void leave(struct sp_group *st, struct group *g, uint64_t page)
{
    struct member *m = member_find(g, (struct sp_id){page, page});
    if (m->stored) {
        g->gone = sp_realloc(g->gone, (g->gone_count + 1) * sizeof *g->gone);
        g->gone[g->gone_count++] = m->page;
        g->gone_cap = g->gone_count;
    }
    member_remove(st, g, m);
    member_free(m);
    group_changed(st, g);
}

static bool count_row(void *arg, struct sp_view key, struct sp_view value)
{
    (void)key, (void)value;
    ++*(uint32_t *)arg;
    return true;
}

static uint32_t rows_after_flush(struct sp_group *st, struct sp_db *db, const char *kind)
{
    uint32_t rows = 0;
    CU_ASSERT_EQUAL(sp_group_flush(st, true), SP_OK);
    CU_ASSERT_EQUAL(sp_db_commit(db), SP_OK);
    CU_ASSERT_EQUAL(
        sp_store_scan(sp_db_store(db, 1), sp_view_str(kind), sp_view(NULL, 0), count_row, &rows),
        SP_OK);
    return rows;
}

TEST(members_have_rows_of_their_own_only_in_large_groups)
{
    struct sp_group_options options = {.mode = SP_MODE_EXACT, .cache_bytes = 1 << 20};
    struct sp_outbox outbox = {on_message, on_event, NULL};
    struct sp_db *db = sp_db_open_memory();
    struct sp_group *st = sp_group_new(&options, sp_db_store(db, 1), &outbox);
    struct group *g = group_make(st, (struct sp_group_id){1, {1, 1}});
    for (uint64_t page = 2; page <= 5; page++)
        join(st, g, page);
    CU_ASSERT_EQUAL(rows_after_flush(st, db, "M"), 0);
    CU_ASSERT_EQUAL(rows_after_flush(st, db, "G"), 1);
    join(st, g, 6);
    CU_ASSERT_EQUAL(rows_after_flush(st, db, "M"), 5);
    leave(st, g, 2); /* and comes back at once */
    join(st, g, 2);
    CU_ASSERT_EQUAL(rows_after_flush(st, db, "M"), 5);
    leave(st, g, 2);
    leave(st, g, 3);
    join(st, g, 2);
    CU_ASSERT_EQUAL(rows_after_flush(st, db, "M"), 0);
    for (uint64_t page = 4; page <= 6; page++)
        leave(st, g, page);
    leave(st, g, 2);
    CU_ASSERT_EQUAL(rows_after_flush(st, db, "G"), 0);
    CU_ASSERT_EQUAL(rows_after_flush(st, db, "M"), 0);
    sp_group_free(st);
    sp_db_close(db);
}
