/* The body of a filter request: what is read from it, and that hostile bodies do no harm. */
#include "harness.h"
#include "serve/request.h"

enum { MOST = 3 };
static char said[1000]; /* why a body was refused */

static enum sp_err parse(struct sp_json_lists *lists, const char *body,
                         const struct sp_list **ret_list)
{
    static struct sp_buf bytes; /* the list's views point into it */
    const char *why = NULL;
    sp_buf_reset(&bytes);
    sp_buf_put_str(&bytes, body);
    memset(sp_buf_reserve(&bytes, SP_REQUEST_PADDING), 0, SP_REQUEST_PADDING);
    *ret_list = NULL;
    enum sp_err err = sp_json_lists_parse(lists, sp_buf_view(&bytes), ret_list, &why);
    CU_ASSERT((err == SP_OK) == (why == NULL));
    snprintf(said, sizeof said, "%s", why ? why : "");
    if (*body == 0 || err != SP_OK)
        sp_buf_done(&bytes);
    return err;
}

TEST(lists_of_urls_and_of_documents_are_read)
{
    struct sp_json_lists *lists = sp_json_lists_new(MOST);
    const struct sp_list *list;
    CU_ASSERT_EQUAL_FATAL(parse(lists, "{\"urls\":[\"a\\u0041\",\"\"],\"threshold\":0.5}", &list),
                          SP_OK);
    CU_ASSERT_EQUAL(list->count, 2);
    CU_ASSERT(sp_view_eq(list->items[0].url, sp_view_str("aA")));
    CU_ASSERT_EQUAL(list->items[1].url.len, 0);
    CU_ASSERT_PTR_NULL(list->items[0].text.data);
    CU_ASSERT_EQUAL(list->threshold, 0.5);
    CU_ASSERT_EQUAL_FATAL(
        parse(lists, "{\"documents\":[{\"text\":\"\",\"url\":\"u\"},{\"url\":\"v\"}]}", &list),
        SP_OK);
    CU_ASSERT_EQUAL(list->count, 2);
    CU_ASSERT_PTR_NOT_NULL(list->items[0].text.data);
    CU_ASSERT_PTR_NULL(list->items[1].text.data);
    CU_ASSERT_EQUAL(list->threshold, 0);
    CU_ASSERT_EQUAL(parse(lists, "{\"urls\":[]}", &list), SP_OK);
    CU_ASSERT_EQUAL(parse(lists, "{\"urls\":[\"1\",\"2\",\"3\",\"4\"]}", &list), SP_TOO_LARGE);
    sp_json_lists_free(lists);
    sp_json_lists_free(NULL);
}

/* A misspelt "threshold" or "text" would else be as good as none. */
TEST(unknown_fields_are_refused_by_their_names)
{
    struct sp_json_lists *lists = sp_json_lists_new(MOST);
    const struct sp_list *list;
    char deep[2000] = "{\"urls\":[],\"x\":", long_name[2000] = "{\"";
    memset(deep + strlen(deep), '[', 1500);
    memset(long_name + strlen(long_name), 'n', 1500);
    snprintf(long_name + strlen(long_name), 100, "\":1,\"urls\":[]}");
    CU_ASSERT_EQUAL(parse(lists, "{\"urls\":[],\"treshold\":0.5}", &list), SP_MALFORMED);
    CU_ASSERT_PTR_NOT_NULL(strstr(said, "unknown field \"treshold\""));
    CU_ASSERT_EQUAL(parse(lists, "{\"documents\":[{\"url\":\"u\",\"t\\u0065xts\":1}]}", &list),
                    SP_MALFORMED);
    CU_ASSERT_PTR_NOT_NULL(strstr(said, "unknown field \"texts\": a document has"));
    CU_ASSERT_EQUAL(parse(lists, deep, &list), SP_MALFORMED);
    CU_ASSERT_EQUAL(parse(lists, long_name, &list), SP_MALFORMED);
    CU_ASSERT(strlen(said) < 200);
    sp_json_lists_free(lists);
}

/* Each dropped document names the one that it repeats, so its URL could be written 1,000 times. */
TEST(urls_of_more_than_8192_bytes_are_refused)
{
    struct sp_json_lists *lists = sp_json_lists_new(MOST);
    const struct sp_list *list;
    static const char *const bodies[] = {"{\"urls\":[\"", "{\"documents\":[{\"url\":\""};
    static const char *const ends[] = {"\"]}", "\",\"text\":\"t\"}]}"};
    for (size_t i = 0; i < 2; i++)
        for (size_t len = 8192; len <= 8193; len++) {
            struct sp_buf body = {0};
            sp_buf_put_str(&body, bodies[i]);
            memset(sp_buf_reserve(&body, len), 'a', len);
            body.len += len;
            sp_buf_put(&body, ends[i], strlen(ends[i]) + 1);
            CU_ASSERT_EQUAL(parse(lists, body.data, &list), len == 8192 ? SP_OK : SP_MALFORMED);
            sp_buf_done(&body);
        }
    sp_json_lists_free(lists);
}

TEST(every_beginning_of_a_body_is_refused)
{
    static const char body[] =
        "{\"documents\":[{\"url\":\"\\u00e9\",\"text\":\"t\"}],\"threshold\":1e-1}";
    struct sp_json_lists *lists = sp_json_lists_new(MOST);
    const struct sp_list *list;
    CU_ASSERT_EQUAL(parse(lists, body, &list), SP_OK);
    for (size_t n = 0; n + 1 < sizeof body; n++) {
        char part[sizeof body];
        memcpy(part, body, n);
        part[n] = 0;
        CU_ASSERT_EQUAL(parse(lists, part, &list), SP_MALFORMED);
    }
    sp_json_lists_free(lists);
}
