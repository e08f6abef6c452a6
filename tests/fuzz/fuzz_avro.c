/* links: sp_input sp_base */
/* Any bytes as an Avro container file: no crash, no hang, bounded memory; equal items for chunks of
 * any size, and record numbers without gaps. */
#include "input_items.h"

const char *__lsan_default_suppressions(void);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* avro-c leaks a record type whose name is taken when it refuses the schema: some hundred bytes,
 * once a file. */
const char *__lsan_default_suppressions(void)
{
    return "leak:libavro.so";
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return input_items_check(data, size, "Obj\1");
}
