/* See losses.h. */
#include "input/losses.h"

static const char *const losses[SP_LOSSES] = {
    [SP_LOSS_NAME] = "the name of a column is longer than 1,024 bytes, or all names together than "
                     "1 MiB",
    [SP_LOSS_CELL] = "a cell of the table does not end within input.max_record_bytes: a quotation "
                     "mark may be missing; input.quotes=off reads cells that are never quoted",
    [SP_LOSS_ROW] = "a row of the table is larger than input.max_record_bytes",
    [SP_LOSS_QUOTES] = "the file ends within quotation marks: one may be missing; "
                       "input.quotes=off reads cells that are never quoted",
    [SP_LOSS_REVISION] = "a revision is larger than input.max_record_bytes",
    [SP_LOSS_TITLE] = "a title, a time or the wiki's address is longer than 8,192 bytes",
    [SP_LOSS_XML] = "the XML of the dump is damaged",
};

const char *sp_loss_text(enum sp_loss loss)
{
    return losses[loss];
}

const char *sp_loss_of(struct sp_view line)
{
    for (size_t i = 0; i < SP_LOSSES; i++) {
        size_t len = strlen(losses[i]);
        if (line.len >= len && memcmp(line.data, losses[i], len) == 0)
            return losses[i];
    }
    return NULL;
}
