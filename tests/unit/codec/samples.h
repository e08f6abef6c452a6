/* Random messages, pages and status events, reproducible by seed. */
#ifndef SP_TEST_CODEC_SAMPLES_H
#define SP_TEST_CODEC_SAMPLES_H

#include "codec/codec.h"

struct sample {
    uint64_t state; /* splitmix64 */
};

uint64_t sample_u64(struct sample *s);
/* A number from 0 to below - 1. */
uint64_t sample_below(struct sample *s, uint64_t below);
/* A mix of small, large and negative numbers. */
int64_t sample_i64(struct sample *s);
struct sp_group_id sample_group_id(struct sample *s);

/* Fills the fields of this kind consistently; all others stay zero. */
struct sp_message *sample_message(struct sample *s, enum sp_message_kind kind);
bool sample_same_message(const struct sp_message *a, const struct sp_message *b);

/* Texts and content point into static memory. */
struct sp_page_record sample_page(struct sample *s);
bool sample_same_page(const struct sp_page_record *a, const struct sp_page_record *b);
struct sp_status_event sample_status(struct sample *s);
bool sample_same_status(const struct sp_status_event *a, const struct sp_status_event *b);

#endif
