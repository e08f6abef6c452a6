/* See agreement.h. */
#include "kafka/agreement.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/mem.h"

/* Versions before this note wrote only the name. */
#define NAME "samepage"
enum { NAME_LEN = sizeof NAME - 1, HASH_DIGITS = 8 };

/* A trained map counts by its dictionary. */
static const char *const of_signatures[] = {
    "signature.", "text.", "similarity.method=", "similarity.languages=", "partition.map: "};

static bool is_of_signatures(const char *line)
{
    for (size_t i = 0; i < sizeof of_signatures / sizeof *of_signatures; i++)
        if (strncmp(line, of_signatures[i], strlen(of_signatures[i])) == 0)
            return true;
    return false;
}

void sp_agreement_of(const char *fingerprint, struct sp_agreement *ret_agreement)
{
    struct sp_agreement a;
    struct sp_buf lines = {0};
    for (const char *line = fingerprint; *line;) {
        size_t len = strcspn(line, "\n");
        len += line[len] != '\0';
        if (is_of_signatures(line))
            sp_buf_put(&lines, line, len);
        line += len;
    }
    a.all = (uint32_t)sp_hash64(fingerprint, strlen(fingerprint));
    a.signatures = lines.len ? (uint32_t)sp_hash64(lines.data, lines.len) : 0;
    snprintf(a.note, sizeof a.note, NAME " %08" PRIx32 " %08" PRIx32, a.all, a.signatures);
    sp_buf_done(&lines);
    *ret_agreement = a;
}

void sp_agreement_note(const struct sp_agreement *agreement, rd_kafka_topic_partition_t *offset)
{
    offset->metadata = sp_strdup(agreement->note); /* the list frees it */
    offset->metadata_size = strlen(agreement->note);
}

enum sp_noted sp_agreement_look(const struct sp_agreement *agreement,
                                const rd_kafka_topic_partition_t *offset)
{
    const size_t len = strlen(agreement->note), at = len - HASH_DIGITS;
    const char *note = offset->metadata;
    if (offset->metadata_size < NAME_LEN || memcmp(note, NAME, NAME_LEN) != 0)
        return SP_NOTED_ELSEWHERE;
    if (offset->metadata_size != len || memcmp(note, agreement->note, len) == 0)
        return SP_NOTED_SAME;
    return memcmp(note + at, agreement->note + at, HASH_DIGITS) == 0 ? SP_NOTED_SETTINGS
                                                                     : SP_NOTED_SIGNATURES;
}
