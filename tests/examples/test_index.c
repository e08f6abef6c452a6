/* The index of examples/indexer: which of the fetches of a page is the newest one, in whatever
 * order they come. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness.h"
#include "index.h"

static const char url[] = "http://a.example/";

static struct index *begin(void)
{
    char error[256] = "";
    struct index *index = index_open(":memory:", true, error, sizeof error);
    CU_ASSERT_STRING_EQUAL_FATAL(error, "");
    return index;
}

/* `text`: NULL for a fetch without content. */
static void fetch(struct index *index, int64_t time_ms, const char *text)
{
    CU_ASSERT_TRUE(
        index_take_fetch(index, url, strlen(url), time_ms, text, text ? strlen(text) : 0));
}

static void count(void *arg, const char *found, const char *contained_in)
{
    CU_ASSERT_STRING_EQUAL(found, url);
    CU_ASSERT_PTR_NULL(contained_in);
    ++*(int *)arg;
}

static bool has(struct index *index, const char *word)
{
    int results = 0;
    CU_ASSERT_TRUE(index_query(index, &word, 1, 10, count, &results));
    return results == 1;
}

struct fetched {
    int64_t time_ms;
    const char *text;
};

/* Calls itself for each order of the fetches from `at` on. */
static void take_in_each_order(struct fetched *all, int at, int end, const char *want)
{
    static const char *const words[] = {"north", "south", "east"};
    if (at < end) {
        for (int i = at; i < end; i++) {
            struct fetched first = all[i];
            all[i] = all[at];
            all[at] = first;
            take_in_each_order(all, at + 1, end, want);
            all[at] = all[i];
            all[i] = first;
        }
        return;
    }
    struct index *index = begin();
    for (int i = 0; i < end; i++)
        fetch(index, all[i].time_ms, all[i].text);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        CU_ASSERT_EQUAL(has(index, words[i]), want && strcmp(words[i], want) == 0);
    index_close(index);
}

TEST(the_newest_text_is_that_of_the_last_fetch_in_whatever_order_they_come)
{
    struct fetched texts[] = {{3, "south"}, {1, "north"}, {4, "east"}, {2, "north"}};
    struct fetched gone[] = {{3, "south"}, {4, ""}, {1, "north"}};
    take_in_each_order(texts, 0, 4, "east");
    take_in_each_order(gone, 0, 3, NULL);
}

TEST(a_text_that_is_older_than_a_fetch_without_content_is_late)
{
    struct index *index = begin();
    fetch(index, 1, "north");
    fetch(index, 3, NULL);
    fetch(index, 2, "south");
    CU_ASSERT_TRUE(has(index, "north"));
    index_close(index);
}

TEST(a_fetch_without_a_time_is_newer_than_all_before_it)
{
    struct index *index = begin();
    fetch(index, 5, "north");
    fetch(index, -1, "south");
    CU_ASSERT_TRUE(has(index, "south"));
    fetch(index, 5, "north"); /* again */
    CU_ASSERT_TRUE(has(index, "south"));
    fetch(index, 7, "east");
    CU_ASSERT_TRUE(has(index, "east"));
    index_close(index);
}

/* Also if all of them come again, from an offset before them. */
TEST(of_two_texts_of_one_time_the_one_that_comes_later_is_newer)
{
    struct index *index = begin();
    fetch(index, 5, "north");
    fetch(index, 5, "north");
    for (int i = 0; i < 2; i++) {
        fetch(index, 5, "south");
        CU_ASSERT_TRUE(has(index, "south"));
        fetch(index, 5, "north");
        CU_ASSERT_TRUE(has(index, "south"));
    }
    index_close(index);
}

TEST(what_is_fetched_after_a_page_was_erased_is_its_first_text)
{
    struct samepage_status_event event = {.url = url, .status = SAMEPAGE_STATUS_UNIQUE};
    struct index *index = begin();
    CU_ASSERT_TRUE(index_put_status(index, url, strlen(url), &event));
    fetch(index, 5, "north");
    CU_ASSERT_TRUE(index_forget_text(index, url, strlen(url)));
    CU_ASSERT_FALSE(has(index, "north"));
    fetch(index, 2, "south");
    CU_ASSERT_TRUE(has(index, "south"));
    index_close(index);
}

/* The texts and their times stay when the statuses of another topic are dropped. */
TEST(a_page_that_is_gone_stays_gone_without_its_status)
{
    struct index *index = begin();
    fetch(index, 5, "");
    CU_ASSERT_TRUE(index_forget_statuses(index));
    CU_ASSERT_TRUE(index_forget_status(index, url, strlen(url)));
    fetch(index, 4, "north");
    CU_ASSERT_FALSE(has(index, "north"));
    index_close(index);
}
