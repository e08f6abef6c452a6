/* links: sp_input sp_base */
/* Any bytes as an ARC file: no crash, no hang, bounded memory; equal items for chunks of any size,
 * and record numbers without gaps. */
#include "input_items.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return input_items_check(data, size, "filedesc://");
}
