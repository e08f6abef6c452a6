/* See rules_topic.h. */
#include "cli/rules_topic.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/kafka_options.h"
#include "cli/progress.h"
#include "serve/rule_line.h"

static const char confidence_field[] = ",\"confidence\":";

/* Appends the key of a rule's record: the part of its line before the counts, which says what the
 * rule is about. */
static void put_key(struct sp_buf *key, const char *line)
{
    const char *end = strstr(line, confidence_field);
    sp_buf_reset(key);
    sp_buf_put(key, line, end ? (size_t)(end - line) : strlen(line));
    sp_buf_put_u8(key, '}');
}

static double confidence_of(const char *line)
{
    const char *at = strstr(line, confidence_field);
    return at ? strtod(at + sizeof confidence_field - 1, NULL) : 0;
}

/* Modifies `lines`. */
static void make_table(char *lines, struct sp_topic_table *ret_table)
{
    struct sp_buf key = {0};
    char *save = NULL;
    for (char *line = strtok_r(lines, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        put_key(&key, line);
        sp_topic_table_put(ret_table, sp_buf_view(&key), sp_view_str(line));
    }
    sp_buf_done(&key);
}

enum sp_err sp_cli_rules_publish(const struct sp_config *config, const struct sp_buf *lines,
                                 struct sp_topic_table *topic, struct sp_topic_changes *ret_changes,
                                 struct sp_fault *fault)
{
    struct sp_topic_table wanted = {0};
    struct sp_kafka_options kafka;
    char *text = sp_view_dup(sp_buf_view(lines));
    sp_cli_kafka_options(config, &kafka);
    make_table(text, &wanted);
    enum sp_err err = sp_topic_table_read(&kafka, SP_TOPIC_RULES, topic, fault);
    if (err == SP_OK)
        err = sp_topic_table_write(&kafka, SP_TOPIC_RULES, topic, &wanted, ret_changes, fault);
    sp_topic_table_done(&wanted);
    sp_free(text);
    return err;
}

static int surest_first(const void *a, const void *b)
{
    const struct sp_topic_row *x = *(struct sp_topic_row *const *)a;
    const struct sp_topic_row *y = *(struct sp_topic_row *const *)b;
    double p = confidence_of(x->value), q = confidence_of(y->value);
    return p != q ? (p < q) - (p > q) : strcmp(x->key, y->key);
}

static bool is_rule(struct sp_rule_reader *reader, const struct sp_topic_row *row)
{
    struct sp_rule rule;
    if (sp_rule_read(reader, sp_view_str(row->value), &rule) != SP_OK)
        return false;
    sp_rule_done(&rule);
    return true;
}

static void note_bad(struct sp_cli_rules_bad *bad, const char *key)
{
    bad->count++;
    if (!bad->first || strcmp(key, bad->first) < 0)
        bad->first = key;
}

void sp_cli_rules_put(const struct sp_topic_table *topic, double confidence, bool all,
                      struct sp_buf *out, struct sp_cli_rules_bad *ret_bad)
{
    const struct sp_topic_row **rows = sp_alloc((topic->rows.count + 1) * sizeof *rows);
    struct sp_rule_reader *reader = sp_rule_reader_new();
    size_t count = 0;
    *ret_bad = (struct sp_cli_rules_bad){0};
    uint64_t cursor = 0;
    for (const struct sp_topic_row *row; (row = sp_map_next(&topic->rows, &cursor));) {
        bool good = is_rule(reader, row);
        if (!good)
            note_bad(ret_bad, row->key);
        if ((good || all) && confidence_of(row->value) >= confidence)
            rows[count++] = row;
    }
    qsort(rows, count, sizeof *rows, surest_first);
    for (size_t i = 0; i < count; i++) {
        sp_buf_put_str(out, rows[i]->value);
        sp_buf_put_u8(out, '\n');
    }
    sp_rule_reader_free(reader);
    sp_free(rows);
}

enum sp_err sp_cli_rules_read(const struct sp_config *config, struct sp_topic_table *topic,
                              struct sp_fault *fault)
{
    struct sp_kafka_options kafka;
    sp_cli_kafka_options(config, &kafka);
    return sp_topic_table_read(&kafka, SP_TOPIC_RULES, topic, fault);
}

void sp_cli_rules_say_bad(const struct sp_config *config, const struct sp_cli_rules_bad *bad)
{
    enum { KEY_BYTES = 200 };
    char name[SP_TOPIC_NAME_MAX], key[KEY_BYTES];
    struct sp_kafka_options kafka;
    if (!bad->count)
        return;
    sp_cli_kafka_options(config, &kafka);
    sp_topic_name(&kafka, SP_TOPIC_RULES, name);
    snprintf(key, sizeof key, "%s", bad->first);
    sp_fault_tame(key);
    fprintf(stderr,
            "samepage: %s: records that are no rules, and were passed over: %s; the first has the "
            "key %s. Another program writes to the topic, or another version of samepage\n",
            name, sp_thousands(bad->count).text, key);
}

/* ---- for a server ---- */

bool sp_cli_rules_learned(void *arg, const struct sp_buf *lines)
{
    struct sp_cli_rules_topic *t = arg;
    struct sp_topic_changes changes;
    struct sp_fault fault;
    uint64_t before = t->topic.records;
    if (sp_cli_rules_publish(t->config, lines, &t->topic, &changes, &fault) != SP_OK) {
        fprintf(stderr, "samepage: the rules are not published: %s; tries again\n", fault.text);
        return false;
    }
    if (changes.written + changes.deleted > 0)
        fprintf(stderr, "samepage: %s rules published, %s deleted; %s records read\n",
                sp_thousands(changes.written).text, sp_thousands(changes.deleted).text,
                sp_thousands(t->topic.records - before).text);
    return true;
}

enum sp_err sp_cli_rules_follow(void *arg, struct sp_buf *lines, bool *ret_changed,
                                struct sp_fault *fault)
{
    struct sp_cli_rules_topic *t = arg;
    struct sp_cli_rules_bad bad;
    enum sp_err err = sp_cli_rules_read(t->config, &t->topic, fault);
    if (err != SP_OK) {
        if (t->seen > 0 && !t->failed) /* the first failure ends the server, which reports it */
            fprintf(stderr, "samepage: the rules cannot be read: %s; tries again\n", fault->text);
        t->failed = true;
        return err;
    }
    if (t->failed)
        fprintf(stderr, "samepage: the rules can be read again\n");
    t->failed = false;
    *ret_changed = t->topic.version != t->seen;
    t->seen = t->topic.version;
    if (!*ret_changed)
        return SP_OK;
    sp_cli_rules_put(&t->topic, 0, true, lines, &bad); /* the server counts them as well */
    if (bad.count != t->bad)
        sp_cli_rules_say_bad(t->config, &bad);
    t->bad = bad.count;
    return SP_OK;
}
