/* See asking.h. */
#include "kafka/asking.h"

#include <stdio.h>

#include "base/clock.h"

static void say_missing(const struct sp_asking *a, const char *name)
{
    char text[SP_TOPIC_NAME_MAX + 128];
    snprintf(text, sizeof text,
             "%s: the broker does not know this topic any more; it is asked again for %d s", name,
             SP_ASKING_MOST * SP_ASKING_MS / 1000);
    a->say(a->arg, "warning", text);
}

static enum sp_err ask(struct sp_asking *a, rd_kafka_t *handle, enum sp_topic topic,
                       const char *name, int32_t *ret_count)
{
    bool goes_on = a->goes_on(a->arg);
    enum sp_err err = sp_kafka_partitions(handle, name, ret_count);
    while (err == SP_NOT_FOUND && a->found[topic] && a->count < SP_ASKING_MOST && goes_on) {
        if (a->count++ == 0)
            say_missing(a, name);
        goes_on = sp_clock_pause(SP_ASKING_MS, a->goes_on, a->arg);
        err = sp_kafka_partitions(handle, name, ret_count);
    }
    a->found[topic] |= err == SP_OK;
    return err;
}

enum sp_err sp_asking_partitions(struct sp_asking *asking, rd_kafka_t *handle, enum sp_topic topic,
                                 const char *name, int32_t *ret_count, struct sp_fault *fault)
{
    enum sp_err err = ask(asking, handle, topic, name, ret_count);
    if (err == SP_OK)
        return err;
    if (err == SP_INVALID)
        return sp_fault_set(fault, err, "%s", SP_KAFKA_FORBIDDEN);
    if (err != SP_NOT_FOUND)
        return sp_kafka_no_reply(handle, fault);
    if (!asking->goes_on(asking->arg))
        return sp_fault_set(fault, SP_BUSY, "the process is to stop");
    return sp_fault_set(fault, SP_INVALID,
                        "there is no such topic; `samepage topics create` creates it");
}
