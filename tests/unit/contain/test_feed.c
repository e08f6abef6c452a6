/* The contain stage with delayed messages. Pages are fetched, published, put, removed and erased
 * faster than messages arrive; the feed is restored from its rows now and then. Once all messages
 * have arrived, each page has its best container, as computed from scratch, and the feed holds
 * nothing that no page needs. */
#include <stdio.h>

#include "base/mem.h"
#include "contain/feed.h"
#include "contain_world.h"
#include "harness.h"

enum { PAGES = 14, CONTENTS = 24, WORLDS = 60, STEPS = 220, URL = 32, CACHE = 1 << 14 };
enum { NO_CONTENT = CONTENTS };

/* A page as the group stage's page actor holds it. */
struct page {
    unsigned content; /* NO_CONTENT: no content */
    bool kept;
    bool unsaid; /* a status of the page is pending */
    char contained_in[URL];
    float containment;
};

struct word {
    struct sp_id page;
    char url[URL];
    float containment;
};

struct flow {
    struct sp_contain_options options;
    struct sp_db *db;
    struct sp_contain_feed *feed;
    struct sp_signature *contents[CONTENTS];
    struct page pages[PAGES];
    struct sp_note notes[1 << 14];
    char urls[PAGES][URL];
    size_t note_count;
    size_t note_next;
    struct word words[1 << 14];
    size_t word_count;
    size_t word_next;
    uint64_t random;
};

static uint32_t below(struct flow *w, uint32_t n)
{
    return (uint32_t)(sp_mix64(w->random += 0x9e3779b97f4a7c15ull) % n);
}

/* Ranges of three texts, with a few shingles of their own. */
static struct sp_signature *make_content(struct flow *w, unsigned number)
{
    uint32_t shingles[400], count = 0, text = below(w, 3), from = below(w, 60);
    for (uint32_t i = from, end = from + 20 + below(w, 150); i < end; i++)
        shingles[count++] = (uint32_t)sp_mix64(1 + 1000 * text + i);
    for (uint32_t i = 0; i < below(w, 6); i++)
        shingles[count++] = (uint32_t)sp_mix64(1000000 + 100 * number + i);
    return world_signature(shingles, count, 1 << 16);
}

/* ---- the page ---- */

static void send(struct flow *w, struct sp_note note)
{
    CU_ASSERT_FATAL(w->note_count < sizeof w->notes / sizeof *w->notes);
    w->notes[w->note_count++] = note;
}

static void say(struct flow *w, uint32_t n)
{
    struct page *p = &w->pages[n];
    bool content = p->content != NO_CONTENT;
    send(w, (struct sp_note){.kind = SP_NOTE_SAID,
                             .page = {0, n},
                             .content = content ? w->contents[p->content]->content_hash
                                                : (struct sp_id){0, 0},
                             .url = content && p->kept ? w->urls[n] : NULL});
    p->unsaid = false;
}

static void change(struct page *p, unsigned content)
{
    if (p->content == content)
        return;
    p->content = content;
    p->contained_in[0] = 0;
    p->containment = 0;
    p->unsaid = true;
}

static void fetch_as(struct flow *w, uint32_t n, unsigned content)
{
    send(w, (struct sp_note){.kind = SP_NOTE_FETCHED,
                             .page = {0, n},
                             .signature = content == NO_CONTENT ? NULL : w->contents[content]});
    if (below(w, 8)) /* otherwise the fetch is late, and the page ignores it */
        change(&w->pages[n], content);
}

static void fetch(struct flow *w, uint32_t n)
{
    unsigned before = w->pages[n].content;
    fetch_as(w, n, below(w, 9) ? below(w, CONTENTS) : NO_CONTENT);
    if (before != NO_CONTENT && below(w, 3) == 0) /* and restored before anything was reported */
        fetch_as(w, n, before);
}

static void forget(struct flow *w, uint32_t n)
{
    w->pages[n] = (struct page){.content = NO_CONTENT};
    say(w, n);
}

/* ---- the channels ---- */

static void on_say(void *arg, struct sp_id page, const char *url, float containment)
{
    struct flow *w = arg;
    CU_ASSERT_FATAL(w->word_count < sizeof w->words / sizeof *w->words);
    struct word *word = &w->words[w->word_count++];
    *word = (struct word){.page = page, .containment = containment};
    snprintf(word->url, URL, "%s", url ? url : "");
}

static void make(struct flow *w)
{
    w->feed = sp_contain_feed_new(&w->options, sp_db_store(w->db, 1), CACHE, on_say, w);
    CU_ASSERT_EQUAL_FATAL(sp_contain_feed_load(w->feed), SP_OK);
}

static void commit(struct flow *w)
{
    CU_ASSERT_EQUAL(sp_contain_feed_flush(w->feed), SP_OK);
    CU_ASSERT_EQUAL(sp_db_commit(w->db), SP_OK);
}

static void restart(struct flow *w)
{
    commit(w);
    sp_contain_feed_free(w->feed);
    make(w);
}

static bool take_note(struct flow *w)
{
    if (w->note_next == w->note_count)
        return false;
    CU_ASSERT_EQUAL(sp_contain_feed_step(w->feed, &w->notes[w->note_next++]), SP_OK);
    return true;
}

/* Like sp_group_stage_contained: a result that differs from the last one is published. */
static bool take_word(struct flow *w)
{
    if (w->word_next == w->word_count)
        return false;
    const struct word *word = &w->words[w->word_next++];
    struct page *p = &w->pages[word->page.lo];
    if (strcmp(p->contained_in, word->url) == 0 && p->containment == word->containment)
        return true;
    memcpy(p->contained_in, word->url, URL);
    p->containment = word->containment;
    if (p->kept && p->content != NO_CONTENT && !p->unsaid)
        say(w, (uint32_t)word->page.lo);
    return true;
}

static void drain(struct flow *w)
{
    for (uint32_t n = 0; n < PAGES; n++)
        if (w->pages[n].unsaid)
            say(w, n);
    while (take_note(w) || take_word(w))
        ;
}

/* ---- from scratch ---- */

static float share_of(const struct sp_signature *a, const struct sp_signature *b)
{
    uint32_t hits = 0, k = 0;
    if (b->shingle_total <= a->shingle_total || a->shingle_count < SP_CONTAIN_LEAST)
        return 0;
    for (uint32_t i = 0; i < a->shingle_count; i++) {
        while (k < b->shingle_count && b->hashes[k] < a->hashes[i])
            k++;
        hits += k < b->shingle_count && b->hashes[k] == a->hashes[i];
    }
    return (float)((double)hits / a->shingle_count);
}

static bool is_kept(const struct page *p)
{
    return p->kept && p->content != NO_CONTENT;
}

static uint32_t check(struct flow *w)
{
    uint32_t contained = 0;
    for (uint32_t n = 0; n < PAGES; n++) {
        const struct page *p = &w->pages[n];
        float best = 0, named = 0;
        for (uint32_t k = 0; k < PAGES && is_kept(p); k++) {
            if (k == n || !is_kept(&w->pages[k]))
                continue;
            float share = share_of(w->contents[p->content], w->contents[w->pages[k].content]);
            best = share > best ? share : best;
            named = strcmp(p->contained_in, w->urls[k]) == 0 ? share : named;
        }
        if (!is_kept(p))
            continue;
        best = (double)best + 1e-9 < w->options.threshold ? 0 : best;
        CU_ASSERT_EQUAL(p->containment, best);
        CU_ASSERT(best > 0 ? named == best : !p->contained_in[0]);
        contained += best > 0;
    }
    return contained;
}

static bool count_row(void *arg, struct sp_view key, struct sp_view value)
{
    (void)key;
    (void)value;
    ++*(uint64_t *)arg;
    return true;
}

static uint64_t rows(struct flow *w)
{
    uint64_t count = 0;
    CU_ASSERT_EQUAL(
        sp_store_scan(sp_db_store(w->db, 1), sp_view("", 0), sp_view("", 0), count_row, &count),
        SP_OK);
    return count;
}

static void step(struct flow *w)
{
    uint32_t n = below(w, PAGES);
    switch (below(w, 16)) {
    case 0:
        forget(w, n);
        break;
    case 1:
        restart(w);
        break;
    case 2:
        commit(w);
        break;
    case 3:
    case 4:
        w->pages[n].kept = !w->pages[n].kept;
        say(w, n);
        break;
    case 5:
    case 6:
        if (w->pages[n].unsaid)
            say(w, n);
        break;
    case 7:
    case 8:
    case 9:
        fetch(w, n);
        break;
    default:
        for (uint32_t i = below(w, 6); i > 0; i--)
            (void)(below(w, 2) ? take_note(w) : take_word(w));
    }
}

static uint32_t play(struct flow *w, uint64_t seed)
{
    uint32_t contained = 0;
    *w = (struct flow){
        .options = {.threshold = 0.6, .boilerplate = 1}, .db = sp_db_open_memory(), .random = seed};
    make(w);
    for (unsigned i = 0; i < CONTENTS; i++)
        w->contents[i] = make_content(w, i);
    for (uint32_t n = 0; n < PAGES; n++) {
        snprintf(w->urls[n], URL, "http://h.test/%u", n);
        w->pages[n] = (struct page){.content = NO_CONTENT, .kept = true};
    }
    for (int i = 0; i < STEPS; i++) {
        step(w);
        if (i % 40 == 39) {
            drain(w);
            contained += check(w);
        }
    }
    for (uint32_t n = 0; n < PAGES; n++)
        forget(w, n);
    drain(w);
    commit(w);
    CU_ASSERT_EQUAL(rows(w), 0);
    sp_contain_feed_free(w->feed);
    sp_db_close(w->db);
    for (unsigned i = 0; i < CONTENTS; i++)
        sp_signature_unref(w->contents[i]);
    return contained;
}

TEST(what_arrives_late_leads_to_the_same_containers)
{
    struct flow *w = sp_alloc(sizeof *w);
    uint32_t contained = 0;
    for (uint64_t seed = 0; seed < WORLDS; seed++)
        contained += play(w, seed);
    CU_ASSERT(contained > 5 * WORLDS);
    sp_free(w);
}

struct row {
    struct sp_buf key;
    struct sp_buf value;
};

static bool take_row(void *arg, struct sp_view key, struct sp_view value)
{
    struct row *row = arg;
    sp_buf_put(&row->key, key.data, key.len);
    sp_buf_put(&row->value, value.data, value.len);
    return true;
}

/* Truncates the row: the first step that reads it fails, and so does every later one. */
static void check_cut(struct flow *w, const struct row *row, size_t bytes)
{
    sp_store_put(sp_db_store(w->db, 1), sp_buf_view(&row->key), sp_view(row->value.data, bytes));
    CU_ASSERT_EQUAL(sp_db_commit(w->db), SP_OK);
    make(w);
    CU_ASSERT_EQUAL(sp_contain_feed_step(w->feed, &w->notes[0]), SP_CORRUPT);
    CU_ASSERT_EQUAL(sp_contain_feed_step(w->feed, &w->notes[1]), SP_CORRUPT);
    CU_ASSERT_EQUAL(sp_contain_feed_flush(w->feed), SP_CORRUPT);
    sp_contain_feed_free(w->feed);
}

TEST(a_cut_row_of_a_page_is_reported_as_damage)
{
    enum { LEAST = 2 + sizeof(struct sp_id) }; /* the shortest row */
    struct flow *w = sp_calloc(1, sizeof *w);
    struct row row = {{0}, {0}};
    w->options = (struct sp_contain_options){.threshold = 0.6, .boilerplate = 1};
    w->db = sp_db_open_memory();
    w->contents[0] = make_content(w, 0);
    fetch_as(w, 0, 0);
    fetch_as(w, 1, 0);
    make(w);
    CU_ASSERT_TRUE(take_note(w));
    commit(w);
    sp_contain_feed_free(w->feed);
    CU_ASSERT_EQUAL(
        sp_store_scan(sp_db_store(w->db, 1), sp_view("P", 1), sp_view("", 0), take_row, &row),
        SP_OK);
    CU_ASSERT_EQUAL_FATAL(row.value.len, LEAST + sizeof(struct sp_id));
    for (size_t bytes = 0; bytes < row.value.len; bytes++)
        if (bytes != LEAST) /* at this length it is a valid row: a page without a pending status */
            check_cut(w, &row, bytes);
    sp_db_close(w->db);
    sp_signature_unref(w->contents[0]);
    sp_buf_done(&row.key);
    sp_buf_done(&row.value);
    sp_free(w);
}
