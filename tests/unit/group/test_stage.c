/* Stores that the stage refuses, the rows in which members are stored as a group grows and shrinks,
 * and which rows are reported as damaged. */
#include "base/mem.h"
#include "group/stored.h"
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
    struct sp_group_stage_options options = {.mode = SP_MODE_EXACT};
    struct sp_outbox outbox = {on_message, on_event, NULL};
    struct sp_group_stage *stage = sp_group_stage_new(&options, store, &outbox);
    enum sp_err err = sp_group_stage_error(stage);
    CU_ASSERT(err == SP_OK || sp_group_stage_step(stage, sp_message_new(SP_MSG_CRAWLED)) == err);
    sp_group_stage_free(stage);
    return err;
}

TEST(a_store_that_cannot_be_continued_is_refused_at_once)
{
    struct sp_db *db = sp_db_open_memory();
    struct sp_store *store = sp_db_store(db, 1);
    CU_ASSERT_EQUAL(error_of(store), SP_OK);
    sp_store_put(store, sp_view("B", 1), sp_view("1234567", 7));
    CU_ASSERT_EQUAL(sp_db_commit(db), SP_OK);
    CU_ASSERT_EQUAL(error_of(store), SP_CORRUPT);
    sp_db_close(db);
}

/* ---- rows of members */

static void join(struct sp_group_stage *st, struct sp_group *g, uint64_t page)
{
    struct sp_member *m = sp_calloc(1, sizeof *m);
    m->page = (struct sp_id){page, page};
    m->kind = SP_PAGE_DEAD;
    m->url = sp_strdup("https://a.example/");
    sp_member_insert(st, g, m);
    sp_member_changed(st, g, m);
}

static void leave(struct sp_group_stage *st, struct sp_group *g, uint64_t page)
{
    struct sp_member *m = sp_member_find(g, (struct sp_id){page, page});
    if (m->stored) {
        g->gone = sp_realloc(g->gone, (g->gone_count + 1) * sizeof *g->gone);
        g->gone[g->gone_count++] = m->page;
        g->gone_cap = g->gone_count;
    }
    sp_member_remove(st, g, m);
    sp_member_free(m);
    sp_group_changed(st, g);
}

static bool count_row(void *arg, struct sp_view key, struct sp_view value)
{
    (void)key, (void)value;
    ++*(uint32_t *)arg;
    return true;
}

static uint32_t rows_after_flush(struct sp_group_stage *st, struct sp_db *db, const char *kind)
{
    uint32_t rows = 0;
    CU_ASSERT_EQUAL(sp_group_stage_flush(st), SP_OK);
    CU_ASSERT_EQUAL(sp_db_commit(db), SP_OK);
    CU_ASSERT_EQUAL(
        sp_store_scan(sp_db_store(db, 1), sp_view_str(kind), sp_view(NULL, 0), count_row, &rows),
        SP_OK);
    return rows;
}

TEST(members_have_rows_of_their_own_only_in_large_groups)
{
    struct sp_group_stage_options options = {.mode = SP_MODE_EXACT, .cache_bytes = 1 << 20};
    struct sp_outbox outbox = {on_message, on_event, NULL};
    struct sp_db *db = sp_db_open_memory();
    struct sp_group_stage *st = sp_group_stage_new(&options, sp_db_store(db, 1), &outbox);
    struct sp_group *g = sp_group_make(st, (struct sp_group_id){1, {1, 1}});
    enum { LAST = SP_PACKED_MEMBERS + 2 };
    for (uint64_t page = 2; page < LAST; page++)
        join(st, g, page);
    CU_ASSERT_EQUAL(rows_after_flush(st, db, "M"), 0);
    CU_ASSERT_EQUAL(rows_after_flush(st, db, "G"), 1);
    join(st, g, LAST);
    CU_ASSERT_EQUAL(rows_after_flush(st, db, "M"), SP_PACKED_MEMBERS + 1);
    leave(st, g, 2); /* leaves and joins within one flush */
    join(st, g, 2);
    CU_ASSERT_EQUAL(rows_after_flush(st, db, "M"), SP_PACKED_MEMBERS + 1);
    leave(st, g, 2);
    leave(st, g, 3);
    join(st, g, 2);
    CU_ASSERT_EQUAL(rows_after_flush(st, db, "M"), 0);
    for (uint64_t page = 4; page <= LAST; page++)
        leave(st, g, page);
    leave(st, g, 2);
    CU_ASSERT_EQUAL(rows_after_flush(st, db, "G"), 0);
    CU_ASSERT_EQUAL(rows_after_flush(st, db, "M"), 0);
    sp_group_stage_free(st);
    sp_db_close(db);
}

/* ---- signatures at hand */

static struct sp_group *group_with_signature(struct sp_group_stage *st, uint64_t page)
{
    struct sp_group *g = sp_group_make(st, (struct sp_group_id){page, {page, page}});
    join(st, g, page);
    g->members[0]->signature = sp_signature_alloc(0, 0);
    return g;
}

/* A release drops the signatures of the groups noted since the last release, and of no others. The
 * cache cannot evict what a group still holds. */
TEST(a_release_drops_the_signatures_of_the_groups_that_were_noted)
{
    struct sp_group_stage_options options = {.mode = SP_MODE_EXACT, .cache_bytes = 1 << 20};
    struct sp_outbox outbox = {on_message, on_event, NULL};
    struct sp_db *db = sp_db_open_memory();
    struct sp_group_stage *st = sp_group_stage_new(&options, sp_db_store(db, 1), &outbox);
    struct sp_group *a = group_with_signature(st, 1), *b = group_with_signature(st, 2);
    sp_member_note_holder(st, a);
    sp_member_note_holder(st, b);
    sp_group_stage_release(st);
    CU_ASSERT_PTR_NULL(a->members[0]->signature);
    CU_ASSERT_PTR_NULL(b->members[0]->signature);
    a->members[0]->signature = sp_signature_alloc(0, 0);
    b->members[0]->signature = sp_signature_alloc(0, 0);
    sp_member_note_holder(st, a);
    sp_group_stage_release(st);
    CU_ASSERT_PTR_NULL(a->members[0]->signature);
    CU_ASSERT_PTR_NOT_NULL(b->members[0]->signature);
    sp_group_stage_free(st);
    sp_db_close(db);
}

/* ---- the spanning forest */

static bool is_one_tree(const struct sp_group *g)
{
    for (uint32_t i = 1; i < g->count; i++)
        if (!sp_group_forest_same(g->members[0], g->members[i]))
            return false;
    return true;
}

/* Linking any members of two trees makes a valid tree. */
TEST(linking_two_trees_makes_one_of_them)
{
    enum { MEMBERS = 6 };
    struct sp_group_stage_options options = {.mode = SP_MODE_EXACT, .cache_bytes = 1 << 20};
    struct sp_outbox outbox = {on_message, on_event, NULL};
    struct sp_db *db = sp_db_open_memory();
    struct sp_group_stage *st = sp_group_stage_new(&options, sp_db_store(db, 1), &outbox);
    struct sp_group *g = sp_group_make(st, (struct sp_group_id){1, {1, 1}});
    for (uint64_t page = 1; page <= MEMBERS; page++)
        join(st, g, page);
    for (uint32_t from = 0; from < MEMBERS / 2; from++)
        for (uint32_t to = MEMBERS / 2; to < MEMBERS; to++) {
            for (uint32_t i = 0; i < MEMBERS; i++) /* two chains */
                g->members[i]->parent = i % (MEMBERS / 2) ? g->members[i - 1] : NULL;
            CU_ASSERT_FALSE(is_one_tree(g));
            sp_group_forest_link(st, g, g->members[from], g->members[to]);
            CU_ASSERT_TRUE(is_one_tree(g));
        }
    sp_group_stage_free(st);
    sp_db_close(db);
}

/* ---- damaged rows */

static const struct sp_group_id some_group = {1, {1, 1}};

/* Writes a group of that many members, changed by `damage`, and returns the error of reading it. */
static enum sp_err reread(uint64_t members, void (*damage)(struct sp_group *g))
{
    struct sp_group_stage_options options = {.mode = SP_MODE_EXACT, .cache_bytes = 1 << 20};
    struct sp_outbox outbox = {on_message, on_event, NULL};
    struct sp_db *db = sp_db_open_memory();
    struct sp_group_stage *st = sp_group_stage_new(&options, sp_db_store(db, 1), &outbox);
    struct sp_group *g = sp_group_make(st, some_group);
    for (uint64_t page = 2; page < 2 + members; page++)
        join(st, g, page);
    damage(g);
    CU_ASSERT_EQUAL(rows_after_flush(st, db, "M"), members > SP_PACKED_MEMBERS ? members : 0);
    sp_group_stage_free(st);
    st = sp_group_stage_new(&options, sp_db_store(db, 1), &outbox);
    g = sp_group_get(st, some_group);
    enum sp_err err = sp_group_stage_error(st);
    CU_ASSERT_EQUAL(g == NULL, err != SP_OK);
    CU_ASSERT(!g || g->count == members);
    sp_group_stage_free(st);
    sp_db_close(db);
    return err;
}

static void chain(struct sp_group *g)
{
    for (uint32_t i = 1; i < g->count; i++)
        g->members[i]->parent = g->members[i - 1];
}

/* The circle hangs beside a tree, so that not every walk along the parents meets it. */
static void circle(struct sp_group *g)
{
    chain(g);
    g->members[g->count - 2]->parent = g->members[g->count - 1];
}

static void own_parent(struct sp_group *g)
{
    g->members[1]->parent = g->members[1];
}

TEST(parents_that_go_in_a_circle_are_damage)
{
    for (uint64_t members = 2; members <= 2 * SP_PACKED_MEMBERS; members++) {
        CU_ASSERT_EQUAL(reread(members, chain), SP_OK);
        CU_ASSERT_EQUAL(reread(members, circle), SP_CORRUPT);
        CU_ASSERT_EQUAL(reread(members, own_parent), SP_CORRUPT);
    }
}

static void last_reason(struct sp_group *g)
{
    g->members[1]->said_reason = SP_REASON_EXACT;
}

static void no_reason(struct sp_group *g)
{
    g->members[1]->said_reason = SP_REASON_EXACT + 1;
}

TEST(a_reason_that_does_not_exist_is_damage)
{
    for (uint64_t members = 2; members <= 6; members++) {
        CU_ASSERT_EQUAL(reread(members, last_reason), SP_OK);
        CU_ASSERT_EQUAL(reread(members, no_reason), SP_CORRUPT);
    }
}

/* ---- large groups stay in memory */

static void fetch_another_page(struct sp_group_stage *st, int64_t version)
{
    struct sp_message *m = sp_message_new(SP_MSG_CRAWLED);
    m->page = (struct sp_id){UINT64_MAX, UINT64_MAX};
    m->crawled.version = version;
    m->crawled.page_kind = SP_PAGE_DEAD;
    m->crawled.url = sp_strdup("https://b.example/");
    CU_ASSERT_EQUAL(sp_group_stage_step(st, m), SP_OK);
}

static void write_all(struct sp_group_stage *st, struct sp_db *db)
{
    CU_ASSERT_EQUAL(sp_group_stage_flush(st), SP_OK);
    CU_ASSERT_EQUAL(sp_db_commit(db), SP_OK);
}

static void make_large_group(struct sp_group_stage *st, struct sp_group_id id, uint32_t members)
{
    struct sp_group *g = sp_group_make(st, id);
    for (uint64_t page = 2; page < 2 + members; page++)
        join(st, g, page);
    sp_group_fit(st, g);
    CU_ASSERT_PTR_NOT_NULL(g->large);
}

static struct sp_group_stage *with_cache(struct sp_db *db, size_t cache_bytes)
{
    struct sp_group_stage_options options = {
        .mode = SP_MODE_EXACT, .large_from = 16, .cache_bytes = cache_bytes};
    struct sp_outbox outbox = {on_message, on_event, NULL};
    return sp_group_stage_new(&options, sp_db_store(db, 1), &outbox);
}

/* A stage that keeps as little as it may, and a large group in it. */
static struct sp_group_stage *with_large_group(struct sp_db *db, uint32_t members)
{
    struct sp_group_stage *st = with_cache(db, 0);
    make_large_group(st, some_group, members);
    write_all(st, db);
    return st;
}

/* A group of that many members is used once in every `pause` messages, each of which is flushed.
 * Returns how many rows are read for a message. */
static double rows_for_a_message(uint32_t members, uint32_t pause)
{
    enum { USES = 8 };
    struct sp_db *db = sp_db_open_memory();
    struct sp_group_stage *st = with_large_group(db, members);
    struct sp_db_counts before, after;
    uint32_t messages = USES * pause;
    sp_db_counts(db, &before);
    for (uint32_t i = 1; i <= messages; i++) {
        fetch_another_page(st, i);
        if (i % pause == 0) {
            const struct sp_group *g = sp_group_get(st, some_group);
            CU_ASSERT(g && g->large && g->count == members);
        }
        write_all(st, db);
    }
    sp_db_counts(db, &after);
    CU_ASSERT_EQUAL(st->large_count, 1);
    sp_group_stage_free(st);
    sp_db_close(db);
    return (double)(after.rows_read - before.rows_read) / messages;
}

/* However large the group is, and however often it is used: without a budget for the cache, too. */
TEST(a_large_group_that_is_used_now_and_then_is_not_read_for_each_use)
{
    for (uint32_t pause = 20; pause <= 20 * 64; pause *= 4) {
        CU_ASSERT(rows_for_a_message(500, pause) < 4);
        CU_ASSERT(rows_for_a_message(2000, pause) < 4);
    }
}

static size_t used_larges(const struct sp_group_stage *st)
{
    size_t count = 0;
    for (const struct sp_lru *at = st->large_used.next; at != &st->large_used; at = at->next)
        count++;
    return count;
}

/* A flush counts the bytes of large groups that were used since the last one, not of all. */
TEST(a_flush_looks_at_large_groups_that_were_used)
{
    enum { MEMBERS = 200 };
    struct sp_db *db = sp_db_open_memory();
    struct sp_group_stage *st = with_cache(db, 8 << 20);
    make_large_group(st, some_group, MEMBERS);
    CU_ASSERT_EQUAL(used_larges(st), 1);
    write_all(st, db);
    CU_ASSERT_EQUAL(used_larges(st), 0);
    size_t bytes = st->large_bytes;
    CU_ASSERT(bytes >= MEMBERS * sizeof(struct sp_member));
    fetch_another_page(st, 1);
    CU_ASSERT_EQUAL(used_larges(st), 0);
    write_all(st, db);
    CU_ASSERT_EQUAL(st->large_bytes, bytes);
    sp_group_stage_free(st);
    sp_db_close(db);
}

TEST(a_large_group_stays_in_memory_while_there_is_room)
{
    enum { MEMBERS = 200, MESSAGES = 20 * MEMBERS };
    struct sp_db *db = sp_db_open_memory();
    struct sp_group_stage *st = with_cache(db, 8 << 20);
    make_large_group(st, some_group, MEMBERS);
    for (int64_t version = 1; version <= MESSAGES; version++) {
        fetch_another_page(st, version);
        write_all(st, db);
    }
    CU_ASSERT_EQUAL(st->large_count, 1);
    CU_ASSERT(st->large_bytes >= MEMBERS * sizeof(struct sp_member));
    CU_ASSERT(sp_group_stage_cache_bytes(st) >= st->large_bytes);
    sp_group_stage_free(st);
    sp_db_close(db);
}

/* Many large groups have room for few; one is used in each round, and the others are not. */
TEST(large_groups_that_are_used_outlast_those_that_are_not)
{
    enum { MEMBERS = 100, GROUPS = 20, MESSAGES = 4 * MEMBERS };
    struct sp_db *db = sp_db_open_memory();
    struct sp_group_stage *st = with_cache(db, 2 * 5 * MEMBERS * sizeof(struct sp_member));
    for (uint32_t i = 1; i <= GROUPS; i++)
        make_large_group(st, (struct sp_group_id){i, {1, 1}}, MEMBERS);
    for (int64_t version = 1; version <= MESSAGES; version++) {
        fetch_another_page(st, version);
        CU_ASSERT_PTR_NOT_NULL(sp_group_get(st, some_group));
        write_all(st, db);
    }
    struct sp_db_counts before, after;
    sp_db_counts(db, &before);
    CU_ASSERT_PTR_NOT_NULL(sp_group_get(st, some_group));
    sp_db_counts(db, &after);
    CU_ASSERT_EQUAL(after.rows_read, before.rows_read);
    CU_ASSERT(st->large_count < GROUPS / 2);
    sp_group_stage_free(st);
    sp_db_close(db);
}

TEST(a_large_group_that_is_no_longer_used_leaves_the_memory)
{
    enum { MEMBERS = 200 };
    struct sp_db *db = sp_db_open_memory();
    struct sp_group_stage *st = with_large_group(db, MEMBERS);
    for (int64_t version = 1; version <= MEMBERS; version++) {
        fetch_another_page(st, version);
        write_all(st, db);
        CU_ASSERT_EQUAL(st->large_count, 1);
    }
    fetch_another_page(st, MEMBERS + 1);
    write_all(st, db);
    CU_ASSERT_EQUAL(st->large_count, 0);
    sp_group_stage_free(st);
    sp_db_close(db);
}
