/* The language of a text, by CLD2. */
#ifndef SP_TEXT_LANGUAGE_H
#define SP_TEXT_LANGUAGE_H

#include <stdint.h>

#include "base/bytes.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Two lower-case letters, high byte first ("en" = 0x656e); 0 if it is not clear.
 * text is valid UTF-8 without markup. Thread rule: any thread. */
uint16_t sp_language_detect(struct sp_view text);

#ifdef __cplusplus
}
#endif

#endif
