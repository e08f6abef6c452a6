/* See followed.h. */
#include "serve/followed.h"

#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/service.h"
#include "serve/rule_line.h"

enum { PAUSE_MS = 5000 };

struct rules {
    struct sp_rule *items;
    size_t count;
    size_t cap;
};

struct sp_followed {
    struct sp_serve_rules_source source;
    struct sp_rule_reader *reader;
    struct sp_service service;
    struct rules rules;             /* under the lock, as all below */
    struct sp_followed_stats stats; /* statistics, except `rules` */
    uint64_t version;               /* atomic */
};

static void free_rules(struct rules *rules)
{
    for (size_t i = 0; i < rules->count; i++)
        sp_rule_done(&rules->items[i]);
    sp_free(rules->items);
}

/* Modifies the text. Returns the number of lines that are not rules. */
static size_t read_lines(struct sp_followed *f, char *text, struct rules *rules)
{
    size_t unreadable = 0;
    char *save = NULL;
    for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        sp_grow(&rules->items, &rules->cap, rules->count + 1);
        if (sp_rule_read(f->reader, sp_view_str(line), &rules->items[rules->count]) == SP_OK)
            rules->count++;
        else
            unreadable++;
    }
    return unreadable;
}

static void replace(struct sp_followed *f, struct sp_buf *lines)
{
    struct rules rules = {0};
    sp_buf_put_u8(lines, 0);
    size_t unreadable = read_lines(f, lines->data, &rules);
    pthread_mutex_lock(&f->service.lock);
    struct rules before = f->rules;
    f->rules = rules;
    f->stats.unreadable = unreadable;
    pthread_mutex_unlock(&f->service.lock);
    __atomic_add_fetch(&f->version, 1, __ATOMIC_SEQ_CST);
    free_rules(&before);
}

static enum sp_err read_once(struct sp_followed *f, struct sp_fault *fault)
{
    struct sp_buf lines = {0};
    bool changed = false;
    enum sp_err err = f->source.read(f->source.arg, &lines, &changed, fault);
    if (err == SP_OK && changed)
        replace(f, &lines);
    sp_buf_done(&lines);
    pthread_mutex_lock(&f->service.lock);
    if (err == SP_OK)
        f->stats.read_ms = sp_clock_ms();
    else
        f->stats.failures++;
    pthread_mutex_unlock(&f->service.lock);
    return err;
}

static void *follow(void *arg)
{
    struct sp_followed *f = arg;
    struct sp_fault ignored; /* failures are counted, and the read is repeated */
    while (sp_service_sleep(&f->service, PAUSE_MS))
        read_once(f, &ignored);
    return NULL;
}

enum sp_err sp_followed_start(const struct sp_serve_rules_source *source,
                              struct sp_followed **ret_followed, struct sp_fault *fault)
{
    struct sp_followed *f = sp_calloc(1, sizeof *f);
    f->source = *source;
    f->reader = sp_rule_reader_new();
    sp_service_init(&f->service);
    enum sp_err err = read_once(f, fault);
    if (err == SP_OK)
        err = sp_service_start(&f->service, follow, f, fault);
    if (err == SP_OK)
        *ret_followed = f;
    else
        sp_followed_stop(f);
    return err;
}

void sp_followed_stop(struct sp_followed *f)
{
    if (!f)
        return;
    sp_service_done(&f->service);
    free_rules(&f->rules);
    sp_rule_reader_free(f->reader);
    sp_free(f);
}

uint64_t sp_followed_version(const struct sp_followed *f)
{
    return f ? __atomic_load_n(&f->version, __ATOMIC_SEQ_CST) : 0;
}

void sp_followed_apply(struct sp_followed *f, struct sp_predictor *predictor)
{
    if (!f)
        return;
    pthread_mutex_lock(&f->service.lock);
    sp_predict_take_rules(predictor, f->rules.items, f->rules.count, SP_SERVE_RULE_CONFIDENCE);
    pthread_mutex_unlock(&f->service.lock);
}

void sp_followed_stats(struct sp_followed *f, struct sp_followed_stats *ret_stats)
{
    pthread_mutex_lock(&f->service.lock);
    *ret_stats = f->stats;
    ret_stats->rules = f->rules.count;
    pthread_mutex_unlock(&f->service.lock);
}
