/* The stages as workers run them, without a broker: a message that one emits is queued for the
 * instance that has the partition, as topics would do. The tests see which bytes go where, and what
 * a stage does with bytes that it should not get. */
#include <stdio.h>

#include "codec/codec.h"
#include "codec/note.h"
#include "harness.h"
#include "kafka/stages.h"
#include "kafka/task.h"
#include "signature/signature.h"

enum { PARTITIONS = 2, STATUS_PARTITIONS = 3, CACHE = 1 << 20, URL = 64 };
enum { MESSAGE_BYTES = 8 << 10 }; /* of members on their way to another group */
enum { SIGNATURE, GROUP, COMPARE, CONTAIN, STAGES };

struct record {
    enum sp_topic topic;
    int32_t partition;
    struct sp_buf key, value;
    bool deletes;
};

struct instance {
    struct sp_worker_stage stage;
    struct sp_db *db;
    void *made;
};

/* The last status of a page by message key, as a compacted topic would hold it. */
struct told {
    char key[URL], winner[URL], contained_in[URL];
    int32_t partition;
    bool deleted;
    enum sp_page_status status;
};

static struct stages {
    struct sp_stage_options options;
    struct sp_partition_map maps[2];
    struct instance instances[STAGES][PARTITIONS];
    const struct sp_worker_stage *speaks; /* the stage that runs the current step */
    struct record *queue;
    size_t next, end, cap;
    struct told *told;
    size_t told_count, told_cap;
    uint64_t counted; /* messages between the stages */
    uint64_t events;
    size_t largest;   /* bytes of a message between the stages */
    uint64_t fetches; /* messages from the signature stage, and their copies for the audit */
    uint64_t copies;
    struct sp_buf fetched; /* the last of either */
    struct sp_buf copied;
    struct sp_id copied_page;
} s;

/* ---- the worker, as the stages call it ---- */

int32_t __wrap_sp_worker_partitions(const struct sp_worker *w, enum sp_topic topic);
void __wrap_sp_worker_count(struct sp_worker *w, enum sp_message_kind kind);
void __wrap_sp_worker_emit(struct sp_worker *w, enum sp_topic topic, int32_t partition,
                           struct sp_view key, struct sp_view value);

int32_t __wrap_sp_worker_partitions(const struct sp_worker *w, enum sp_topic topic)
{
    (void)w;
    return topic == SP_TOPIC_STATUS    ? STATUS_PARTITIONS
           : topic == SP_TOPIC_CONTAIN ? 1
           : topic == SP_TOPIC_AUDIT   ? 1
                                       : PARTITIONS;
}

void __wrap_sp_worker_count(struct sp_worker *w, enum sp_message_kind kind)
{
    (void)w, (void)kind;
    s.counted++;
}

void __wrap_sp_worker_emit(struct sp_worker *w, enum sp_topic topic, int32_t partition,
                           struct sp_view key, struct sp_view value)
{
    bool declared = false;
    for (size_t i = 0; i < s.speaks->output_count; i++)
        declared |= s.speaks->outputs[i] == topic;
    CU_ASSERT(declared); /* a worker opens no undeclared topic */
    CU_ASSERT(partition >= 0 && partition < __wrap_sp_worker_partitions(w, topic));
    sp_grow(&s.queue, &s.cap, s.end + 1);
    struct record *r = &s.queue[s.end++];
    *r = (struct record){.topic = topic, .partition = partition, .deletes = !value.data};
    sp_buf_put_view(&r->key, key);
    sp_buf_put_view(&r->value, value);
    if (topic != SP_TOPIC_STATUS && value.len > s.largest)
        s.largest = value.len;
    s.events += topic == SP_TOPIC_STATUS;
}

/* ---- all stages ---- */

static void open_instance(int stage, int32_t partition)
{
    struct instance *i = &s.instances[stage][partition];
    struct sp_worker_stage (*const stages[STAGES])(const struct sp_stage_options *) = {
        sp_stage_signature, sp_stage_group, sp_stage_compare, sp_stage_contain};
    i->stage = stages[stage](&s.options);
    if (i->stage.stateful && !i->db)
        i->db = sp_db_open_memory();
    struct sp_store *store = i->stage.stateful ? sp_db_store(i->db, SP_TASK_STORE_STAGE) : NULL;
    CU_ASSERT_EQUAL_FATAL(i->stage.open(i->stage.arg, NULL, store, &i->made), SP_OK);
}

/* Commits and frees the instance; only its rows remain. */
static void close_instance(struct instance *i)
{
    CU_ASSERT_EQUAL(i->stage.flush(i->made), SP_OK);
    i->stage.close(i->made);
    if (i->db)
        CU_ASSERT_EQUAL(sp_db_commit(i->db), SP_OK);
}

static void begin(double contain)
{
    memset(&s, 0, sizeof s);
    CU_ASSERT_EQUAL_FATAL(sp_partition_default(PARTITIONS, &s.maps[0]), SP_OK);
    CU_ASSERT_EQUAL_FATAL(sp_partition_default(PARTITIONS, &s.maps[1]), SP_OK);
    s.maps[1].version = s.maps[0].version + 1;
    sp_input_options_default(&s.options.input);
    sp_text_options_default(&s.options.text);
    sp_similarity_options_default(&s.options.compare.similarity);
    s.options.compare.maps.now = &s.maps[0];
    s.options.compare.rho = 1;
    s.options.compare.cache_bytes = s.options.group.cache_bytes = CACHE;
    s.options.group.similarity = s.options.compare.similarity;
    s.options.group.maps = s.options.compare.maps;
    s.options.contain = (struct sp_contain_options){.threshold = contain, .boilerplate = 1};
    s.options.contents_cache_bytes = CACHE;
    s.options.group.message_bytes = MESSAGE_BYTES;
    for (int stage = 0; stage < STAGES; stage++)
        for (int32_t p = 0; p < PARTITIONS; p++)
            if (stage != CONTAIN || (contain > 0 && p == 0))
                open_instance(stage, p);
}

static void end(void)
{
    for (int stage = 0; stage < STAGES; stage++)
        for (int32_t p = 0; p < PARTITIONS; p++) {
            struct instance *i = &s.instances[stage][p];
            if (i->made)
                close_instance(i);
            if (i->db)
                sp_db_close(i->db);
        }
    for (size_t i = s.next; i < s.end; i++) {
        sp_buf_done(&s.queue[i].key);
        sp_buf_done(&s.queue[i].value);
    }
    sp_buf_done(&s.fetched);
    sp_buf_done(&s.copied);
    sp_free(s.queue);
    sp_free(s.told);
    sp_partition_done(&s.maps[0]);
    sp_partition_done(&s.maps[1]);
}

/* Restarts the stages from their rows with the next map: pages move out of the cells of the old
 * one. */
static void restart_with_next_map(void)
{
    s.options.compare.maps = (struct sp_maps){.now = &s.maps[1], .before = &s.maps[0]};
    s.options.group.maps = s.options.compare.maps;
    for (int stage = 0; stage <= COMPARE; stage++)
        for (int32_t p = 0; p < PARTITIONS; p++) {
            close_instance(&s.instances[stage][p]);
            open_instance(stage, p);
        }
}

/* ---- what is published ---- */

static struct told *told_of(const char *key)
{
    for (size_t i = 0; i < s.told_count; i++)
        if (strcmp(s.told[i].key, key) == 0)
            return &s.told[i];
    sp_grow(&s.told, &s.told_cap, s.told_count + 1);
    struct told *t = &s.told[s.told_count++];
    *t = (struct told){.partition = -1};
    snprintf(t->key, URL, "%s", key);
    return t;
}

static void tell(const struct record *r)
{
    char key[URL];
    struct sp_buf text = {0};
    struct sp_status_event event = {.status = SP_STATUS_NONE};
    snprintf(key, sizeof key, "%.*s", (int)r->key.len, r->key.data);
    struct told *t = told_of(key);
    CU_ASSERT(t->partition < 0 ||
              t->partition == r->partition); /* in one partition events keep their order */
    t->partition = r->partition;
    t->deleted = r->deletes;
    if (r->deletes)
        return;
    CU_ASSERT_EQUAL_FATAL(sp_status_decode(sp_buf_view(&r->value), NULL, &text, &event), SP_OK);
    t->status = event.status;
    snprintf(t->winner, URL, "%s", event.winner_url ? event.winner_url : "");
    snprintf(t->contained_in, URL, "%s", event.contained_in ? event.contained_in : "");
    sp_buf_done(&text);
}

/* ---- a crawl ---- */

static enum sp_err step(int stage, int32_t partition, struct sp_view key, struct sp_view value,
                        const char **ret_why)
{
    struct instance *i = &s.instances[stage][partition];
    s.speaks = &i->stage;
    enum sp_err err = i->stage.step(i->made, key, value, ret_why);
    if (i->stage.upkeep)
        i->stage.upkeep(i->made, false, 1);
    return err;
}

static void keep(const struct record *r)
{
    CU_ASSERT_EQUAL_FATAL(r->key.len, sizeof s.copied_page);
    memcpy(&s.copied_page, r->key.data, r->key.len);
    sp_buf_reset(&s.copied);
    sp_buf_put_view(&s.copied, sp_buf_view(&r->value));
    s.copies++;
}

/* Handles messages until none is left. */
static void drain(void)
{
    while (s.next < s.end) {
        struct record r = s.queue[s.next++]; /* the queue may move in a step */
        const char *why = NULL;
        int stage = r.topic == SP_TOPIC_TIER1   ? GROUP
                    : r.topic == SP_TOPIC_TIER2 ? COMPARE
                                                : CONTAIN;
        if (r.topic == SP_TOPIC_STATUS)
            tell(&r);
        else if (r.topic == SP_TOPIC_AUDIT)
            keep(&r);
        else
            CU_ASSERT_EQUAL(
                step(stage, r.partition, sp_buf_view(&r.key), sp_buf_view(&r.value), &why), SP_OK);
        sp_buf_done(&r.key);
        sp_buf_done(&r.value);
    }
    s.next = s.end = 0;
}

/* Pays in each instance for work that no message causes; false: none is left. */
static bool has_work(int stage)
{
    bool left = false;
    for (int32_t p = 0; p < PARTITIONS; p++) {
        struct instance *i = &s.instances[stage][p];
        s.speaks = &i->stage;
        left |= !i->stage.upkeep(i->made, true, 1);
    }
    return left;
}

/* A text of that many words from word `first` of a list of distinct words. */
static void put_text(struct sp_buf *out, int first, int words)
{
    for (int i = first; i < first + words; i++) {
        char word[16];
        for (int k = 0, left = i; k < 4; k++, left /= 20)
            word[2 * k] = "bcdfghjklmnpqrstvwxz"[left % 20], word[2 * k + 1] = "aeiou"[i % 5];
        word[8] = 0;
        sp_buf_put_str(out, word);
        sp_buf_put_u8(out, ' ');
    }
}

static enum sp_err give_page(struct sp_view key, struct sp_view value)
{
    const char *why = NULL;
    enum sp_err err = step(SIGNATURE, 0, key, value, &why);
    CU_ASSERT(err == SP_OK || why);
    if (s.next < s.end) {
        sp_buf_reset(&s.fetched);
        sp_buf_put_view(&s.fetched, sp_buf_view(&s.queue[s.next].value));
        s.fetches++;
    }
    drain();
    return err;
}

static void fetch(const char *url, int64_t time_ms, int first, int words)
{
    struct sp_buf out = {0};
    char head[256];
    snprintf(head, sizeof head,
             "{\"url\":\"%s\",\"fetch_time_ms\":%lld,\"content_type\":\"text/plain\","
             "\"content\":\"",
             url, (long long)time_ms);
    sp_buf_put_str(&out, head);
    put_text(&out, first, words);
    sp_buf_put_str(&out, "\"}");
    CU_ASSERT_EQUAL(give_page(sp_view("", 0), sp_buf_view(&out)), SP_OK);
    sp_buf_done(&out);
}

static void check(const char *url, enum sp_page_status status, const char *winner)
{
    const struct told *t = told_of(url);
    CU_ASSERT_EQUAL(t->status, status);
    CU_ASSERT_STRING_EQUAL(t->winner, winner);
    CU_ASSERT_FALSE(t->deleted);
}

TEST(pages_on_several_partitions_find_one_another)
{
    begin(0);
    fetch("https://a.example/", 1, 0, 300);
    check("https://a.example/", SP_STATUS_UNIQUE, "");
    fetch("https://b.example/", 2, 1000, 300);
    fetch("https://c.example/longer", 3, 2, 300); /* all words of the first text but two */
    fetch("https://d.example/longer", 4, 1000, 300);
    check("https://a.example/", SP_STATUS_WINNER, "");
    check("https://b.example/", SP_STATUS_WINNER, "");
    check("https://c.example/longer", SP_STATUS_LOSER, "https://a.example/");
    check("https://d.example/longer", SP_STATUS_LOSER, "https://b.example/");
    fetch("https://c.example/longer", 5, 2000, 300);
    check("https://a.example/", SP_STATUS_UNIQUE, "");
    check("https://c.example/longer", SP_STATUS_UNIQUE, "");
    CU_ASSERT(s.counted > 10);
    end();
}

TEST(a_deletion_takes_back_the_status_under_each_name_of_the_page)
{
    begin(0);
    fetch("HTTPS://A.example/x", 1, 0, 300);
    fetch("https://b.example/longer", 2, 0, 300);
    check("https://b.example/longer", SP_STATUS_LOSER, "HTTPS://A.example/x");
    CU_ASSERT_EQUAL(give_page(sp_view_str("https://a.example/x"), sp_view(NULL, 0)), SP_OK);
    CU_ASSERT_TRUE(told_of("https://a.example/x")->deleted);
    CU_ASSERT_TRUE(told_of("HTTPS://A.example/x")->deleted); /* the key before 0.2 */
    check("https://b.example/longer", SP_STATUS_UNIQUE, "");
    CU_ASSERT_EQUAL(give_page(sp_view("", 0), sp_view(NULL, 0)), SP_NO_URL);
    end();
}

/* ---- copies for the audit ---- */

static void begin_audited(double share)
{
    begin(0);
    close_instance(&s.instances[SIGNATURE][0]);
    s.options.audit_share = share;
    open_instance(SIGNATURE, 0);
}

static bool is_copied(const char *url, int64_t time_ms, int first)
{
    uint64_t before = s.copies;
    fetch(url, time_ms, first, 300);
    return s.copies > before;
}

TEST(fetches_are_copied_for_the_audit_as_the_group_stage_gets_them)
{
    begin_audited(1);
    CU_ASSERT_TRUE(is_copied("HTTPS://A.example/x", 1, 0));
    CU_ASSERT(sp_view_eq(sp_buf_view(&s.copied), sp_buf_view(&s.fetched)));
    CU_ASSERT(sp_id_eq(s.copied_page, sp_hash128("https://a.example/x", 19)));
    CU_ASSERT_FALSE(is_copied("https://b.example/", 0, 500)); /* without a time */
    CU_ASSERT_EQUAL(s.fetches, 2);
    end();
}

TEST(without_a_share_nothing_is_copied_for_the_audit)
{
    begin_audited(0);
    CU_ASSERT_FALSE(is_copied("https://a.example/", 1, 0));
    CU_ASSERT_EQUAL(give_page(sp_view_str("https://a.example/"), sp_view(NULL, 0)), SP_OK);
    CU_ASSERT_EQUAL(s.copies, 0);
    end();
}

/* What the page said before is not known when it is erased. */
TEST(an_erased_page_is_deleted_from_the_audit_whether_sampled_or_not)
{
    begin_audited(1e-9);
    CU_ASSERT_FALSE(is_copied("https://a.example/", 1, 0));
    CU_ASSERT_EQUAL(give_page(sp_view_str("HTTPS://a.example/"), sp_view(NULL, 0)), SP_OK);
    CU_ASSERT_EQUAL(s.copies, 1);
    CU_ASSERT_EQUAL(s.copied.len, 0);
    CU_ASSERT(sp_id_eq(s.copied_page, sp_hash128("https://a.example/", 18)));
    end();
}

/* A fetch is copied if its page or its content is drawn: whatever else is fetched, and when. */
TEST(the_audit_gets_all_fetches_of_a_drawn_page_and_of_a_drawn_content)
{
    enum { URLS = 12, CONTENTS = 12 };
    bool copied[URLS][CONTENTS], of_url[URLS], of_content[CONTENTS];
    uint32_t copies = 0;
    begin_audited(0.2);
    memset(of_url, true, sizeof of_url);
    memset(of_content, true, sizeof of_content);
    for (int i = 0; i < URLS * CONTENTS; i++) {
        int u = i / CONTENTS, c = i % CONTENTS;
        char url[64];
        snprintf(url, sizeof url, "https://%d.example/", u);
        copied[u][c] = is_copied(url, 1 + i, 400 * c);
        CU_ASSERT_EQUAL(is_copied(url, 1000 + i, 400 * c), copied[u][c]);
        of_url[u] &= copied[u][c];
        of_content[c] &= copied[u][c];
        copies += copied[u][c];
    }
    for (int u = 0; u < URLS; u++)
        for (int c = 0; c < CONTENTS; c++)
            CU_ASSERT_EQUAL(copied[u][c], of_url[u] || of_content[c]);
    CU_ASSERT(copies > 0 && copies < URLS * CONTENTS);
    end();
}

static struct sp_stage_measure measure_of_contain(void)
{
    struct sp_stage_measure sum = {0};
    s.instances[CONTAIN][0].stage.measure(s.instances[CONTAIN][0].made, &sum);
    return sum;
}

TEST(pages_that_are_part_of_others_are_told_where_the_contain_stage_runs)
{
    begin(0.9);
    fetch("https://part.example/", 1, 0, 200);
    fetch("https://whole.example/", 2, 0, 900);
    CU_ASSERT_STRING_EQUAL(told_of("https://part.example/")->contained_in,
                           "https://whole.example/");
    check("https://part.example/", SP_STATUS_UNIQUE, "");
    CU_ASSERT_EQUAL(measure_of_contain().contain_pages, 2);
    CU_ASSERT_EQUAL(measure_of_contain().contained, 1);
    CU_ASSERT(measure_of_contain().contain_index_bytes > 0);
    CU_ASSERT_EQUAL(give_page(sp_view_str("https://whole.example/"), sp_view(NULL, 0)), SP_OK);
    CU_ASSERT_STRING_EQUAL(told_of("https://part.example/")->contained_in, "");
    CU_ASSERT_EQUAL(measure_of_contain().contain_pages, 1);
    CU_ASSERT_EQUAL(measure_of_contain().contained, 0);
    end();
    begin(0); /* without containment */
    fetch("https://part.example/", 1, 0, 200);
    fetch("https://whole.example/", 2, 0, 900);
    CU_ASSERT_STRING_EQUAL(told_of("https://part.example/")->contained_in, "");
    end();
}

/* ---- messages that a stage should not get ---- */

static enum sp_err step_bytes(int stage, const struct sp_buf *bytes)
{
    const char *why = NULL;
    enum sp_err err = step(stage, 0, sp_view("", 0), sp_buf_view(bytes), &why);
    if (err != SP_OK && sp_note_is(sp_buf_view(bytes)) == (stage == CONTAIN))
        CU_ASSERT_PTR_NOT_NULL(why);
    return err;
}

TEST(a_stage_refuses_messages_that_are_for_another)
{
    struct sp_buf tier1 = {0}, tier2 = {0}, nowhere = {0}, scratch = {0};
    struct sp_message *m = sp_message_new(SP_MSG_REMOVE);
    begin(0);
    m->page = (struct sp_id){1, 2};
    m->remove.cell = sp_maps_cell(&s.options.compare.maps, &(struct sp_signature){.length = {0}});
    sp_message_encode(m, &tier2);
    m->remove.cell |= SP_MAX_CELLS - 1; /* no such cell in a map of two */
    sp_message_encode(m, &nowhere);
    sp_message_free(m);
    CU_ASSERT_EQUAL_FATAL(sp_erase_message(sp_view_str("https://a.example/"), &scratch, &m), SP_OK);
    sp_buf_done(&scratch);
    sp_message_encode(m, &tier1);
    sp_message_free(m);
    CU_ASSERT_EQUAL(step_bytes(GROUP, &tier1), SP_OK);
    CU_ASSERT_EQUAL(step_bytes(GROUP, &tier2), SP_MALFORMED);
    CU_ASSERT_EQUAL(step_bytes(COMPARE, &tier2), SP_OK);
    CU_ASSERT_EQUAL(step_bytes(COMPARE, &tier1), SP_MALFORMED);
    CU_ASSERT_EQUAL(step_bytes(COMPARE, &nowhere), SP_MALFORMED);
    sp_buf_done(&tier1);
    sp_buf_done(&tier2);
    sp_buf_done(&nowhere);
    end();
}

static void put_note(struct sp_buf *out, enum sp_note_kind kind)
{
    sp_note_encode(&(struct sp_note){.kind = kind, .page = {1, 2}}, out);
}

TEST(each_stage_takes_only_the_notes_that_the_other_one_writes)
{
    struct sp_buf said = {0}, found = {0};
    put_note(&said, SP_NOTE_SAID);
    put_note(&found, SP_NOTE_FOUND);
    begin(0.9);
    CU_ASSERT_EQUAL(step_bytes(GROUP, &found), SP_OK);
    CU_ASSERT_EQUAL(step_bytes(GROUP, &said), SP_MALFORMED);
    CU_ASSERT_EQUAL(step_bytes(CONTAIN, &said), SP_OK);
    CU_ASSERT_EQUAL(step_bytes(CONTAIN, &found), SP_MALFORMED);
    end();
    sp_buf_done(&said);
    sp_buf_done(&found);
}

/* ---- work without a message ---- */

static uint64_t rows_to_move(void)
{
    struct sp_stage_measure sum = {0};
    for (int32_t p = 0; p < PARTITIONS; p++)
        s.instances[COMPARE][p].stage.measure(s.instances[COMPARE][p].made, &sum);
    return sum.rows_to_move;
}

TEST(pages_move_to_the_cells_of_a_new_map_without_being_fetched)
{
    begin(0);
    fetch("https://a.example/", 1, 0, 300);
    fetch("https://b.example/", 2, 1000, 300);
    CU_ASSERT_FALSE(has_work(COMPARE));
    restart_with_next_map();
    CU_ASSERT_EQUAL(rows_to_move(), 2);
    CU_ASSERT_TRUE(has_work(COMPARE)); /* asked to move, but still there */
    drain();
    CU_ASSERT_FALSE(has_work(COMPARE));
    CU_ASSERT_EQUAL(rows_to_move(), 0);
    fetch("https://c.example/longer", 3, 0, 300);
    check("https://c.example/longer", SP_STATUS_LOSER, "https://a.example/");
    end();
}

/* ---- what a page costs in a group four times as large ---- */

struct cost {
    double messages; /* a page */
    double events;   /* a page */
    size_t largest;  /* message, in bytes */
};

static void settle(void)
{
    for (bool more = true; more;) {
        drain();
        const bool group = has_work(GROUP), compare = has_work(COMPARE);
        more = group || compare || s.next < s.end;
    }
}

static void fetch_pages(const char *host, int count, int64_t time_ms, int first)
{
    for (int i = 0; i < count; i++) {
        char url[URL];
        snprintf(url, sizeof url, "https://%s.example/%d", host, i);
        fetch(url, time_ms + i, first, 300);
    }
}

static struct cost cost_of(int pages)
{
    settle();
    return (struct cost){(double)s.counted / pages, (double)s.events / pages, s.largest};
}

/* All pages but the winner are its losers. */
static void check_one_group(int pages)
{
    size_t winners = 0, losers = 0;
    for (size_t i = 0; i < s.told_count; i++) {
        winners += s.told[i].status == SP_STATUS_WINNER;
        losers += s.told[i].status == SP_STATUS_LOSER;
    }
    CU_ASSERT_EQUAL(winners, 1);
    CU_ASSERT_EQUAL(losers, (size_t)pages - 1);
}

/* A page that was there before all others gets their content. It joins them, and not they it. */
static struct cost an_older_page_joins(int pages)
{
    static const char old[] = "https://old.example/a/long/path/that/does/not/win";
    begin(0);
    fetch(old, 1, 5000, 300);
    fetch_pages("young", pages - 1, 2, 0);
    settle();
    uint64_t counted = s.counted;
    fetch(old, 1000000, 0, 300);
    struct cost all = cost_of(pages);
    CU_ASSERT(s.counted - counted < 40);
    check_one_group(pages);
    end();
    return all;
}

/* The same, and all others become its losers. */
static struct cost an_older_page_joins_and_wins(int pages)
{
    begin(0);
    fetch("https://old.example/", 1, 5000, 300);
    fetch_pages("young", pages - 1, 2, 0);
    fetch("https://old.example/", 1000000, 0, 300);
    struct cost all = cost_of(pages);
    check_one_group(pages);
    end();
    return all;
}

/* A page that resembles both connects two groups of equal pages. */
static struct cost two_groups_merge(int pages)
{
    begin(0);
    fetch_pages("one", pages / 2, 1, 0);
    fetch_pages("two", pages / 2, 1, 60);
    fetch("https://bridge.example/", 1000000, 30, 300);
    struct cost all = cost_of(pages);
    CU_ASSERT_EQUAL(s.told_count, (size_t)pages / 2 * 2 + 1);
    end();
    return all;
}

static void check_costs(struct cost (*cost)(int pages), double messages)
{
    enum { FEW = 150 };
    struct cost few = cost(FEW), many = cost(4 * FEW);
    printf("a page of %d: %.1f messages, %.1f events, largest %zu bytes; of %d: %.1f, %.1f, %zu\n",
           FEW, few.messages, few.events, few.largest, 4 * FEW, many.messages, many.events,
           many.largest);
    CU_ASSERT(many.messages < 1.1 * few.messages && many.messages < messages);
    CU_ASSERT(many.events < 1.1 * few.events && many.events <= 4);
    CU_ASSERT(few.largest < 2 * MESSAGE_BYTES && many.largest < 2 * MESSAGE_BYTES);
}

TEST(an_older_page_that_joins_equal_pages_costs_the_same_however_many_they_are)
{
    check_costs(an_older_page_joins, 15);
    check_costs(an_older_page_joins_and_wins, 15);
}

TEST(two_groups_that_merge_cost_a_page_the_same_however_large_they_are)
{
    check_costs(two_groups_merge, 15);
}
