/* The stages as a worker runs them: bytes in, bytes out, around the pure cores. */
#ifndef SP_KAFKA_STAGES_H
#define SP_KAFKA_STAGES_H

#include "compare/compare.h"
#include "contain/contain.h"
#include "group/group.h"
#include "input/input.h"
#include "kafka/schemas.h"
#include "kafka/worker.h"
#include "text/text.h"

struct sp_stage_options {
    struct sp_text_options text;
    struct sp_input_options input; /* of pages that are JSON; its names are borrowed */
    uint32_t pages_schema_id;      /* at a schema registry; 0: none */
    uint32_t status_schema_id;
    struct sp_schemas *schemas;          /* of a registry that is asked; NULL: the ids above */
    struct sp_group_stage_options group; /* with its map */
    struct sp_compare_stage_options compare;
    struct sp_contain_options contain; /* threshold 0: off */
    size_t contents_cache_bytes;       /* of the contain stage */
    double audit_share; /* of pages whose fetches are copied to the topic audit; 0: none */
};

/* `options` must outlive the stage. */
struct sp_worker_stage sp_stage_signature(const struct sp_stage_options *options);
struct sp_worker_stage sp_stage_group(const struct sp_stage_options *options);
struct sp_worker_stage sp_stage_compare(const struct sp_stage_options *options);
/* Which kept pages are part of larger ones: one instance does it for all pages. */
struct sp_worker_stage sp_stage_contain(const struct sp_stage_options *options);

#endif
