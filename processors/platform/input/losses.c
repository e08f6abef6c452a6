/* See losses.h. */
#include "input/losses.h"

#define UNQUOTED "input.quotes=off reads cells that are never quoted"
#define TO_UTF8 "convert the file: iconv -f WINDOWS-1252 -t UTF-8 FILE, if that is its charset"

static const struct {
    enum sp_err err;
    const char *why;
} losses[SP_LOSSES] = {
    [SP_LOSS_NAME] = {SP_MALFORMED,
                      "the name of a column is longer than 1,024 bytes, or all names together than "
                      "1 MiB"},
    [SP_LOSS_HEAD] = {SP_MALFORMED, "the row that names the columns is not UTF-8; " TO_UTF8},
    [SP_LOSS_CELL] = {SP_TOO_LARGE,
                      "a cell of the table is larger than input.max_record_bytes, or a quotation "
                      "mark is missing; " UNQUOTED},
    [SP_LOSS_ROW] = {SP_TOO_LARGE, "a row of the table is larger than input.max_record_bytes"},
    [SP_LOSS_COLUMNS] = {SP_MALFORMED,
                         "the row has more cells than the table has columns: a cell that contains "
                         "the separator needs quotation marks"},
    [SP_LOSS_UTF8] = {SP_MALFORMED, "the row is not UTF-8; " TO_UTF8},
    [SP_LOSS_QUOTES] = {SP_MALFORMED,
                        "the file ends within quotation marks: one may be missing; " UNQUOTED},
    [SP_LOSS_QUOTE] = {SP_MALFORMED,
                       "a cell of the row begins with a quotation mark and none ends it: reading "
                       "goes on in the next line; " UNQUOTED},
    [SP_LOSS_ARRAY] = {SP_TRUNCATED,
                       "the file ends before the JSON array does: elements may be missing"},
    [SP_LOSS_ELEMENT] = {SP_MALFORMED,
                         "an element of the JSON array is broken, and the rest of the file is not "
                         "read, because nothing says where the next element begins; correct it, or "
                         "write one object a line: jq -c '.[]' FILE"},
    [SP_LOSS_REVISION] = {SP_TOO_LARGE, "a revision is larger than input.max_record_bytes"},
    [SP_LOSS_TITLE] = {SP_MALFORMED,
                       "a title, a time or the wiki's address is longer than 8,192 bytes"},
    [SP_LOSS_STUB] = {SP_MALFORMED,
                      "the revision has no text, although its length is above 0: stub dumps leave "
                      "all texts out; take one with texts, such as pages-articles"},
    [SP_LOSS_XML] = {SP_MALFORMED, "the XML of the dump is damaged"},
};

const char *sp_loss_text(enum sp_loss loss)
{
    return losses[loss].why;
}

const char *sp_loss_of(struct sp_view line, enum sp_err *ret_err)
{
    for (size_t i = 0; i < SP_LOSSES; i++) {
        size_t len = strlen(losses[i].why);
        if (line.len < len || memcmp(line.data, losses[i].why, len) != 0)
            continue;
        *ret_err = losses[i].err;
        return losses[i].why;
    }
    return NULL;
}

bool sp_loss_ends_array(const char *why)
{
    return strcmp(why, losses[SP_LOSS_ELEMENT].why) == 0;
}
