/* See distinct.h. */
#include "evaluate/distinct.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/order.h"
#include "evaluate/again.h"
#include "partition/words.h"

enum { DICTIONARY_WORDS = 8192 };

struct known {
    struct sp_id content;
    uint32_t fetch;
};

static int by_content(const void *a, const void *b)
{
    const struct known *x = a, *y = b;
    int order = sp_id_cmp(x->content, y->content);
    return order ? order : x->fetch < y->fetch ? -1 : x->fetch > y->fetch;
}

/* Chooses the first fetch of each content, ascending. */
static void choose(const struct sp_trace *t, const uint32_t *fetches, size_t count,
                   struct sp_distinct *d)
{
    struct known *known = sp_alloc((count + 1) * sizeof *known);
    size_t n = 0;
    for (size_t i = 0; i < count; i++)
        if (t->fetches[fetches[i]].signature)
            known[n++] = (struct known){t->fetches[fetches[i]].signature->content_hash, fetches[i]};
    qsort(known, n, sizeof *known, by_content);
    d->fetches = sp_alloc((n + 1) * sizeof *d->fetches);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || !sp_id_eq(known[i - 1].content, known[i].content))
            d->fetches[d->count++] = known[i].fetch;
    qsort(d->fetches, d->count, sizeof *d->fetches, sp_by_u32);
    sp_free(known);
}

void sp_distinct_init(const struct sp_trace *t, const uint32_t *fetches, size_t count,
                      struct sp_distinct *ret_distinct)
{
    struct sp_distinct d = {0};
    choose(t, fetches, count, &d);
    d.signatures = sp_alloc((d.count + 1) * sizeof(struct sp_signature *));
    sp_trace_signatures(t, d.fetches, d.count, d.signatures);
    struct sp_lengths *total = sp_calloc(d.count + 1, sizeof *total);
    struct sp_lengths *three = sp_calloc(d.count + 1, sizeof *three);
    for (size_t i = 0; i < d.count; i++) {
        total[i].at[0] = d.signatures[i]->shingle_total;
        memcpy(three[i].at, d.signatures[i]->length, sizeof three[i].at);
    }
    d.lengths[SP_SPLIT_TOTAL] = total;
    d.lengths[SP_SPLIT_SETTINGS] = three;
    *ret_distinct = d;
}

void sp_distinct_done(struct sp_distinct *d)
{
    for (size_t s = 0; s < SP_SPLITS; s++)
        sp_free(d->lengths[s]);
    sp_free(d->signatures);
    sp_free(d->fetches);
    *d = (struct sp_distinct){0};
}

/* ---- trained dictionaries ---- */

struct words {
    struct sp_text *text;
    struct sp_bag **bags;
};

static void take_words(void *arg, size_t number, const struct sp_page_record *page)
{
    struct words *w = arg;
    uint64_t *words;
    struct sp_signature *s =
        sp_text_signature(w->text, page->content_type, page->content, page->content_is_utf8);
    size_t count = sp_text_first_words(w->text, &words);
    w->bags[number] = sp_bag_new(words, count);
    sp_signature_unref(s);
}

static enum sp_err make_lengths(struct sp_distinct *d, struct sp_bag *const *bags)
{
    static const struct {
        enum sp_split split;
        enum sp_words_rule rule;
        uint32_t dims;
    } made[] = {{SP_SPLIT_BALANCED_2, SP_WORDS_BALANCED, 2},
                {SP_SPLIT_BALANCED_3, SP_WORDS_BALANCED, 3},
                {SP_SPLIT_SPREAD_2, SP_WORDS_SPREAD, 2},
                {SP_SPLIT_SPREAD_3, SP_WORDS_SPREAD, 3}};
    for (size_t m = 0; m < sizeof made / sizeof *made; m++) {
        struct sp_dictionary dictionary;
        enum sp_err err = sp_words_train(made[m].rule, made[m].dims, DICTIONARY_WORDS, bags,
                                         d->count, &dictionary);
        if (err != SP_OK)
            return err;
        struct sp_lengths *lengths = sp_calloc(d->count + 1, sizeof *lengths);
        for (size_t i = 0; i < d->count; i++)
            sp_bag_lengths(bags[i], &dictionary, lengths[i].at);
        d->lengths[made[m].split] = lengths;
        sp_dictionary_done(&dictionary);
    }
    return SP_OK;
}

enum sp_err sp_distinct_read_words(struct sp_distinct *d, const struct sp_trace *t,
                                   struct sp_fault *fault)
{
    const struct sp_trace_options *o = &t->options;
    struct sp_text_options text = o->text;
    struct words w = {.bags = sp_calloc(d->count + 1, sizeof(struct sp_bag *))};
    text.detect_language = false;
    w.text = sp_text_new(&text);
    enum sp_err err = sp_trace_again(t, d->fetches, d->count, take_words, &w, fault);
    if (err == SP_OK && d->count > 0) {
        if (o->progress)
            o->progress(o->progress_arg, "dictionaries", 0, 0);
        err = make_lengths(d, w.bags);
        if (err != SP_OK)
            sp_fault_set(fault, err, "the dictionaries of the maps cannot be trained");
    }
    for (size_t i = 0; i < d->count; i++)
        sp_free(w.bags[i]);
    sp_free(w.bags);
    sp_text_free(w.text);
    return err;
}
