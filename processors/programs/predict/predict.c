/* See predict.h. Tables: pages by URL; for each feature of a page, from the rest of its URL without
 * the feature to the page last fetched with that rest; rules. */
#include "predict/predict.h"

#include <stdlib.h>

#include "base/map.h"
#include "base/mem.h"
#include "predict/features.h"

enum {
    VALUE_MAX = 48, /* bytes of a value that a rule of two values is made for */
    /* Number of pairs from which on a special rule is used instead of a general one. */
    EVIDENCE_MIN = 2,
    /* After as many pairs in a row against a rule, its earlier evidence is dropped. */
    ROW_EXPIRES = 3
};

static const double WINDOW = 1000;
/* The earlier pairs of pages that differ from the URL in one feature only count as well; a rule's
 * confidence has the weight of PRIOR such pairs. Older pairs count less. */
static const double PRIOR = 6;
static const float LEFT = 0.9f;

struct page {
    struct sp_id key; /* of the map: first */
    char *url;
    size_t len;
    struct sp_id content;
    uint64_t number; /* of the content, set when contents are compared */
    bool present;
};

struct slot {
    struct sp_id key;
    const struct page *page;
    struct sp_view value; /* into its URL */
    float same;           /* weight of these pairs, fading */
    float other;
};

struct learned {
    struct sp_rule rule; /* key first */
    unsigned row;        /* number of pairs against it since the last one for it */
};

struct sp_predictor {
    struct sp_map pages;
    struct sp_map slots;
    struct sp_map rules;
};

struct sp_predictor *sp_predictor_new(void)
{
    return sp_calloc(1, sizeof(struct sp_predictor));
}

static void free_page(void *object)
{
    struct page *page = object;
    sp_free(page->url);
    sp_free(page);
}

static void free_rule(void *object)
{
    struct learned *l = object;
    sp_free(l->rule.host);
    sp_free(l->rule.name);
    sp_free(l->rule.from);
    sp_free(l->rule.to);
    sp_free(l->rule.example[0]);
    sp_free(l->rule.example[1]);
    sp_free(l);
}

void sp_predictor_free(struct sp_predictor *p)
{
    if (!p)
        return;
    sp_map_free_objects_by(&p->pages, free_page);
    sp_map_free_objects(&p->slots);
    sp_map_free_objects_by(&p->rules, free_rule);
    sp_free(p);
}

/* ---- which rules apply to a pair ---- */

/* The rules for a pair, from the most special to the most general. */
enum level { OF_TWO_VALUES, OF_THE_HOST, OF_ALL_HOSTS, LEVELS };

struct about {
    enum sp_feature_kind kind;
    struct sp_view host;
    struct sp_view name;
    struct sp_view from; /* in byte order not after `to` */
    struct sp_view to;
};

/* Whether the value looks like a visitor id: long, with a digit. */
static bool is_id(struct sp_view value)
{
    size_t digits = 0;
    for (size_t i = 0; i < value.len; i++)
        digits += (unsigned)(value.data[i] - '0') <= 9;
    return value.len >= 6 && digits > 0;
}

static int by_bytes(struct sp_view a, struct sp_view b)
{
    size_t n = a.len < b.len ? a.len : b.len;
    int order = n ? memcmp(a.data, b.data, n) : 0;
    return order ? order : (a.len > b.len) - (a.len < b.len);
}

static struct about about_pair(struct sp_view host, const struct sp_feature *f,
                               struct sp_view other)
{
    struct about a = {f->kind, host, f->name, f->value, other};
    if (by_bytes(a.from, a.to) > 0) {
        a.from = other;
        a.to = f->value;
    }
    return a;
}

static bool has_level(const struct about *a, enum level level)
{
    bool values = a->kind == SP_FEATURE_HOST || a->kind == SP_FEATURE_SCHEME ||
                  a->kind == SP_FEATURE_EXTENSION || a->kind == SP_FEATURE_SEGMENT;
    if (level == OF_TWO_VALUES)
        return values && a->from.len <= VALUE_MAX && a->to.len <= VALUE_MAX && !is_id(a->from) &&
               !is_id(a->to);
    if (level == OF_ALL_HOSTS)
        return a->kind != SP_FEATURE_SEGMENT && a->kind != SP_FEATURE_HOST;
    return true;
}

/* Whether both values are ids: these segments have rules of their own. */
static bool of_ids(const struct about *a)
{
    return a->kind == SP_FEATURE_SEGMENT && is_id(a->from) && is_id(a->to);
}

static const char IDS[] = " (ids)"; /* ends the name of a rule about ids */

static bool has_host(const struct about *a, enum level level)
{
    return level != OF_ALL_HOSTS && a->kind != SP_FEATURE_HOST;
}

static struct sp_id rule_key(const struct about *a, enum level level, bool ids)
{
    struct sp_buf text = {0};
    sp_buf_put_u8(&text, (uint8_t)a->kind);
    sp_buf_put_u8(&text, (uint8_t)level);
    sp_buf_put_u8(&text, ids);
    struct sp_view parts[] = {has_host(a, level) ? a->host : sp_view("", 0), a->name, a->from,
                              a->to};
    for (size_t i = 0; i < (level == OF_TWO_VALUES ? 4 : 2); i++) {
        sp_buf_put_varint(&text, parts[i].len);
        sp_buf_put_view(&text, parts[i]);
    }
    struct sp_id key = sp_hash128(text.data, text.len);
    sp_buf_done(&text);
    return key;
}

static void set_text(char **text, struct sp_view to)
{
    sp_free(*text);
    *text = sp_view_dup(to);
}

static struct learned *rule_of(struct sp_predictor *p, const struct about *a, enum level level,
                               bool ids)
{
    struct sp_id key = rule_key(a, level, ids);
    struct learned *l = sp_map_get(&p->rules, key);
    struct sp_buf name = {0};
    if (l)
        return l;
    l = sp_calloc(1, sizeof *l);
    sp_buf_put_view(&name, a->name);
    if (ids)
        sp_buf_put_str(&name, IDS);
    l->rule = (struct sp_rule){.key = key, .kind = a->kind, .any = level != OF_TWO_VALUES};
    l->rule.host = has_host(a, level) ? sp_view_dup(a->host) : sp_strdup("*");
    l->rule.name = sp_view_dup(sp_buf_view(&name));
    l->rule.from = l->rule.any ? NULL : sp_view_dup(a->from);
    l->rule.to = l->rule.any ? NULL : sp_view_dup(a->to);
    sp_map_add(&p->rules, l);
    sp_buf_done(&name);
    return l;
}

/* ---- rules that were learned elsewhere ---- */

/* Reconstructs from a printed rule what it is about: the reverse of rule_of. */
static struct about about_rule(const struct sp_rule *r, enum level *ret_level, bool *ret_ids)
{
    struct sp_view name = sp_view_str(r->name), from = sp_view("", 0), to = from;
    size_t ids = sizeof IDS - 1;
    *ret_ids = r->kind == SP_FEATURE_SEGMENT && name.len >= ids &&
               memcmp(name.data + name.len - ids, IDS, ids) == 0;
    if (*ret_ids)
        name.len -= ids;
    if (!r->any) {
        from = sp_view_str(r->from);
        to = sp_view_str(r->to);
    }
    bool everywhere = r->kind != SP_FEATURE_HOST && strcmp(r->host, "*") == 0;
    *ret_level = !r->any ? OF_TWO_VALUES : everywhere ? OF_ALL_HOSTS : OF_THE_HOST;
    bool turned = by_bytes(from, to) > 0;
    return (struct about){r->kind, sp_view_str(r->host), name, turned ? to : from,
                          turned ? from : to};
}

static void drop_rule(struct sp_predictor *p, struct sp_id key)
{
    struct learned *gone = sp_map_remove(&p->rules, key);
    if (gone)
        free_rule(gone);
}

void sp_predict_set_rule(struct sp_predictor *p, const struct sp_rule *rule)
{
    enum level level;
    bool ids;
    struct about a = about_rule(rule, &level, &ids);
    if (rule->support + rule->against <= 0) {
        drop_rule(p, rule_key(&a, level, ids));
        return;
    }
    struct learned *l = rule_of(p, &a, level, ids);
    l->row = 0;
    l->rule.support = rule->support;
    l->rule.against = rule->against;
    l->rule.pairs[0] = rule->pairs[0];
    l->rule.pairs[1] = rule->pairs[1];
    for (int i = 0; i < 2 && rule->example[i]; i++)
        set_text(&l->rule.example[i], sp_view_str(rule->example[i]));
}

void sp_predict_take_rules(struct sp_predictor *p, const struct sp_rule *rules, size_t count,
                           double confidence)
{
    size_t before = 0;
    const struct sp_rule **own = sp_predict_rules(p, confidence, &before);
    for (size_t i = 0; i < before; i++)
        drop_rule(p, own[i]->key);
    sp_free(own);
    for (size_t i = 0; i < count; i++)
        sp_predict_set_rule(p, &rules[i]);
}

/* ---- learning ---- */

static void note(struct learned *l, bool same, const struct page *a, const struct page *b)
{
    const double left = 1 - 1 / WINDOW;
    struct sp_rule *r = &l->rule;
    r->support *= left;
    r->against *= left;
    r->pairs[same]++;
    l->row = same ? 0 : l->row + 1;
    if (!same) {
        r->against++;
        /* The evidence starts again with these pairs. */
        if (l->row == ROW_EXPIRES && r->support > 0) {
            r->support = 0;
            r->against = ROW_EXPIRES;
        }
        return;
    }
    r->support++;
    if (!r->example[0]) {
        set_text(&r->example[0], sp_view(a->url, a->len));
        set_text(&r->example[1], sp_view(b->url, b->len));
    }
}

static struct page *page_of(struct sp_predictor *p, struct sp_view url)
{
    struct sp_id key = sp_hash128(url.data, url.len);
    struct page *page = sp_map_get(&p->pages, key);
    if (page)
        return page;
    page = sp_calloc(1, sizeof *page);
    page->key = key;
    page->url = sp_view_dup(url);
    page->len = url.len;
    sp_map_add(&p->pages, page);
    return page;
}

static struct slot *partner(const struct sp_predictor *p, const struct sp_feature *f,
                            struct sp_id url)
{
    struct slot *s = sp_map_get(&p->slots, f->rest);
    if ((!s || !s->page->present) && !sp_id_is_zero(f->bare))
        s = sp_map_get(&p->slots, f->bare);
    return s && s->page->present && !sp_id_eq(s->page->key, url) ? s : NULL;
}

static void put_slot(struct sp_predictor *p, struct sp_id key, const struct page *page,
                     struct sp_view value)
{
    struct slot *s = sp_map_get(&p->slots, key);
    if (!s) {
        s = sp_alloc(sizeof *s);
        *s = (struct slot){.key = key};
        sp_map_add(&p->slots, s);
    }
    s->page = page;
    s->value = value;
}

struct equality {
    bool (*same)(void *arg, uint64_t a, uint64_t b);
    void *arg;
};

static void learn(struct sp_predictor *p, struct page *page, const struct equality *equality)
{
    struct sp_feature features[SP_PREDICT_FEATURES];
    struct sp_view url = sp_view(page->url, page->len);
    struct sp_view host = sp_feature_host(url);
    size_t count = sp_features(url, features);
    for (size_t i = 0; i < count; i++) {
        struct slot *other = partner(p, &features[i], page->key);
        if (!other)
            continue;
        struct about a = about_pair(host, &features[i], other->value);
        bool same = equality->same
                        ? equality->same(equality->arg, page->number, other->page->number)
                        : sp_id_eq(page->content, other->page->content);
        for (enum level level = 0; level < LEVELS; level++)
            if (has_level(&a, level))
                note(rule_of(p, &a, level, of_ids(&a)), same, page, other->page);
        other->same = other->same * LEFT + (float)same;
        other->other = other->other * LEFT + (float)!same;
    }
    for (size_t i = 0; i < count; i++)
        put_slot(p, features[i].rest, page, features[i].value);
    struct sp_id bare = sp_features_bare(url);
    if (!sp_id_is_zero(bare))
        put_slot(p, bare, page, sp_view("", 0));
}

void sp_predict_learn(struct sp_predictor *p, struct sp_view url, struct sp_id content)
{
    const struct equality by_id = {NULL, NULL};
    struct page *page = page_of(p, url);
    bool news = !page->present || !sp_id_eq(page->content, content);
    page->present = true;
    page->content = content;
    if (news) /* a page that was fetched again unchanged is no evidence */
        learn(p, page, &by_id);
}

void sp_predict_learn_by(struct sp_predictor *p, struct sp_view url, uint64_t content,
                         bool (*same)(void *arg, uint64_t a, uint64_t b), void *arg)
{
    const struct equality asked = {same, arg};
    struct page *page = page_of(p, url);
    bool news = !page->present || page->number != content;
    page->present = true;
    page->number = content;
    if (news)
        learn(p, page, &asked);
}

void sp_predict_forget(struct sp_predictor *p, struct sp_view url)
{
    struct page *page = sp_map_get(&p->pages, sp_hash128(url.data, url.len));
    if (page)
        page->present = false;
}

/* ---- asking ---- */

/* Returns the most special rule with evidence; NULL if there is none. */
static const struct sp_rule *rule_for(const struct sp_predictor *p, const struct about *a)
{
    const struct sp_rule *any = NULL;
    for (enum level level = 0; level < LEVELS; level++) {
        const struct learned *l =
            has_level(a, level) ? sp_map_get(&p->rules, rule_key(a, level, of_ids(a))) : NULL;
        if (l && l->rule.support + l->rule.against >= EVIDENCE_MIN - 0.5)
            return &l->rule;
        any = l ? &l->rule : any;
    }
    return any;
}

bool sp_predict_ask(const struct sp_predictor *p, struct sp_view url, double confidence,
                    struct sp_prediction *ret_prediction)
{
    struct sp_feature features[SP_PREDICT_FEATURES];
    struct sp_view host = sp_feature_host(url);
    struct sp_id key = sp_hash128(url.data, url.len);
    size_t count = sp_features(url, features);
    struct sp_prediction best = {.confidence = -1};
    for (size_t i = 0; i < count; i++) {
        const struct slot *other = partner(p, &features[i], key);
        if (!other)
            continue;
        struct about a = about_pair(host, &features[i], other->value);
        const struct sp_rule *rule = rule_for(p, &a);
        double before = (double)other->same + (double)other->other;
        double sure =
            rule ? sp_rule_confidence(rule) * (PRIOR + (double)other->same) / (PRIOR + before) : 0;
        if (rule && sure > best.confidence)
            best = (struct sp_prediction){sp_view(other->page->url, other->page->len),
                                          other->page->number, rule, sure};
    }
    if (!best.rule || best.confidence < confidence || best.confidence <= 0)
        return false;
    *ret_prediction = best;
    return true;
}

bool sp_predict_explores(struct sp_view url, double share)
{
    return (double)(sp_hash64(url.data, url.len) >> 11) * 0x1p-53 < share;
}

static int best_first(const void *a, const void *b)
{
    const struct sp_rule *x = *(const struct sp_rule *const *)a,
                         *y = *(const struct sp_rule *const *)b;
    double sure = sp_rule_confidence(x), other = sp_rule_confidence(y);
    if (sure != other)
        return sure > other ? -1 : 1;
    return sp_id_cmp(x->key, y->key);
}

const struct sp_rule **sp_predict_rules(const struct sp_predictor *p, double confidence,
                                        size_t *ret_count)
{
    const struct sp_rule **rules = sp_alloc((p->rules.count + 1) * sizeof(struct sp_rule *));
    size_t count = 0;
    uint64_t cursor = 0;
    for (const struct learned *l; (l = sp_map_next(&p->rules, &cursor));)
        if (sp_rule_confidence(&l->rule) >= confidence)
            rules[count++] = &l->rule;
    if (count > 0)
        qsort(rules, count, sizeof *rules, best_first);
    *ret_count = count;
    return rules;
}
