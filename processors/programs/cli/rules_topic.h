/* The compacted topic of rules. A record's key is what the rule is about, its value the line that
 * `samepage rules` prints. Thread rule: any, with a configuration of its own or one that nobody
 * changes. Errors as kafka/table.h. */
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
/* Appends the rules in the topic with at least that confidence, the surest first. */
enum sp_err sp_cli_rules_read(const struct sp_config *config, double confidence, struct sp_buf *out,
                              struct sp_fault *fault);

#endif
