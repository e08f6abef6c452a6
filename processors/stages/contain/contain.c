/* The steps of the contain stage. For a new page the stage searches the best container, and offers
 * the page as a container to those that wait. When a page leaves, a new container is searched for
 * each page that it contained. */
#include "contain/contain.h"

#include "base/mem.h"
#include "contain/stage.h"

struct sp_contain_stage *sp_contain_stage_new(const struct sp_contain_options *options,
                                              struct sp_store *store, struct sp_contents *contents,
                                              sp_contain_say *say, void *arg)
{
    struct sp_contain_stage *c = sp_calloc(1, sizeof *c);
    c->options = *options;
    c->store = store;
    c->contents = contents;
    c->say = say;
    c->say_arg = arg;
    sp_contain_levels_init(c);
    return c;
}

/* From the page alone. */
static void forget(struct sp_contain_stage *c, struct sp_contain_item *item)
{
    struct sp_contain_host *host = item->host;
    if (host && --host->item_count == 0)
        sp_contain_host_free(host);
    sp_map_remove(&c->items, item->page);
    sp_contain_item_free(item);
}

void sp_contain_stage_free(struct sp_contain_stage *c)
{
    if (!c)
        return;
    for (uint32_t i = 0; i < c->slots.count; i++)
        if (c->slots.at[i])
            forget(c, c->slots.at[i]);
    sp_free(c->slots.at);
    for (int kind = 0; kind < SP_CONTAIN_KINDS; kind++) {
        sp_contain_index_done(&c->holders[kind]);
        sp_contain_index_done(&c->seekers[kind]);
    }
    sp_map_done(&c->items);
    sp_map_done(&c->hosts);
    sp_free(c->lengths);
    sp_free(c->changed_items.at);
    sp_free(c->changed_hosts.at);
    sp_buf_done(&c->text);
    sp_free(c);
}

/* Gives all items new slots, in order, and makes all indexes again. */
static void reindex(struct sp_contain_stage *c)
{
    struct sp_contain_list items = {0}, slots = c->slots;
    struct sp_contain_counted counted;
    for (uint32_t i = 0; i < slots.count; i++)
        if (slots.at[i])
            sp_contain_list_add(&items, slots.at[i]);
    sp_free(slots.at);
    c->slots = (struct sp_contain_list){0};
    for (int kind = 0; kind < SP_CONTAIN_KINDS; kind++) {
        sp_contain_index_done(&c->holders[kind]);
        sp_contain_index_done(&c->seekers[kind]);
    }
    sp_contain_levels_init(c);
    for (uint32_t i = 0; i < items.count && c->err == SP_OK; i++) {
        struct sp_signature *s = sp_contain_signature(c, items.at[i]);
        if (s)
            sp_contain_item_enter(c, items.at[i], s);
        for (enum sp_contain_kind kind = 0; s && kind <= items.at[i]->kind; kind++)
            for (uint32_t level = 1; level < c->holders[kind].levels; level++)
                sp_contain_level_fill(c, kind, level); /* the signature is at hand */
        sp_signature_unref(s);
        sp_contents_trim(c->contents);
    }
    for (uint32_t i = 0; i < items.count && c->err == SP_OK; i++) {
        sp_free(items.at[i]->picks);
        items.at[i]->picks = NULL;
        if (sp_contain_count(c, items.at[i], &counted))
            sp_contain_wait_by_costs(c, &counted);
        sp_contain_counted_done(&counted);
        sp_contents_trim(c->contents);
    }
    sp_free(items.at);
}

/* Whether most slots are of pages that have left, and these take much memory. */
static bool is_sparse(const struct sp_contain_stage *c)
{
    enum { MANY = 1 << 27 };
    return c->slots.count >= MANY && c->slots.count / 2 >= c->stats.pages;
}

enum sp_err sp_contain_stage_load(struct sp_contain_stage *c)
{
    if (sp_contain_read(c) == SP_OK)
        reindex(c);
    return c->err;
}

/* ---- coming and going ---- */

/* Takes the page out of everything but its host. Appends its contents, which now wait for nothing.
 */
static void take_out(struct sp_contain_stage *c, struct sp_contain_item *item,
                     struct sp_contain_list *ret_left)
{
    struct sp_signature *s = sp_contain_signature(c, item);
    if (!s)
        return;
    sp_contain_wait_no_more(c, item);
    sp_contain_item_leave(c, item, s, ret_left);
    sp_signature_unref(s);
    sp_contain_note(c, sp_contents_drop(c->contents, item->content));
    for (uint32_t i = 0; i < ret_left->count; i++)
        sp_contain_wait_no_more(c, ret_left->at[i]);
    sp_contain_list_sort(ret_left);
}

static void search_again(struct sp_contain_stage *c, const struct sp_contain_list *left)
{
    for (uint32_t i = 0; i < left->count && c->err == SP_OK; i++) {
        sp_contain_search(c, left->at[i]);
        sp_contain_tell(c, left->at[i]);
    }
}

/* Both ascending. */
static bool has_one_of(const struct sp_signature *s, const struct sp_contain_numbers *numbers)
{
    uint32_t i = 0;
    for (size_t k = 0; k < numbers->count; k++) {
        while (i < s->shingle_count && s->hashes[i] < numbers->at[k])
            i++;
        if (i == s->shingle_count)
            return false;
        if (s->hashes[i] == numbers->at[k])
            return true;
    }
    return false;
}

static void judge(struct sp_contain_stage *c, struct sp_contain_item *item)
{
    const struct sp_contain_item *best = item->best;
    struct sp_contain_share share = item->share;
    sp_contain_wait_no_more(c, item);
    sp_contain_detach(c, item);
    sp_contain_search(c, item);
    if (item->best != best || item->share.hits != share.hits || item->share.of != share.of)
        sp_contain_tell(c, item);
}

/* The set of shingles that the host's pages count has changed. Nothing changes for a page that has
 * none of the shingles concerned: its share is counted on its own shingles, and it waits under some
 * of them. */
static void judge_host(struct sp_contain_stage *c, struct sp_contain_host *host,
                       const struct sp_contain_numbers *changed)
{
    struct sp_contain_list pages = {0};
    for (struct sp_contain_item *item = host->items; item; item = item->host_next)
        sp_contain_list_add(&pages, item);
    sp_contain_list_sort(&pages);
    for (uint32_t i = 0; i < pages.count && c->err == SP_OK; i++) {
        struct sp_signature *s = sp_contain_signature(c, pages.at[i]);
        if (s && has_one_of(s, changed))
            judge(c, pages.at[i]);
        sp_signature_unref(s);
        sp_contents_trim(c->contents);
    }
    sp_free(pages.at);
}

/* The page has joined its host, so the set of shingles that the host repeats may have changed. */
static void learn(struct sp_contain_stage *c, struct sp_contain_host *host)
{
    struct sp_contain_numbers changed = {0};
    sp_contain_host_learn(c, host, &changed);
    if (c->err == SP_OK && changed.count > 0)
        judge_host(c, host, &changed);
    sp_free(changed.at);
}

static void bring_in(struct sp_contain_stage *c, struct sp_contain_item *item,
                     struct sp_signature *signature)
{
    c->puts++;
    if (is_sparse(c))
        reindex(c);
    sp_contain_item_enter(c, item, signature);
    sp_contain_search(c, item);
    if (c->err == SP_OK)
        sp_contain_tell(c, item);
    sp_contain_offer(c, item, signature);
}

static void put_new(struct sp_contain_stage *c, struct sp_id page, const char *url,
                    struct sp_signature *signature)
{
    struct sp_contain_list left = {0};
    struct sp_contain_item *old = sp_map_get(&c->items, page);
    if (!sp_contain_note(c, sp_contents_hold(c->contents, signature)))
        return;
    if (old)
        take_out(c, old, &left);
    if (c->err == SP_OK) {
        struct sp_contain_item *item =
            sp_contain_item_new(c, page, url, signature, c->next_order++);
        sp_contain_host_join(c, sp_contain_host_id(url), item);
        if (old) /* only now: the host is freed with its last page */
            sp_contain_host_leave(c, old);
        sp_contain_item_free(old);
        bring_in(c, item, signature);
        search_again(c, &left);
        if (c->err == SP_OK)
            learn(c, item->host);
    }
    sp_free(left.at);
}

static void rename_item(struct sp_contain_stage *c, struct sp_contain_item *item, const char *url)
{
    struct sp_contain_list contents = {0};
    sp_free(item->url);
    item->url = sp_strdup(url);
    sp_contain_item_changed(c, item);
    for (struct sp_contain_item *inner = item->contents; inner; inner = inner->beside_next)
        sp_contain_list_add(&contents, inner);
    sp_contain_list_sort(&contents);
    for (uint32_t i = 0; i < contents.count; i++)
        sp_contain_tell(c, contents.at[i]);
    sp_free(contents.at);
}

/* Another spelling of a page's URL has the same host, and the stored row has only the URL. A URL of
 * another host, which only another program gives to a page, makes it a new one. */
static bool has_host(const struct sp_contain_item *item, const char *url)
{
    return sp_id_eq(sp_contain_host_id(url), item->host->id);
}

enum sp_err sp_contain_stage_put(struct sp_contain_stage *c, struct sp_id page, const char *url,
                                 struct sp_id content)
{
    struct sp_contain_item *item = c->err == SP_OK ? sp_map_get(&c->items, page) : NULL;
    if (c->err != SP_OK)
        return c->err;
    bool same = item && sp_id_eq(item->content, content);
    if (same && strcmp(item->url, url) == 0)
        return c->err;
    if (same && has_host(item, url)) {
        rename_item(c, item, url);
        return c->err;
    }
    struct sp_signature *s = NULL;
    enum sp_err err = sp_contents_find(c->contents, content, &s);
    if (err != SP_OK && err != SP_NOT_FOUND)
        return sp_contain_note(c, err), c->err;
    if (err == SP_NOT_FOUND || s->shingle_count < SP_CONTAIN_LEAST) {
        c->say(c->say_arg, page, NULL, 0);
        return sp_contain_stage_remove(c, page);
    }
    sp_signature_ref(s);
    put_new(c, page, url, s);
    sp_signature_unref(s);
    return c->err;
}

enum sp_err sp_contain_stage_remove(struct sp_contain_stage *c, struct sp_id page)
{
    struct sp_contain_list left = {0};
    struct sp_contain_item *item = c->err == SP_OK ? sp_map_get(&c->items, page) : NULL;
    if (!item)
        return c->err;
    take_out(c, item, &left);
    if (c->err == SP_OK) {
        sp_contain_host_leave(c, item);
        sp_contain_item_free(item);
        search_again(c, &left);
    }
    sp_free(left.at);
    return c->err;
}

enum sp_err sp_contain_stage_flush(struct sp_contain_stage *c)
{
    if (c->err == SP_OK)
        sp_contain_write(c);
    return c->err;
}

void sp_contain_stage_stats(const struct sp_contain_stage *c, struct sp_contain_stats *ret_stats)
{
    *ret_stats = c->stats;
    ret_stats->index_bytes = 0;
    for (int kind = 0; kind < SP_CONTAIN_KINDS; kind++) {
        const struct sp_postings *holders = c->holders[kind].postings;
        const struct sp_postings *seekers = c->seekers[kind].postings;
        ret_stats->index_bytes += holders ? sp_postings_bytes(holders) : 0;
        ret_stats->index_bytes += seekers ? sp_postings_bytes(seekers) : 0;
    }
}
