/* Pages and statuses with a schema registry: the ids of the schemas that we write with, and the
 * schemas of pages that others wrote.
 *
 * A process asks at most once for the id of a schema and for the schema of an id; for what the
 * registry does not know it asks again after SP_SCHEMAS_AGAIN_MS. At most
 * SP_SCHEMAS_KEPT schemas are kept, the oldest is replaced. Thread rule: one thread at a time. */
#ifndef SP_KAFKA_SCHEMAS_H
#define SP_KAFKA_SCHEMAS_H

#include "input/input.h"
#include "kafka/client.h"
#include "registry/registry.h"

enum { SP_SCHEMAS_KEPT = 256, SP_SCHEMAS_AGAIN_MS = 60000 };

struct sp_schemas;

/* SP_INVALID: the settings are wrong. `kafka` names the topics and must live as long. */
enum sp_err sp_schemas_new(const struct sp_registry_options *options,
                           const struct sp_kafka_options *kafka, struct sp_schemas **ret_schemas,
                           struct sp_fault *fault);
/* NULL is allowed. */
void sp_schemas_free(struct sp_schemas *s);

/* Whether the registry responds. SP_BUSY: not now; SP_INVALID: it refuses us. */
enum sp_err sp_schemas_reach(struct sp_schemas *s, struct sp_fault *fault);

/* The id of our schema for what is written to SP_TOPIC_PAGES or SP_TOPIC_STATUS: of subject
 * TOPIC-value. Errors as sp_schemas_reach. */
enum sp_err sp_schemas_id(struct sp_schemas *s, enum sp_topic topic, uint32_t *ret_id,
                          struct sp_fault *fault);

/* A page in the registry's framing. Views point into `value`. A bad record, SP_BUSY or SP_INVALID;
 * *ret_why says why, and is valid until the next call. */
enum sp_err sp_schemas_page(struct sp_schemas *s, struct sp_view value,
                            struct sp_page_record *ret_page, const char **ret_why);

#endif
