/* Why a record of a table or a dump, or the rest of the file, could not be converted to lines
 * (convert.h). A line stands for what was lost; it begins with the reason. Private to this folder.
 */
#ifndef SP_INPUT_LOSSES_H
#define SP_INPUT_LOSSES_H

#include <stdbool.h>

#include "base/bytes.h"
#include "base/err.h"

enum sp_loss {
    SP_LOSS_NAME,
    SP_LOSS_HEAD,
    SP_LOSS_CELL,
    SP_LOSS_ROW,
    SP_LOSS_COLUMNS,
    SP_LOSS_UTF8,
    SP_LOSS_QUOTES,
    SP_LOSS_QUOTE,
    SP_LOSS_ARRAY,
    SP_LOSS_ELEMENT,
    SP_LOSS_REVISION,
    SP_LOSS_TITLE,
    SP_LOSS_STUB,
    SP_LOSS_XML,
    SP_LOSSES
};

/* The reason, a literal. The line may have more behind it. */
const char *sp_loss_text(enum sp_loss loss);
/* The reason, a literal, if the line stands for what was lost, with its error; otherwise NULL, and
 * *ret_err is unchanged. */
const char *sp_loss_of(struct sp_view line, enum sp_err *ret_err);

/* Whether the reason means that elements of a JSON array behind the record were not read. */
bool sp_loss_ends_array(const char *why);

#endif
