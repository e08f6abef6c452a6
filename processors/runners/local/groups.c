/* See groups.h. All pages are collected in memory, as views into one buffer of strings: about a
 * hundred bytes a page, for as long as the listing takes. */
#include "local/groups.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/json_write.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/names.h"
#include "base/url.h"
#include "codec/lines.h"
#include "winners/winners.h"

struct member {
    struct sp_id page; /* key of the map: first */
    struct sp_group_id group;
    uint64_t url; /* offset into the strings, NUL-terminated */
    uint64_t winner_url;
    uint64_t group_order; /* the url of the group's first member */
    struct sp_rank rank;
    enum sp_page_status status;
    enum sp_reason reason;
    float similarity;
};

struct listing {
    struct member *members;
    size_t count;
    size_t cap;
    struct sp_buf strings;
    struct sp_map by_page; /* once the members are sorted */
    struct sp_buf url;     /* scratch */
};

static void collect(void *arg, const struct sp_page_view *page)
{
    struct listing *l = arg;
    if (page->status == SP_STATUS_NONE)
        return;
    sp_grow(&l->members, &l->cap, l->count + 1);
    struct member *m = &l->members[l->count++];
    *m = (struct member){.group = page->group,
                         .url = l->strings.len,
                         .page = page->page,
                         .rank = page->rank,
                         .status = page->status,
                         .reason = page->reason,
                         .similarity = page->similarity};
    sp_buf_put(&l->strings, page->url, strlen(page->url) + 1);
    if (page->winner_url) {
        m->winner_url = l->strings.len;
        sp_buf_put(&l->strings, page->winner_url, strlen(page->winner_url) + 1);
    }
}

static enum sp_err each_page(struct sp_db *db, uint32_t tier1,
                             void (*each)(void *arg, const struct sp_page_view *page), void *arg)
{
    enum sp_err err = SP_OK;
    for (uint32_t i = 0; i < tier1 && err == SP_OK; i++)
        err = sp_group_each_page(sp_db_store(db, (uint16_t)(SP_BUS_STORE_TIER1 + i)), each, arg);
    return err;
}

static int by_group_and_url(const void *a, const void *b, void *strings)
{
    const struct member *x = a, *y = b;
    int order = sp_group_id_cmp(x->group, y->group);
    return order ? order : strcmp((char *)strings + x->url, (char *)strings + y->url);
}

static int by_first_and_url(const void *a, const void *b, void *strings)
{
    const struct member *x = a, *y = b;
    if (x->group_order != y->group_order)
        return strcmp((char *)strings + x->group_order, (char *)strings + y->group_order);
    return strcmp((char *)strings + x->url, (char *)strings + y->url);
}

static void sort_members(struct listing *l)
{
    struct member *m = l->members;
    if (l->count == 0)
        return; /* an empty array may be NULL, which qsort does not accept */
    qsort_r(m, l->count, sizeof *m, by_group_and_url, l->strings.data);
    for (size_t i = 0; i < l->count; i++)
        m[i].group_order =
            i > 0 && sp_group_id_eq(m[i - 1].group, m[i].group) ? m[i - 1].group_order : m[i].url;
    qsort_r(m, l->count, sizeof *m, by_first_and_url, l->strings.data);
    for (size_t i = 0; i < l->count; i++)
        sp_map_add(&l->by_page, &m[i]);
}

/* Returns the winner of a loser by content. Its fetches may have spelled its URL in several ways,
 * and the loser's status has the one of that time. */
static const struct member *winner_of(struct listing *l, const struct member *m)
{
    struct sp_id page;
    if (!m->winner_url || m->reason == SP_REASON_REDIRECT ||
        sp_url_page(sp_view_str(l->strings.data + m->winner_url), &l->url, &page) != SP_OK)
        return NULL;
    return sp_map_get(&l->by_page, page);
}

/* Writes why a page lost to its winner. */
static void put_rule(struct sp_buf *out, struct listing *l, const struct member *m)
{
    const struct member *winner = winner_of(l, m);
    sp_buf_put_str(out, ",\"rule\":");
    sp_json_put_text(out, winner ? sp_rank_rule_name(sp_rank_decided(&winner->rank, winner->page,
                                                                     &m->rank, m->page))
                                 : NULL);
}

static void put_member(struct sp_buf *out, struct listing *l, const struct member *m)
{
    sp_buf_put_str(out, "{\"url\":");
    sp_json_put_text(out, l->strings.data + m->url);
    sp_buf_put_str(out, ",\"status\":");
    sp_json_put_text(out, sp_status_name(m->status));
    sp_buf_put_str(out, ",\"winner_url\":");
    sp_json_put_text(out, m->winner_url ? l->strings.data + m->winner_url : NULL);
    sp_buf_put_str(out, ",\"similarity\":");
    if (m->winner_url)
        sp_json_put_float(out, m->similarity);
    else
        sp_buf_put_str(out, "null");
    put_rule(out, l, m);
    sp_buf_put_u8(out, '}');
}

static bool write_groups(struct listing *l, FILE *file)
{
    struct sp_buf out = {0};
    bool good = true;
    for (size_t i = 0; i < l->count && good;) {
        struct sp_group_id group = l->members[i].group;
        sp_buf_reset(&out);
        sp_buf_put_str(&out, "{\"group_id\":");
        sp_lines_put_group_id(&out, group);
        sp_buf_put_str(&out, ",\"members\":[");
        size_t first = i, end = i;
        while (end < l->count && sp_group_id_eq(l->members[end].group, group))
            end++;
        for (; i < end; i++) {
            if (i > first)
                sp_buf_put_u8(&out, ',');
            put_member(&out, l, &l->members[i]);
        }
        sp_buf_put_str(&out, "]}\n");
        good = fwrite(out.data, 1, out.len, file) == out.len;
    }
    sp_buf_done(&out);
    return good;
}

/* Always makes a new file, so that neither a file left by an earlier run nor a planted link is
 * written to. */
static FILE *open_new(const char *name)
{
    unlink(name);
    int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
    if (fd >= 0 && !file)
        close(fd);
    return file;
}

enum sp_err sp_groups_write(struct sp_db *db, uint32_t tier1, const char *name,
                            struct sp_fault *fault)
{
    struct listing l = {0};
    struct sp_buf unfinished = {0};
    sp_buf_put_u8(&l.strings, 0); /* offset 0 means none */
    sp_buf_put_str(&unfinished, name);
    sp_buf_put(&unfinished, ".unfinished", sizeof ".unfinished");
    enum sp_err err = each_page(db, tier1, collect, &l);
    if (err != SP_OK) {
        sp_fault_set(fault, err, "%s", sp_db_err_text(db, err));
    } else {
        bool to_stdout = strcmp(name, "-") == 0, in_place = to_stdout || sp_names_special(name);
        sort_members(&l);
        FILE *file = to_stdout ? stdout : in_place ? fopen(name, "w") : open_new(unfinished.data);
        bool good = file && write_groups(&l, file) && fflush(file) == 0;
        if (good && !in_place)
            good = fsync(fileno(file)) == 0;
        if (file && !to_stdout)
            good &= fclose(file) == 0;
        if (!good || (!in_place && (rename(unfinished.data, name) != 0 ||
                                    !sp_names_sync(name, SP_NAMES_LAST)))) {
            err = sp_fault_set(fault, SP_IO, "%s: the groups cannot be written: %s", name,
                               strerror(errno));
            if (!in_place)
                remove(unfinished.data);
        }
    }
    sp_map_done(&l.by_page);
    sp_free(l.members);
    sp_buf_done(&l.strings);
    sp_buf_done(&l.url);
    sp_buf_done(&unfinished);
    return err;
}

struct counting {
    struct sp_group_totals totals;
    struct sp_group_id *groups;
    size_t cap;
    size_t count;
};

static void count_page(void *arg, const struct sp_page_view *page)
{
    struct counting *c = arg;
    c->totals.status_counts[page->status]++;
    if (page->status == SP_STATUS_NONE)
        return;
    /* A unique page is a group of its own, and so is a gone page that is alone; only other groups
     * are remembered. */
    if (page->status == SP_STATUS_UNIQUE) {
        c->totals.groups++;
        return;
    }
    sp_grow(&c->groups, &c->cap, c->count + 1);
    c->groups[c->count++] = page->group;
}

static int by_id(const void *a, const void *b)
{
    return sp_group_id_cmp(*(const struct sp_group_id *)a, *(const struct sp_group_id *)b);
}

enum sp_err sp_groups_count(struct sp_db *db, uint32_t tier1, struct sp_group_totals *ret_totals)
{
    struct counting c = {0};
    enum sp_err err = each_page(db, tier1, count_page, &c);
    if (c.count)
        qsort(c.groups, c.count, sizeof *c.groups, by_id);
    for (size_t i = 0, end; i < c.count; i = end) {
        for (end = i + 1; end < c.count && sp_group_id_eq(c.groups[i], c.groups[end]);)
            end++;
        c.totals.groups++;
        c.totals.duplicates += end - i > 1;
    }
    sp_free(c.groups);
    *ret_totals = c.totals;
    return err;
}
