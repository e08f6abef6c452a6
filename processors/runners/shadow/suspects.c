/* Suspects look wrong until they turn out right or are old enough to be counted. They are in a list
 * in order of age, and in a table by their pages. */
#include "base/mem.h"
#include "shadow/internal.h"

enum { SUSPECTS_MAX = 4096 }; /* a system with more is certainly broken */

static struct sp_id key_of(struct sp_id a, struct sp_id b, struct sp_id ret_pages[2])
{
    bool ordered = sp_id_is_zero(b) || sp_id_cmp(a, b) <= 0;
    ret_pages[0] = ordered ? a : b;
    ret_pages[1] = ordered ? b : a;
    return sp_hash128(ret_pages, 2 * sizeof *ret_pages);
}

static struct sp_watched *page_of(const struct sp_shadow *s, const struct sp_suspect *x, int which)
{
    return sp_id_is_zero(x->pages[which]) ? NULL : sp_map_get(&s->by_page, x->pages[which]);
}

static void change_mentions(struct sp_shadow *s, const struct sp_suspect *x, uint32_t by)
{
    for (int i = 0; i < 2; i++) {
        struct sp_watched *w = page_of(s, x, i);
        if (w)
            w->suspects += by;
    }
}

static void add(struct sp_shadow *s, const struct sp_watched *a, const struct sp_watched *b)
{
    if (s->suspects.count >= SUSPECTS_MAX)
        return;
    struct sp_suspect *x = sp_calloc(1, sizeof *x);
    x->key = key_of(a->page, b ? b->page : (struct sp_id){0, 0}, x->pages);
    x->since = s->looks;
    x->since_ms = s->now_ms;
    x->prev = s->newest;
    *(s->newest ? &s->newest->next : &s->oldest) = x;
    s->newest = x;
    s->uncounted++;
    sp_map_add(&s->suspects, x);
    change_mentions(s, x, 1);
}

static void drop(struct sp_shadow *s, struct sp_suspect *x)
{
    *(x->prev ? &x->prev->next : &s->oldest) = x->next;
    *(x->next ? &x->next->prev : &s->newest) = x->prev;
    s->uncounted -= !x->counted;
    change_mentions(s, x, (uint32_t)-1);
    sp_map_remove(&s->suspects, x->key);
    sp_free(x);
}

static void became_right(struct sp_shadow *s, struct sp_suspect *x)
{
    int64_t late_ms = s->now_ms - x->since_ms;
    if (late_ms > s->counts.late_ms)
        s->counts.late_ms = late_ms;
    drop(s, x);
}

static bool is_undecided(const struct sp_watched *a, const struct sp_watched *b)
{
    return !sp_shadow_settled(a) || (b && !sp_shadow_settled(b));
}

void sp_suspect_judge(struct sp_shadow *s, struct sp_watched *a, struct sp_watched *b)
{
    struct sp_id pages[2];
    double similarity;
    if (is_undecided(a, b))
        return;
    enum sp_broken_rule rule = sp_shadow_rule(s, a, b, &similarity);
    s->counts.judged += similarity > 0;
    if (rule == SP_RULE_NONE && a->suspects == 0)
        return;
    struct sp_suspect *x =
        sp_map_get(&s->suspects, key_of(a->page, b ? b->page : (struct sp_id){0, 0}, pages));
    if (x && rule == SP_RULE_NONE)
        became_right(s, x);
    else if (!x && rule != SP_RULE_NONE)
        add(s, a, b);
}

static bool names(const struct sp_suspect *x, const struct sp_watched *w)
{
    return sp_id_eq(x->pages[0], w->page) || sp_id_eq(x->pages[1], w->page);
}

void sp_suspect_again(struct sp_shadow *s, const struct sp_watched *w)
{
    double similarity;
    if (w->suspects == 0)
        return;
    for (struct sp_suspect *x = s->oldest, *next; x; x = next) {
        next = x->next;
        if (!names(x, w))
            continue;
        const struct sp_watched *a = page_of(s, x, 0), *b = page_of(s, x, 1);
        if (!is_undecided(a, b) && sp_shadow_rule(s, a, b, &similarity) == SP_RULE_NONE)
            became_right(s, x);
    }
}

void sp_suspect_drop(struct sp_shadow *s, const struct sp_watched *w)
{
    for (struct sp_suspect *x = s->oldest, *next; x && w->suspects; x = next) {
        next = x->next;
        if (names(x, w))
            drop(s, x);
    }
}

static void count(struct sp_shadow *s, struct sp_suspect *x)
{
    const struct sp_watched *a = page_of(s, x, 0), *b = page_of(s, x, 1);
    double similarity;
    if (is_undecided(a, b))
        return;
    enum sp_broken_rule rule = sp_shadow_rule(s, a, b, &similarity);
    if (rule == SP_RULE_NONE) {
        became_right(s, x); /* the winner that one of them names has changed */
        return;
    }
    struct sp_shadow_alarm alarm = {sp_shadow_rule_kind(rule), sp_shadow_rule_text(rule), a->url,
                                    b ? b->url : NULL, similarity};
    x->counted = true;
    s->uncounted--;
    *(alarm.kind == SP_SHADOW_MISSING ? &s->counts.missing : &s->counts.wrong) += 1;
    if (s->options.alarm)
        s->options.alarm(s->options.arg, &alarm);
}

void sp_suspect_count(struct sp_shadow *s, bool owed, bool all)
{
    if (s->uncounted == 0 || (owed && !all))
        return;
    for (struct sp_suspect *x = s->oldest, *next; x; x = next) {
        next = x->next;
        if (!all && s->looks - x->since < s->options.patience)
            break; /* all that follow are younger */
        if (!x->counted)
            count(s, x);
    }
}

int64_t sp_suspect_oldest_ms(const struct sp_shadow *s)
{
    return s->oldest ? s->now_ms - s->oldest->since_ms : 0;
}

void sp_suspects_done(struct sp_shadow *s)
{
    for (struct sp_suspect *x = s->oldest, *next; x; x = next) {
        next = x->next;
        sp_free(x);
    }
    sp_map_done(&s->suspects);
}
