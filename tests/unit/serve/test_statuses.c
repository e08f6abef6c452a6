/* What is stored of the events of the status topic. */
#include <stdio.h>

#include "harness.h"
#include "serve/state.h"

struct said {
    int count;
    enum sp_page_status status;
    char winner[64];
    uint64_t group;
};

static void say(struct sp_statuses *s, const char *url, enum sp_page_status status,
                const char *winner, uint64_t group)
{
    struct sp_status_event e = {.url = url,
                                .version_ms = 7,
                                .status = status,
                                .winner_url = winner,
                                .similarity = winner ? 0.9f : 0,
                                .reason = winner ? SP_REASON_CONTENT : SP_REASON_NONE,
                                .group = {group, {1, 2}}};
    sp_statuses_apply(s, &e);
}

static void note(void *arg, const struct sp_page_view *page)
{
    struct said *said = arg;
    said->count++;
    said->status = page->status;
    said->group = page->group.birth;
    snprintf(said->winner, sizeof said->winner, "%s", page->winner_url ? page->winner_url : "");
}

static enum sp_err ask(struct sp_state_reader *r, const char *url, struct said *ret_said)
{
    struct sp_id page;
    *ret_said = (struct said){0};
    CU_ASSERT_EQUAL_FATAL(sp_state_page_id(r, sp_view_str(url), &page), SP_OK);
    sp_state_begin(r);
    enum sp_err err = sp_state_page(r, page, note, ret_said);
    sp_state_end(r);
    return err;
}

static bool count_member(void *arg, const struct sp_member_view *member)
{
    struct said *said = arg;
    said->count++;
    said->status = member->status;
    return true;
}

static int members(struct sp_state_reader *r, uint64_t group)
{
    struct said said = {0};
    sp_state_begin(r);
    CU_ASSERT_EQUAL(sp_state_members(r, (struct sp_group_id){group, {1, 2}}, (struct sp_id){0},
                                     count_member, &said),
                    SP_OK);
    sp_state_end(r);
    return said.count;
}

TEST(the_last_event_of_a_page_counts)
{
    struct sp_statuses *statuses = sp_statuses_new();
    struct sp_state *state = sp_state_of_statuses(statuses);
    struct sp_state_reader *r = sp_state_reader_new(state);
    struct said said;
    CU_ASSERT_EQUAL(ask(r, "http://a.example/", &said), SP_NOT_FOUND);
    say(statuses, "http://a.example/", SP_STATUS_UNIQUE, NULL, 1);
    say(statuses, "http://b.example/", SP_STATUS_UNIQUE, NULL, 2);
    CU_ASSERT_EQUAL(members(r, 1), 1);
    CU_ASSERT_EQUAL(members(r, 2), 1);
    say(statuses, "http://a.example/", SP_STATUS_WINNER, NULL, 1);
    say(statuses, "HTTP://B.example:80/", SP_STATUS_LOSER, "http://a.example/", 1);
    CU_ASSERT_EQUAL(ask(r, "http://b.example/", &said), SP_OK);
    CU_ASSERT_EQUAL(said.status, SP_STATUS_LOSER);
    CU_ASSERT_STRING_EQUAL(said.winner, "http://a.example/");
    CU_ASSERT_EQUAL(said.group, 1);
    CU_ASSERT_EQUAL(members(r, 1), 2);
    CU_ASSERT_EQUAL(members(r, 2), 0);
    struct said all = {0};
    sp_state_begin(r);
    CU_ASSERT_EQUAL(sp_state_each_page(r, note, &all), SP_OK);
    sp_state_end(r);
    CU_ASSERT_EQUAL(all.count, 2);
    sp_state_reader_free(r);
    sp_state_close(state);
}

TEST(nothing_is_kept_of_a_topic_that_was_made_again)
{
    struct sp_statuses *statuses = sp_statuses_new();
    struct sp_state *state = sp_state_of_statuses(statuses);
    struct sp_state_reader *r = sp_state_reader_new(state);
    struct said said;
    say(statuses, "http://a.example/", SP_STATUS_WINNER, NULL, 1);
    say(statuses, "http://b.example/", SP_STATUS_LOSER, "http://a.example/", 1);
    sp_statuses_clear(statuses);
    CU_ASSERT_EQUAL(ask(r, "http://a.example/", &said), SP_NOT_FOUND);
    CU_ASSERT_EQUAL(members(r, 1), 0);
    say(statuses, "http://b.example/", SP_STATUS_UNIQUE, NULL, 1);
    CU_ASSERT_EQUAL(ask(r, "http://b.example/", &said), SP_OK);
    CU_ASSERT_EQUAL(members(r, 1), 1);
    sp_state_reader_free(r);
    sp_state_close(state);
}

TEST(nothing_is_kept_of_a_page_that_was_erased)
{
    struct sp_statuses *statuses = sp_statuses_new();
    struct sp_state *state = sp_state_of_statuses(statuses);
    struct sp_state_reader *r = sp_state_reader_new(state);
    struct said said;
    CU_ASSERT_TRUE(sp_state_complete(state));
    say(statuses, "http://a.example/", SP_STATUS_WINNER, NULL, 1);
    say(statuses, "http://b.example/", SP_STATUS_LOSER, "http://a.example/", 1);
    say(statuses, "http://c.example/", SP_STATUS_LOSER, "http://a.example/", 1);
    uint64_t before = sp_statuses_version(statuses);
    sp_statuses_forget(statuses, "http://b.example/");
    CU_ASSERT_TRUE(sp_statuses_version(statuses) > before);
    sp_statuses_forget(statuses, "http://b.example/");
    sp_statuses_forget(statuses, "http://unknown.example/");
    sp_statuses_forget(statuses, "no URL");
    CU_ASSERT_EQUAL(ask(r, "http://b.example/", &said), SP_NOT_FOUND);
    CU_ASSERT_EQUAL(members(r, 1), 2);
    sp_statuses_forget(statuses,
                       "http://a.example/"); /* the winner, before its loser has another */
    CU_ASSERT_EQUAL(ask(r, "http://c.example/", &said), SP_OK);
    sp_statuses_forget(statuses, "http://c.example/");
    struct said all = {0};
    sp_state_begin(r);
    CU_ASSERT_EQUAL(sp_state_each_page(r, note, &all), SP_OK);
    sp_state_end(r);
    CU_ASSERT_EQUAL(all.count, 0);
    say(statuses, "http://b.example/", SP_STATUS_UNIQUE, NULL, 2); /* fetched again */
    CU_ASSERT_EQUAL(ask(r, "http://b.example/", &said), SP_OK);
    sp_state_reader_free(r);
    sp_state_close(state);
}

enum { FAMILY = 60, PART = 7 };

struct part {
    struct sp_id last;
    int count;
    unsigned char seen[FAMILY];
};

static bool note_part(void *arg, const struct sp_member_view *member)
{
    struct part *p = arg;
    int number = -1;
    if (p->count == PART)
        return false;
    CU_ASSERT_EQUAL_FATAL(sscanf(member->url, "http://%d.example/", &number), 1);
    p->seen[number]++;
    p->last = member->page;
    p->count++;
    return true;
}

static void say_family(struct sp_statuses *s, int number)
{
    char url[40];
    snprintf(url, sizeof url, "http://%d.example/", number);
    say(s, url, number ? SP_STATUS_LOSER : SP_STATUS_WINNER, number ? "http://0.example/" : NULL,
        1);
}

/* Between two parts the last member of the first one leaves the group, others get new events. */
TEST(members_in_parts_continue_where_the_last_one_was)
{
    struct sp_statuses *statuses = sp_statuses_new();
    struct sp_state *state = sp_state_of_statuses(statuses);
    struct sp_state_reader *r = sp_state_reader_new(state);
    struct part part = {0};
    struct sp_id page;
    for (int i = 0; i < FAMILY; i++)
        say_family(statuses, i);
    for (int parts = 0; parts == 0 || part.count == PART; parts++) {
        part.count = 0;
        sp_state_begin(r);
        CU_ASSERT_EQUAL(
            sp_state_members(r, (struct sp_group_id){1, {1, 2}}, part.last, note_part, &part),
            SP_OK);
        sp_state_end(r);
        for (int i = 1; i < FAMILY; i++) {
            char url[40];
            snprintf(url, sizeof url, "http://%d.example/", i);
            CU_ASSERT_EQUAL(sp_state_page_id(r, sp_view_str(url), &page), SP_OK);
            if (sp_id_eq(page, part.last) && parts % 2)
                sp_statuses_forget(statuses, url);
            else if (sp_id_eq(page, part.last))
                say(statuses, url, SP_STATUS_UNIQUE, NULL, 100 + (uint64_t)i);
            else if (i % 3 == parts % 3 && part.seen[i] == 0)
                say_family(statuses, i);
        }
        CU_ASSERT_FATAL(parts < FAMILY);
    }
    for (int i = 0; i < FAMILY; i++)
        CU_ASSERT_EQUAL(part.seen[i], 1);
    sp_state_reader_free(r);
    sp_state_close(state);
}

TEST(each_change_has_a_new_version)
{
    struct sp_statuses *statuses = sp_statuses_new();
    struct sp_state *state = sp_state_of_statuses(statuses);
    uint64_t before = sp_state_version(state);
    CU_ASSERT_EQUAL(sp_state_refresh(state, false), SP_OK);
    CU_ASSERT_EQUAL(sp_state_version(state), before);
    say(statuses, "http://a.example/", SP_STATUS_UNIQUE, NULL, 1);
    CU_ASSERT_EQUAL(sp_state_refresh(state, false), SP_OK);
    CU_ASSERT(sp_state_version(state) > before);
    sp_state_close(state);
}
