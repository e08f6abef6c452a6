/* Converts a JSON array of objects to lines: one line for each element, byte for byte, except that
 * newlines between tokens become spaces. Only strings and brackets are recognised (RFC 8259);
 * whether an element is a valid object is left to the parser of lines. Bytes after the array are
 * passed on unchanged. */
#include "base/mem.h"
#include "input/convert.h"
#include "input/losses.h"

struct array {
    uint64_t depth; /* 1: between the elements */
    bool begun;
    bool in_string;
    bool escaped;
    bool inside; /* a part of an element has been written */
    bool over;   /* the array has ended */
    bool cut;    /* the file is damaged, which has a dead letter of its own */
};

static void *make(char separator, const struct sp_input_fields *fields, uint64_t max_record)
{
    (void)separator, (void)fields, (void)max_record;
    return sp_calloc(1, sizeof(struct array));
}

static void end_element(struct array *a, struct sp_buf *out)
{
    if (a->inside)
        sp_buf_put_u8(out, '\n');
    a->inside = false;
}

/* Returns true if the byte belongs to a string. */
static bool string_byte(struct array *a, char c)
{
    if (!a->in_string)
        return false;
    if (a->escaped)
        a->escaped = false;
    else if (c == '\\')
        a->escaped = true;
    else if (c == '"')
        a->in_string = false;
    return true;
}

/* Handles a byte outside of strings; returns whether it is part of an element. */
static bool token_byte(struct array *a, char c, struct sp_buf *out)
{
    switch (c) {
    case '"':
        a->in_string = true;
        return true;
    case '[':
    case '{':
        return a->depth++ > 0;
    case ']':
    case '}':
        if (--a->depth > 0)
            return true;
        end_element(a, out);
        a->over = true;
        return false;
    case ',':
        if (a->depth > 1)
            return true;
        end_element(a, out);
        return false;
    case ' ':
    case '\t':
    case '\r':
    case '\n':
        return a->depth > 1;
    default:
        return true;
    }
}

static void feed(void *state, struct sp_view bytes, struct sp_buf *out)
{
    struct array *a = state;
    for (size_t i = 0; i < bytes.len; i++) {
        char c = bytes.data[i];
        if (a->over) {
            sp_buf_put_u8(out, (uint8_t)c);
            continue;
        }
        if (!a->begun && c != '[')
            continue; /* white space, a byte order mark */
        a->begun = true;
        if (!string_byte(a, c) && !token_byte(a, c, out))
            continue;
        a->inside = true;
        sp_buf_put_u8(out, c == '\n' || c == '\r' ? ' ' : (uint8_t)c);
    }
}

static void cut(void *state)
{
    struct array *a = state;
    a->cut = true;
}

static bool end(void *state, struct sp_buf *out)
{
    struct array *a = state;
    bool missing = a->begun && !a->over && !a->cut;
    if (missing && (a->depth > 1 || a->in_string))
        return true;
    end_element(a, out);
    if (missing) {
        sp_buf_put_str(out, sp_loss_text(SP_LOSS_ARRAY));
        sp_buf_put_u8(out, '\n');
    }
    return false;
}

const struct sp_convert_ops sp_convert_array = {make, sp_free, feed, cut, end};
