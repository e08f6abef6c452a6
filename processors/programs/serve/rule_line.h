/* A line that `samepage rules` prints, read back, by simdjson. */
#ifndef SP_SERVE_RULE_LINE_H
#define SP_SERVE_RULE_LINE_H

#ifdef __cplusplus
extern "C" { /* also for what the headers declare, which is called here */
#endif

#include "base/bytes.h"
#include "base/err.h"
#include "predict/predict.h"

struct sp_rule_reader;

struct sp_rule_reader *sp_rule_reader_new(void);
void sp_rule_reader_free(struct sp_rule_reader *reader);

/* The rule's texts belong to the caller (sp_rule_done); its key is not set. SP_MALFORMED: no rule,
 * and nothing is to be freed. */
enum sp_err sp_rule_read(struct sp_rule_reader *reader, struct sp_view line,
                         struct sp_rule *ret_rule);
void sp_rule_done(struct sp_rule *rule);

#ifdef __cplusplus
}
#endif

#endif
