/* Traces in memory: which pages are alive at a time, and contents that are read again. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "evaluate/again.h"
#include "harness.h"
#include "input/input.h"

static const char *const LINES[] = {
    "{\"url\":\"http://a.org/1\",\"fetch_time_ms\":10,\"content\":\"one two three four five six\"}",
    "{\"url\":\"http://a.org/2\",\"fetch_time_ms\":20,\"content\":\"one two three four five six\"}",
    "this is not a record",
    ("{\"url\":\"http://a.org/3\",\"fetch_time_ms\":30,\"http_status\":301,\"redirect_url\":"
     "\"http://a.org/4\",\"content\":\"\"}"),
    "{\"url\":\"http://a.org/1\",\"fetch_time_ms\":40,\"content\":\"seven eight nine ten eleven\"}",
    "{\"url\":\"http://a.org/1\",\"fetch_time_ms\":15,\"content\":\"late and never seen again\"}",
    "{\"url\":\"http://a.org/2\",\"fetch_time_ms\":50,\"http_status\":404,\"content\":\"\"}",
    "{\"url\":\"http://a.org/5\",\"fetch_time_ms\":60,\"http_status\":503,\"content\":\"\"}",
    "{\"url\":\"http://a.org/4\",\"fetch_time_ms\":70,\"content\":\"the target of the redirect\"}"};

static char path[64];

static struct sp_trace *read_trace(void)
{
    static const char *const paths[] = {path};
    struct sp_trace_options o = {.files = paths, .file_count = 1, .threads = 1};
    struct sp_trace *t = NULL;
    struct sp_fault fault;
    snprintf(path, sizeof path, "/tmp/samepage-trace-XXXXXX");
    int file = mkstemp(path);
    CU_ASSERT_FATAL(file >= 0);
    for (size_t i = 0; i < sizeof LINES / sizeof *LINES; i++) {
        CU_ASSERT(write(file, LINES[i], strlen(LINES[i])) > 0);
        CU_ASSERT(write(file, "\n", 1) == 1);
    }
    close(file);
    sp_input_options_default(&o.input);
    sp_text_options_default(&o.text);
    CU_ASSERT_EQUAL_FATAL(sp_trace_read(&o, &t, &fault), SP_OK);
    return t;
}

static void done(struct sp_trace *t)
{
    unlink(path);
    sp_trace_free(t);
    sp_message_thread_done();
}

TEST(a_trace_holds_every_fetch_and_shares_equal_contents)
{
    struct sp_trace *t = read_trace();
    CU_ASSERT_EQUAL(t->fetch_count, 7);
    CU_ASSERT_EQUAL(t->files[0].dead_letters, 1);
    CU_ASSERT_EQUAL(t->files[0].ignored, 1);
    CU_ASSERT_EQUAL(t->page_count, 4); /* 1, 2, 3 and 4; the first appears as a redirect target */
    CU_ASSERT_EQUAL(t->distinct, 4);
    CU_ASSERT_PTR_EQUAL(t->fetches[0].signature, t->fetches[1].signature);
    CU_ASSERT_STRING_EQUAL(t->pages[t->fetches[2].target].url, "http://a.org/4");
    CU_ASSERT_EQUAL(t->fetches[2].target, t->fetches[6].page);
    struct sp_message *m = sp_trace_message(t, 2);
    CU_ASSERT_EQUAL(m->kind, SP_MSG_CRAWLED);
    CU_ASSERT_EQUAL(m->crawled.page_kind, SP_PAGE_REDIRECT);
    CU_ASSERT_STRING_EQUAL(m->crawled.target_url, "http://a.org/4");
    CU_ASSERT_EQUAL(m->crawled.version, 30);
    sp_message_free(m);
    done(t);
}

TEST(a_page_is_alive_with_its_latest_content)
{
    uint32_t alive[8];
    struct sp_trace *t = read_trace();
    CU_ASSERT_EQUAL(sp_trace_alive(t, 0, 2, alive), 2);
    CU_ASSERT_EQUAL_FATAL(sp_trace_alive(t, 0, 7, alive), 2);
    CU_ASSERT_EQUAL(alive[0], 3); /* the late fetch is ignored */
    CU_ASSERT_EQUAL(alive[1], 6);
    CU_ASSERT_EQUAL(sp_trace_alive(t, 4, 5, alive),
                    1); /* without an earlier fetch nothing is late */
    CU_ASSERT_EQUAL(sp_trace_alive(t, 0, 0, alive), 0);
    done(t);
}

static void note_content(void *arg, size_t number, const struct sp_page_record *page)
{
    CU_ASSERT_EQUAL(number, 0);
    sp_buf_put_view(arg, page->content);
}

TEST(a_content_is_read_again_as_it_was)
{
    const uint32_t fetch = 3;
    struct sp_fault fault;
    struct sp_buf text = {0};
    struct sp_trace *t = read_trace();
    CU_ASSERT_EQUAL(sp_trace_again(t, &fetch, 1, note_content, &text, &fault), SP_OK);
    CU_ASSERT(sp_view_eq(sp_buf_view(&text), sp_view_str("seven eight nine ten eleven")));
    CU_ASSERT_EQUAL(truncate(path, 5), 0);
    CU_ASSERT_EQUAL(sp_trace_again(t, &fetch, 1, note_content, &text, &fault), SP_IO);
    CU_ASSERT_PTR_NOT_NULL(strstr(fault.text, "record 4 cannot be read again"));
    sp_buf_done(&text);
    done(t);
}
