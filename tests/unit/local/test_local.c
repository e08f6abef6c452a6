/* The local bus: encoding and decoding messages between stages changes nothing. If a store call
 * fails, whichever it is, the error is reported, nothing leaks, and the run continues after the
 * last barrier. */
#include "codec/codec.h"
#include "crawl.h"
#include "harness.h"
#include "local/verify.h"

static void make(struct crawl *crawl, uint64_t pages, uint64_t seed)
{
    struct sp_synth_options synth;
    sp_synth_options_default(&synth);
    synth.pages = pages;
    synth.seed = seed;
    synth.words = 60;
    synth.near_permille = 350;
    synth.recrawl_permille = 500;
    crawl_make(crawl, &synth);
}

static bool same_events(const struct crawl_run *a, const struct crawl_run *b)
{
    return sp_view_eq(sp_buf_view(&a->events), sp_buf_view(&b->events));
}

/* ---- messages encoded and decoded between stages */

struct wire {
    uint64_t kinds[SP_MSG_KINDS];
    struct sp_buf bytes;
    uint64_t lose_after; /* the canary: matches after this many have a wrong version */
    uint64_t passed;
};

static struct sp_message *through_codec(void *arg, struct sp_message *m)
{
    struct wire *wire = arg;
    struct sp_message *decoded = NULL;
    wire->kinds[m->kind]++;
    sp_buf_reset(&wire->bytes);
    sp_message_encode(m, &wire->bytes);
    /* A heap copy of the exact size: the address sanitizer finds reads past its end. */
    char *exact = sp_memdup(wire->bytes.data, wire->bytes.len);
    enum sp_err err = sp_message_decode(sp_view(exact, wire->bytes.len), &decoded);
    CU_ASSERT_EQUAL(err, SP_OK);
    sp_free(exact);
    sp_message_free(m);
    if (decoded && wire->passed++ >= wire->lose_after && decoded->kind == SP_MSG_MATCH)
        decoded->link.content_version++;
    return decoded;
}

static void count_member(void *arg, const struct sp_page_view *page)
{
    *(uint64_t *)arg += page->kind == SP_PAGE_CONTENT;
}

static void count_holders(void *arg, struct sp_id content, uint64_t holders)
{
    (void)content;
    *(uint64_t *)arg -= holders - SP_BUS_USUAL_HOLDERS;
}

static void count_usual(void *arg, struct sp_signature *signature)
{
    (void)signature;
    *(uint64_t *)arg -= SP_BUS_USUAL_HOLDERS;
}

static bool count_row(void *arg, struct sp_view key, struct sp_view value)
{
    (void)key, (void)value;
    ++*(uint64_t *)arg;
    return true;
}

/* Each member with content and each row of a cell holds a reference to a signature, and nothing
 * else does. */
static uint64_t holders_missing(struct sp_db *db, const struct crawl_run *run)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < run->options.tier1; i++)
        sp_group_each_page(sp_db_store(db, (uint16_t)(SP_BUS_STORE_TIER1 + i)), count_member, &n);
    for (uint32_t i = 0; i < run->options.tier2; i++)
        sp_store_scan(sp_db_store(db, (uint16_t)(SP_BUS_STORE_TIER2 + i)), sp_view("R", 1),
                      sp_view(NULL, 0), count_row, &n);
    struct sp_store *contents = sp_db_store(db, SP_BUS_STORE_CONTENTS);
    CU_ASSERT_EQUAL(sp_contents_each(contents, count_usual, &n), SP_OK);
    CU_ASSERT_EQUAL(sp_contents_each_count(contents, count_holders, &n), SP_OK);
    return n;
}

static uint64_t differences(struct sp_db *db, const struct crawl_run *run)
{
    uint64_t n = UINT64_MAX;
    CU_ASSERT_EQUAL(holders_missing(db, run), 0);
    CU_ASSERT_EQUAL(sp_verify(db, &run->options, &n, NULL), SP_OK);
    return n;
}

/* Runs the same crawl with and without `wire` and returns whether the published bytes are equal. */
static bool wire_changes_nothing(uint32_t tier1, uint32_t tier2, uint32_t cells, enum sp_mode mode,
                                 struct wire *wire)
{
    struct crawl crawl;
    struct crawl_run runs[2];
    make(&crawl, 2500, 3);
    for (int i = 0; i < 2; i++) {
        struct sp_db *db = sp_db_open_memory();
        crawl_run_init(&runs[i], cells);
        runs[i].options.tier1 = tier1;
        runs[i].options.tier2 = tier2;
        runs[i].options.group.mode = mode;
        if (i == 1) {
            runs[i].options.wire = through_codec;
            runs[i].options.wire_arg = wire;
        }
        CU_ASSERT_EQUAL(crawl_feed(&runs[i], &crawl, db), SP_OK);
        CU_ASSERT(runs[i].events.len > 100000);
        if (mode == SP_MODE_EXACT && wire->lose_after == UINT64_MAX)
            CU_ASSERT_EQUAL(differences(db, &runs[i]), 0);
        sp_db_close(db);
    }
    bool same = same_events(&runs[0], &runs[1]);
    crawl_run_done(&runs[0]);
    crawl_run_done(&runs[1]);
    sp_buf_done(&wire->bytes);
    crawl_done(&crawl);
    return same;
}

TEST(the_codec_between_the_stages_changes_nothing)
{
    struct wire wire = {.lose_after = UINT64_MAX};
    CU_ASSERT(wire_changes_nothing(1, 1, 1, SP_MODE_EXACT, &wire));
}

TEST(the_codec_between_many_partitions_changes_nothing)
{
    struct wire wire = {.lose_after = UINT64_MAX};
    CU_ASSERT(wire_changes_nothing(7, 3, 5, SP_MODE_EXACT, &wire));
    for (int kind = SP_MSG_CRAWLED; kind < SP_MSG_KINDS; kind++)
        CU_ASSERT(wire.kinds[kind] > 0 || kind == SP_MSG_ERASE || kind == SP_MSG_MOVE ||
                  kind == SP_MSG_AGAIN || kind == SP_MSG_WAIT);
    /* no page is erased here, and no group moves in parts; see the test of a new map */
}

TEST(the_codec_in_fast_mode_changes_nothing)
{
    struct wire wire = {.lose_after = UINT64_MAX};
    CU_ASSERT(wire_changes_nothing(3, 2, 5, SP_MODE_FAST, &wire));
}

TEST(a_field_lost_on_the_way_is_noticed)
{
    struct wire wire = {.lose_after = 5000};
    CU_ASSERT(!wire_changes_nothing(1, 1, 1, SP_MODE_EXACT, &wire));
}

/* ---- counts */

static struct sp_message *count_on_the_way(void *arg, struct sp_message *m)
{
    struct sp_local_bus_stats *seen = arg;
    bool linking = m->kind == SP_MSG_MATCH || m->kind == SP_MSG_FIND_GROUP ||
                   (m->kind >= SP_MSG_LINK && m->kind <= SP_MSG_MEMBERS);
    struct sp_link link = linking ? m->link : (struct sp_link){0};
    uint64_t carried = (uint64_t)link.edge_count + link.row_count;
    seen->messages++;
    seen->messages_by_kind[m->kind]++;
    seen->edges_sent += link.edge_count;
    seen->members_sent += link.row_count;
    seen->largest_message = carried > seen->largest_message ? carried : seen->largest_message;
    return m;
}

static void ignore_status(void *arg, const struct sp_status_event *event)
{
    (void)arg, (void)event;
}

TEST(messages_are_counted_by_kind_and_by_what_they_carry)
{
    struct crawl crawl;
    struct crawl_run run;
    struct sp_local_bus *bus;
    struct sp_local_bus_stats seen = {0}, said;
    struct sp_db *db = sp_db_open_memory();
    make(&crawl, 500, 5);
    crawl_run_init(&run, 3);
    run.options.group.maps = run.options.compare.maps = (struct sp_maps){.now = &run.map};
    run.options.wire = count_on_the_way;
    run.options.wire_arg = &seen;
    CU_ASSERT_EQUAL_FATAL(sp_local_bus_new(&run.options, db, ignore_status, NULL, &bus), SP_OK);
    for (size_t i = 0; i < crawl.count; i++) {
        CU_ASSERT_EQUAL(sp_local_bus_feed(bus, crawl.messages[i]), SP_OK);
        crawl.messages[i] = NULL;
    }
    sp_local_bus_stats(bus, &said);
    CU_ASSERT_EQUAL(said.messages, seen.messages);
    CU_ASSERT_EQUAL(
        memcmp(said.messages_by_kind, seen.messages_by_kind, sizeof seen.messages_by_kind), 0);
    CU_ASSERT_EQUAL(said.messages_by_kind[SP_MSG_CRAWLED], crawl.count);
    CU_ASSERT_EQUAL(said.edges_sent, seen.edges_sent);
    CU_ASSERT_EQUAL(said.members_sent, seen.members_sent);
    CU_ASSERT_EQUAL(said.largest_message, seen.largest_message);
    CU_ASSERT(seen.largest_message > 2 && seen.members_sent > 50);
    sp_local_bus_free(bus);
    sp_db_close(db);
    crawl_run_done(&run);
    crawl_done(&crawl);
}

/* ---- barriers */

TEST(the_number_of_records_between_barriers_changes_nothing)
{
    static const size_t barriers[] = {1000000, 1000, 37, 1};
    struct crawl crawl;
    struct crawl_run runs[4];
    make(&crawl, 1500, 4);
    for (size_t i = 0; i < 4; i++) {
        struct sp_db *db = sp_db_open_memory();
        crawl_run_init(&runs[i], 3);
        runs[i].barrier = barriers[i];
        crawl_run_cache(&runs[i], 0);
        CU_ASSERT_EQUAL(crawl_feed(&runs[i], &crawl, db), SP_OK);
        CU_ASSERT(same_events(&runs[0], &runs[i]));
        CU_ASSERT_EQUAL(differences(db, &runs[i]), 0);
        sp_db_close(db);
    }
    for (size_t i = 0; i < 4; i++)
        crawl_run_done(&runs[i]);
    crawl_done(&crawl);
}

/* ---- the read-only interface */

struct reading {
    struct sp_page_view pages[4000];
    size_t page_count;
    struct sp_id page; /* must be among the members */
    struct sp_id before;
    uint32_t members;
    uint32_t found;
    uint32_t disorder;
    uint32_t sizes[8]; /* number of pages in groups of each size */
};

static bool on_member(void *arg, const struct sp_member_view *m)
{
    struct reading *r = arg;
    r->disorder += r->members > 0 && memcmp(&r->before, &m->page, sizeof m->page) >= 0;
    r->found += sp_id_eq(m->page, r->page);
    r->before = m->page;
    r->members++;
    return true;
}

static void note_page(void *arg, const struct sp_page_view *page)
{
    struct reading *r = arg;
    if (page->status != SP_STATUS_NONE && r->page_count < sizeof r->pages / sizeof *r->pages)
        r->pages[r->page_count++] = *page; /* its texts are invalid after the call */
}

/* In each stored form: the founder's row, the group's row, or a row for each member. */
TEST(each_page_is_among_the_members_of_its_group)
{
    struct crawl crawl;
    struct crawl_run run;
    struct sp_db *db = sp_db_open_memory();
    struct sp_store *store = sp_db_store(db, SP_BUS_STORE_TIER1);
    static struct reading r;
    make(&crawl, 2500, 9);
    crawl_run_init(&run, 2);
    CU_ASSERT_EQUAL(crawl_feed(&run, &crawl, db), SP_OK);
    CU_ASSERT_EQUAL(sp_group_each_page(store, note_page, &r), SP_OK);
    CU_ASSERT(r.page_count > 2000);
    for (size_t i = 0; i < r.page_count; i++) {
        r.page = r.pages[i].page;
        r.members = r.found = 0;
        CU_ASSERT_EQUAL(sp_group_read_members_after(store, r.pages[i].group, (struct sp_id){0, 0},
                                                    on_member, &r),
                        SP_OK);
        CU_ASSERT_EQUAL(r.found, 1);
        r.sizes[r.members < 8 ? r.members : 7]++;
    }
    CU_ASSERT_EQUAL(r.disorder, 0);
    CU_ASSERT_EQUAL(r.sizes[0], 0);
    for (uint32_t size = 1; size < 8; size++)
        CU_ASSERT(r.sizes[size] > 0);
    sp_db_close(db);
    crawl_run_done(&run);
    crawl_done(&crawl);
}

/* ---- a new partition map */

/* Feeds the first half with one map and the second with another. The store fails after `fail_after`
 * calls (-1: never), and the bus is opened again. */
static void move_in_the_middle(const struct crawl *crawl, struct crawl_run *run, long fail_after)
{
    struct wire wire = {.lose_after = UINT64_MAX};
    struct sp_partition_map old;
    struct sp_db *db = sp_db_open_memory();
    struct crawl half = {crawl->messages, crawl->count / 2};
    crawl_run_init(run, 4);
    run->options.tier2 = 3;
    run->options.wire = through_codec;
    run->options.wire_arg = &wire;
    CU_ASSERT_EQUAL(crawl_feed(run, &half, db), SP_OK);
    old = run->map;
    CU_ASSERT_EQUAL(sp_partition_default(7, &run->map), SP_OK);
    run->map.version = old.version + 1;
    CU_ASSERT_EQUAL(crawl_feed(run, crawl, db), SP_OTHER_MAP); /* the old map is still needed */
    run->before = &old;
    sp_db_fail_after(db, fail_after);
    if (fail_after >= 0) {
        CU_ASSERT_EQUAL(crawl_feed(run, crawl, db), SP_STORE);
        sp_db_discard(db);
        sp_db_fail_after(db, -1);
    }
    CU_ASSERT_EQUAL(crawl_feed(run, crawl, db), SP_OK);
    CU_ASSERT_EQUAL(run->left_to_move, 0);
    CU_ASSERT_EQUAL(differences(db, run), 0);
    CU_ASSERT(wire.kinds[SP_MSG_MOVE] > 100);
    CU_ASSERT(wire.kinds[SP_MSG_AGAIN] > 0);
    run->before = NULL;
    CU_ASSERT_EQUAL(crawl_feed(run, crawl, db), SP_OK);
    run->map.boxes[0].hi[SP_DIMS]--; /* the cells were made with another map */
    run->map.boxes[1].lo[SP_DIMS]--;
    CU_ASSERT_EQUAL(crawl_feed(run, crawl, db), SP_OTHER_MAP);
    sp_partition_done(&old);
    sp_buf_done(&wire.bytes);
    sp_db_close(db);
}

TEST(pages_move_to_a_new_map_and_nothing_else_changes)
{
    static const long failures[] = {-1, 30, 1000, 3000};
    struct crawl crawl;
    struct crawl_run calm, run;
    struct sp_db *db = sp_db_open_memory();
    make(&crawl, 1500, 8);
    crawl_run_init(&calm, 4);
    CU_ASSERT_EQUAL(crawl_feed(&calm, &crawl, db), SP_OK);
    for (size_t i = 0; i < sizeof failures / sizeof *failures; i++) {
        move_in_the_middle(&crawl, &run, failures[i]);
        CU_ASSERT(same_events(&calm, &run));
        crawl_run_done(&run);
    }
    sp_db_close(db);
    crawl_run_done(&calm);
    crawl_done(&crawl);
}

/* ---- fail the Nth call */

/* Fails each store call in turn, then continues from what is committed. Returns the number of
 * failed runs. */
static long fail_everywhere(const struct crawl *crawl, uint32_t partitions, size_t cache_bytes)
{
    struct crawl_run want;
    struct sp_db *calm = sp_db_open_memory();
    crawl_run_init(&want, partitions);
    want.options.tier1 = want.options.tier2 = partitions;
    CU_ASSERT_EQUAL(crawl_feed(&want, crawl, calm), SP_OK);
    long calls = 0;
    for (enum sp_err err = SP_STORE; err != SP_OK && calls < 100000; calls++) {
        struct crawl_run run;
        struct sp_db *db = sp_db_open_memory();
        crawl_run_init(&run, partitions);
        run.options.tier1 = run.options.tier2 = partitions;
        crawl_run_cache(&run, cache_bytes);
        run.barrier = 9;
        sp_db_fail_after(db, calls);
        err = crawl_feed(&run, crawl, db);
        if (err != SP_OK) {
            CU_ASSERT_EQUAL(err, SP_STORE);
            CU_ASSERT(strlen(sp_db_message(db)) > 0);
            CU_ASSERT(run.committed < crawl->count);
            sp_db_discard(db);
        }
        sp_db_fail_after(db, -1);
        if (err != SP_OK)
            CU_ASSERT_EQUAL(crawl_feed(&run, crawl, db), SP_OK);
        CU_ASSERT(same_events(&want, &run));
        CU_ASSERT_EQUAL(differences(db, &run), 0);
        crawl_run_done(&run);
        sp_db_close(db);
    }
    crawl_run_done(&want);
    sp_db_close(calm);
    return calls - 1;
}

TEST(a_store_that_fails_at_any_call_is_reported_and_continued)
{
    struct crawl crawl;
    make(&crawl, 40, 5);
    CU_ASSERT(fail_everywhere(&crawl, 1, 1 << 20) > 20);
    CU_ASSERT(fail_everywhere(&crawl, 1, 0) > 200); /* no cache: everything is read again */
    crawl_done(&crawl);
}

TEST(a_store_of_many_partitions_that_fails_is_reported_and_continued)
{
    struct crawl crawl;
    make(&crawl, 40, 6);
    CU_ASSERT(fail_everywhere(&crawl, 3, 0) > 150);
    crawl_done(&crawl);
}

/* ---- a failing wire */

static struct sp_message *breaks(void *arg, struct sp_message *m)
{
    long *left = arg;
    if ((*left)-- > 0)
        return m;
    sp_message_free(m);
    return NULL;
}

TEST(a_message_that_cannot_be_passed_on_is_an_error)
{
    struct crawl crawl;
    make(&crawl, 60, 7);
    for (long at = 0; at < 300; at += 7) {
        struct crawl_run run;
        struct sp_db *db = sp_db_open_memory();
        long left = at;
        crawl_run_init(&run, 1);
        run.options.wire = breaks;
        run.options.wire_arg = &left;
        CU_ASSERT_EQUAL(crawl_feed(&run, &crawl, db), SP_MALFORMED);
        CU_ASSERT(left < 0);
        sp_db_close(db);
        crawl_run_done(&run);
    }
    crawl_done(&crawl);
}

/* ---- the memory of the caches */

static uint64_t rows_read(const struct crawl *crawl, size_t memory_bytes, struct sp_buf *ret_events)
{
    struct crawl_run run;
    struct sp_db_counts counts;
    struct sp_db *db = sp_db_open_memory();
    crawl_run_init(&run, 1);
    run.options.memory_bytes = memory_bytes;
    CU_ASSERT_EQUAL(crawl_feed(&run, crawl, db), SP_OK);
    sp_db_counts(db, &counts);
    sp_buf_put_view(ret_events, sp_buf_view(&run.events));
    crawl_run_done(&run);
    sp_db_close(db);
    return counts.rows_read;
}

TEST(the_index_takes_memory_from_the_caches_but_not_all_of_it)
{
    enum { BOUNDS = 4 };
    static const size_t bounds[BOUNDS] = {0, 64 << 20, 1 << 20, 1};
    struct crawl crawl;
    struct sp_buf events[BOUNDS] = {{0}};
    uint64_t rows[BOUNDS];
    make(&crawl, 1500, 3);
    for (int i = 0; i < BOUNDS; i++) {
        rows[i] = rows_read(&crawl, bounds[i], &events[i]);
        CU_ASSERT_TRUE(sp_view_eq(sp_buf_view(&events[0]), sp_buf_view(&events[i])));
    }
    CU_ASSERT_EQUAL(rows[0], 0);
    CU_ASSERT_EQUAL(rows[1], 0);
    CU_ASSERT(rows[2] > 100);
    CU_ASSERT(rows[3] > rows[2]);
    CU_ASSERT(rows[3] < crawl.count);
    for (int i = 0; i < BOUNDS; i++)
        sp_buf_done(&events[i]);
    crawl_done(&crawl);
}
