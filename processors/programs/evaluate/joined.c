/* See joined.h. */
#include "evaluate/joined.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/order.h"
#include "similarity/join.h"

struct hashed {
    struct sp_id hash;
    uint32_t number;
};

static int by_hash(const void *a, const void *b)
{
    const struct hashed *x = a, *y = b;
    return sp_id_cmp(x->hash, y->hash); /* the contents are distinct */
}

void sp_joined_choose(const struct sp_distinct *contents, size_t most, struct sp_joined *ret_joined)
{
    size_t count = contents->count < most ? contents->count : most;
    struct sp_joined j = {contents, sp_alloc((count + 1) * sizeof *j.numbers), count};
    struct hashed *all = sp_alloc((contents->count + 1) * sizeof *all);
    for (uint32_t i = 0; i < contents->count; i++)
        all[i] = (struct hashed){contents->signatures[i]->content_hash, i};
    if (count < contents->count)
        qsort(all, contents->count, sizeof *all, by_hash);
    for (size_t i = 0; i < count; i++)
        j.numbers[i] = all[i].number;
    qsort(j.numbers, count, sizeof *j.numbers, sp_by_u32);
    sp_free(all);
    *ret_joined = j;
}

void sp_joined_done(struct sp_joined *joined)
{
    sp_free(joined->numbers);
    *joined = (struct sp_joined){0};
}

void sp_joined_say(const struct sp_joined *joined, struct sp_report *report)
{
    size_t all = joined->contents->count;
    if (joined->count < all)
        sp_report_textf(report,
                        "Similar pairs are those among %zu of the %zu contents, a sample by their "
                        "hashes. Pairs of the other %zu contents were left out, because all pairs "
                        "of a crawl can be as many as the square of its contents.",
                        joined->count, all, all - joined->count);
}

struct caller {
    const uint32_t *numbers;
    void (*each)(void *arg, size_t i, size_t j, double similarity);
    void *arg;
};

static void pass_on(void *arg, size_t i, size_t j, double similarity)
{
    const struct caller *c = arg;
    c->each(c->arg, c->numbers[i], c->numbers[j], similarity);
}

enum sp_err sp_joined_each(const struct sp_joined *joined, const struct sp_similarity_options *o,
                           void (*each)(void *arg, size_t i, size_t j, double similarity),
                           void *arg)
{
    struct caller caller = {joined->numbers, each, arg};
    struct sp_signature **signatures =
        sp_alloc((joined->count + 1) * sizeof(struct sp_signature *));
    for (size_t i = 0; i < joined->count; i++)
        signatures[i] = joined->contents->signatures[joined->numbers[i]];
    enum sp_err err = sp_join(o, signatures, joined->count, pass_on, &caller, NULL);
    sp_free(signatures);
    return err;
}
