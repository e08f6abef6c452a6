/* The catalogue of URLs: its order, its parts, and what it does if pages do not fit. */
#include "harness.h"
#include "serve/catalogue.h"

static struct sp_catalogue *of(size_t bytes, const char *const *urls, size_t count)
{
    struct sp_catalogue *c = sp_catalogue_new(bytes);
    for (size_t i = 0; i < count; i++) {
        struct sp_page_view page = {.url = urls[i], .status = SP_STATUS_LOSER};
        sp_catalogue_note(c, &page);
    }
    sp_catalogue_sort(c);
    return c;
}

static const char *const crawl[] = {
    "https://b.example/2", "http://a.example.org/1", "doc:7",
    "http://b.example/1",  "http://b.example-x/1",   "http://b.example/2"};
enum { CRAWL = sizeof crawl / sizeof *crawl };

TEST(urls_are_in_the_order_of_hosts_and_a_host_is_not_the_beginning_of_another)
{
    static const char *const order[] = {"http://a.example.org/1", "http://b.example-x/1",
                                        "http://b.example/1",     "http://b.example/2",
                                        "https://b.example/2",    "doc:7"};
    struct sp_catalogue *c = of(1 << 20, crawl, CRAWL);
    const char *urls[CRAWL + 1];
    CU_ASSERT_EQUAL_FATAL(
        sp_catalogue_find(c, &(struct sp_catalogue_query){.text = NULL}, CRAWL + 1, urls), CRAWL);
    for (size_t i = 0; i < CRAWL; i++)
        CU_ASSERT_STRING_EQUAL(urls[i], order[i]);
    CU_ASSERT_EQUAL_FATAL(
        sp_catalogue_find(c, &(struct sp_catalogue_query){.host = "b.example"}, CRAWL, urls), 3);
    CU_ASSERT_STRING_EQUAL(urls[0], "http://b.example/1");
    for (size_t i = 0; i < CRAWL; i++) { /* after any page, the listing continues with the next */
        struct sp_catalogue_query behind = {.after = order[i]};
        CU_ASSERT_EQUAL(sp_catalogue_find(c, &behind, CRAWL, urls), CRAWL - 1 - i);
        CU_ASSERT(i + 1 == CRAWL || strcmp(urls[0], order[i + 1]) == 0);
    }
    CU_ASSERT_FALSE(sp_catalogue_is_cut(c));
    sp_catalogue_unref(c);
}

TEST(pages_that_do_not_fit_are_left_out_and_reported)
{
    for (size_t bytes = 0; bytes < 200; bytes++) {
        struct sp_catalogue *c = of(bytes, crawl, CRAWL);
        const struct sp_catalogue_host *hosts[CRAWL];
        const char *urls[CRAWL];
        size_t count = 0, pages = sp_catalogue_pages(c);
        CU_ASSERT_EQUAL(sp_catalogue_is_cut(c), pages < CRAWL);
        CU_ASSERT(bytes >= 14 || pages == 0);
        CU_ASSERT(bytes < 190 || pages == CRAWL);
        CU_ASSERT_EQUAL(
            sp_catalogue_find(c, &(struct sp_catalogue_query){.text = NULL}, CRAWL, urls), pages);
        sp_catalogue_hosts(c, NULL, 0, CRAWL, hosts, &count);
        CU_ASSERT(count <= pages);
        sp_catalogue_unref(c);
    }
}

TEST(an_empty_catalogue_has_no_urls)
{
    struct sp_catalogue *c = of(1 << 20, NULL, 0);
    const char *urls[1];
    size_t count = 1;
    struct sp_catalogue_query query = {.text = "a", .host = "a.example", .after = "doc:1"};
    CU_ASSERT_EQUAL(sp_catalogue_find(c, &query, 1, urls), 0);
    CU_ASSERT_EQUAL(sp_catalogue_hosts(c, NULL, 0, 0, NULL, &count), 0);
    CU_ASSERT_EQUAL(count, 0);
    sp_catalogue_unref(c);
    sp_catalogue_unref(NULL);
}
