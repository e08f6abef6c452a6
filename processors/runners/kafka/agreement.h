/* Whether the stages of an installation have the same fixed settings. With the offsets that it
 * commits, a stage notes hashes of its own: of all of them, of those that the tiers share, and of
 * those that its signatures depend on. A stage with state compares the first with what its group
 * noted before, because an empty database would take any settings; compare and contain compare the
 * second with the notes of the group stage. The signature stage, which has no state, compares the
 * third with the notes of both tiers. Private to this folder. */
#ifndef SP_KAFKA_AGREEMENT_H
#define SP_KAFKA_AGREEMENT_H

#include <librdkafka/rdkafka.h>
#include <stdbool.h>
#include <stdint.h>

struct sp_agreement {
    uint32_t all;
    uint32_t tiers;
    uint32_t signatures;
    char note[40]; /* all three, as text */
};

/* Of the fixed settings, "key=value", one a line. */
void sp_agreement_of(const char *fingerprint, struct sp_agreement *ret_agreement);
/* Sets the note of an offset to be committed. */
void sp_agreement_note(const struct sp_agreement *agreement, rd_kafka_topic_partition_t *offset);

enum sp_noted {
    SP_NOTED_ELSEWHERE, /* by another program */
    SP_NOTED_SAME,      /* by a samepage with these settings, or with settings that are not noted */
    SP_NOTED_SETTINGS,  /* with other settings */
    SP_NOTED_TIERS,     /* with others that the tiers share */
    SP_NOTED_SIGNATURES, /* with others that signatures depend on */
};
/* By whom a committed offset was noted. */
enum sp_noted sp_agreement_look(const struct sp_agreement *agreement,
                                const rd_kafka_topic_partition_t *offset);

#endif
