/* See rules_topic.h. */
#include "cli/rules_topic.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/kafka_options.h"
#include "cli/progress.h"

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

static void put_lines(const struct sp_topic_table *t, double confidence, struct sp_buf *out)
{
    const struct sp_topic_row **rows = sp_alloc((t->rows.count + 1) * sizeof *rows);
    size_t count = 0;
    for (size_t i = 0; i < t->rows.cap; i++) {
        const struct sp_topic_row *row = t->rows.cells[i].object;
        if (row && confidence_of(row->value) >= confidence)
            rows[count++] = row;
    }
    qsort(rows, count, sizeof *rows, surest_first);
    for (size_t i = 0; i < count; i++) {
        sp_buf_put_str(out, rows[i]->value);
        sp_buf_put_u8(out, '\n');
    }
    sp_free(rows);
}

enum sp_err sp_cli_rules_read(const struct sp_config *config, struct sp_topic_table *topic,
                              uint64_t seen, double confidence, struct sp_buf *out,
                              struct sp_fault *fault)
{
    struct sp_kafka_options kafka;
    sp_cli_kafka_options(config, &kafka);
    enum sp_err err = sp_topic_table_read(&kafka, SP_TOPIC_RULES, topic, fault);
    if (err == SP_OK && topic->version != seen)
        put_lines(topic, confidence, out);
    return err;
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
    enum sp_err err = sp_cli_rules_read(t->config, &t->topic, t->seen, 0, lines, fault);
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
    return SP_OK;
}
