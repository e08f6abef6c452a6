/* An Avro container file's header and the decoding of its records. Private to this folder. */
#ifndef SP_INPUT_AVRO_H
#define SP_INPUT_AVRO_H

#include "input/input.h"

enum sp_avro_codec { SP_AVRO_NULL, SP_AVRO_DEFLATE, SP_AVRO_ZSTANDARD };

enum { SP_AVRO_SYNC = 16 };

struct sp_avro_file {
    int refs;     /* changed atomically, because other threads free chunks */
    void *schema; /* avro_schema_t; owned */
    enum sp_avro_codec codec;
    unsigned char sync[SP_AVRO_SYNC];
};

/* Parses a schema from which pages can be read: a record with a field `url`. The caller frees it.
 * NULL: it is not such a schema; *ret_why is a literal. */
void *sp_avro_schema_parse(struct sp_view json, const char **ret_why);
void sp_avro_schema_free(void *schema);

/* The bytes of a block that are not yet read, and how many values may still be read from them. */
struct sp_avro_data {
    struct sp_reader bytes;
    uint64_t steps;
};

/* Some values take no bytes (null, a record without fields), so a few hostile bytes could hold
 * billions of them. The limit on values bounds the time. */
static inline struct sp_avro_data sp_avro_data(struct sp_view bytes)
{
    enum { STEPS_MIN = 1 << 20, STEPS_PER_BYTE = 16 };
    return (struct sp_avro_data){sp_reader(bytes),
                                 STEPS_MIN + STEPS_PER_BYTE * (uint64_t)bytes.len};
}

/* Reads one record, written with `schema`. Views point into the data. SP_TRUNCATED, SP_MALFORMED,
 * SP_NO_URL …: the record cannot be read; *ret_why is a literal. */
enum sp_err sp_avro_decode(void *schema, struct sp_avro_data *d, struct sp_page_record *ret_page,
                           const char **ret_why);

#endif
