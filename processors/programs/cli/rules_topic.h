/* The compacted topic of rules. A record's key is what the rule is about, its value the line that
 * `samepage rules` prints. Thread rule: any thread, if its configuration is not changed by another.
 * Errors as kafka/table.h. */
#ifndef SP_CLI_RULES_TOPIC_H
#define SP_CLI_RULES_TOPIC_H

#include "config/config.h"
#include "kafka/table.h"

/* Makes the topic equal to these rules, a line each. `topic` is what was read of it before, or all
 * zero; with the same table each time, a publication reads and writes only what has changed. The
 * table takes the memory of all rules in the topic. Idempotent: after a failure call it again. */
enum sp_err sp_cli_rules_publish(const struct sp_config *config, const struct sp_buf *lines,
                                 struct sp_topic_table *topic, struct sp_topic_changes *ret_changes,
                                 struct sp_fault *fault);

/* The records of the topic that are no rules. */
struct sp_cli_rules_bad {
    uint64_t count;
    const char *first; /* its key, of the table; NULL: there are none */
};

/* Reads the topic to its end. */
enum sp_err sp_cli_rules_read(const struct sp_config *config, struct sp_topic_table *topic,
                              struct sp_fault *fault);
/* Appends the table's rules with at least that confidence, the surest first. `all`: also records
 * that are no rules. */
void sp_cli_rules_put(const struct sp_topic_table *topic, double confidence, bool all,
                      struct sp_buf *out, struct sp_cli_rules_bad *ret_bad);
/* On standard error, if there are any. */
void sp_cli_rules_say_bad(const struct sp_config *config, const struct sp_cli_rules_bad *bad);

/* The topic as a server uses it, through callbacks from one of the server's threads, which say on
 * standard error what happens. The caller ends the table. */
struct sp_cli_rules_topic {
    const struct sp_config *config;
    struct sp_topic_table topic;
    uint64_t seen; /* version of the table that the server has */
    uint64_t bad;  /* records that are no rules, when that was last said */
    bool failed;   /* the last reading */
};

/* `learned` of serve/serve.h: publishes the rules. */
bool sp_cli_rules_learned(void *arg, const struct sp_buf *lines);
/* `read` of struct sp_serve_rules_source. */
enum sp_err sp_cli_rules_follow(void *arg, struct sp_buf *lines, bool *ret_changed,
                                struct sp_fault *fault);

#endif
