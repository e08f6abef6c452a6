/* See topics.h. The topics and their retention:
 *
 *   pages, dead-letter   logs, deleted after a month
 *   tier1, tier2,
 *   contain              the same; never deleted by size, because nothing may go before it is read
 *   status               compacted, keyed by URL: the last event of each is kept
 *   rules                compacted, keyed by what the rule is about
 *   audit                compacted and deleted after a month, keyed by page: its last sampled fetch
 *   changelogs           compacted, one partition for each of their stage's input */
#include "kafka/topics.h"

/* Nothing is lost in a standstill shorter than this, and local state that was unused for less can
 * be trusted: compaction has not yet removed the deletions made meanwhile. */
static const char MONTH_MS[] = "2592000000";
static const char MESSAGE_BYTES[] = "20000000";

static void add(struct sp_topic_description *t, const char *key, const char *value)
{
    t->entries[t->entry_count++] = (struct sp_topic_entry){key, value};
}

void sp_topics_describe(const struct sp_kafka_options *o, const struct sp_topic_plan *plan,
                        struct sp_topic_description ret_topics[SP_TOPICS])
{
    const int32_t partitions[SP_TOPICS] = {plan->pages_partitions,
                                           plan->tier1_partitions,
                                           plan->tier2_partitions,
                                           plan->status_partitions,
                                           1,
                                           plan->tier1_partitions,
                                           plan->tier2_partitions,
                                           1,
                                           1,
                                           1,
                                           1};
    for (int i = 0; i < SP_TOPICS; i++) {
        bool compacted = i == SP_TOPIC_STATUS || i == SP_TOPIC_TIER1_CHANGELOG ||
                         i == SP_TOPIC_TIER2_CHANGELOG || i == SP_TOPIC_CONTAIN_CHANGELOG ||
                         i == SP_TOPIC_RULES;
        struct sp_topic_description *t = &ret_topics[i];
        *t = (struct sp_topic_description){.partitions = partitions[i],
                                           .replicas = plan->replication};
        sp_topic_name(o, (enum sp_topic)i, t->name);
        add(t, "cleanup.policy",
            compacted             ? "compact"
            : i == SP_TOPIC_AUDIT ? "compact,delete"
                                  : "delete");
        add(t, compacted ? "delete.retention.ms" : "retention.ms", MONTH_MS);
        if (i == SP_TOPIC_TIER1 || i == SP_TOPIC_TIER2 || i == SP_TOPIC_CONTAIN)
            add(t, "retention.bytes", "-1");
        /* Otherwise the retention counts from the time that the sender gave, and a message with an
         * old one, of a replayed archive or a wrong clock, is deleted before it is read. */
        if (!compacted)
            add(t, "message.timestamp.type", "LogAppendTime");
        add(t, "max.message.bytes", MESSAGE_BYTES);
        add(t, "min.insync.replicas", plan->replication >= 3 ? "2" : "1");
    }
}
