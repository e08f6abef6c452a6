/* Converts a JSON array of objects to lines: one line for each element, byte for byte, except that
 * newlines between tokens become spaces. Only strings and brackets are recognised (RFC 8259);
 * whether an element is a valid object is left to the parser of lines. Bytes after the array are
 * passed on unchanged.
 *
 * After a quotation mark or a bracket too few or too many, what is a string and what is not is
 * unknown. It is noticed because a string then stands where none can. Reading goes on at the bytes
 * that begin each element, with the separator before them and the name of the first field. A string
 * cannot hold these, as its quotation marks are escaped; objects within elements could, so there
 * must be none, unless separators show which of them is an element. The white space before the
 * first element is that of the separators if it holds a newline, as pretty-printers write it. */
#include <inttypes.h>
#include <stdio.h>

#include "base/mem.h"
#include "input/convert.h"
#include "input/losses.h"

enum { START_MAX = 256 };

struct array {
    struct sp_buf start; /* how an element begins, from the comma before it to its first name */
    bool started;        /* `start` is complete */
    bool guessed;      /* `start` is from the first element, where a bracket stands for the comma */
    size_t start_open; /* the place of the brace in it */
    size_t matched;    /* bytes of it that were just read */
    char before;       /* the last byte outside of strings that was no white space */
    bool nested;       /* an element holds another object */
    bool object;       /* the element is one */
    bool broken;       /* the element is */
    bool stopped;      /* the rest is not read */
    uint64_t at;       /* bytes taken */
    uint64_t elements; /* that have begun */
    uint64_t element_at;
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

static void release(void *state)
{
    struct array *a = state;
    sp_buf_done(&a->start);
    sp_free(a);
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* Takes the bytes between the first element that is followed by another and the end of the first
 * name in that one; until then, those before the first element. */
static void learn_start(struct array *a, char c)
{
    bool blank = is_space(c), bracket = a->depth == 0;
    bool comma = a->depth == 1 && !a->in_string && c == ',';
    if (a->guessed && comma)
        a->started = false;
    if (a->started || a->start.len >= START_MAX)
        return;
    if (bracket || (a->depth == 1 && !blank && c != '{'))
        sp_buf_reset(&a->start);
    if (!bracket && !comma && a->start.len == 0)
        return;
    if (bracket || comma)
        a->guessed = bracket;
    if (a->depth == 1 && c == '{')
        a->start_open = a->start.len;
    sp_buf_put_u8(&a->start, bracket ? ',' : (uint8_t)c);
    a->started = a->in_string && c == '"';
    if (a->depth == 2 && !a->in_string && c != '"' && !blank)
        sp_buf_reset(&a->start); /* no object that begins with a name */
}

/* Whether another object cannot begin as an element does. Whether elements hold objects is not
 * known of a broken one. */
static bool start_is_unique(const struct array *a)
{
    const char *brace = a->start.data + a->start_open;
    bool own_line = memchr(a->start.data, '\n', a->start_open) != NULL;
    bool indented = brace[-1] == ' ' || brace[-1] == '\t';
    bool spread = memchr(brace, '\n', a->start.len - a->start_open) != NULL;
    return (!a->nested && !a->guessed) || (own_line && (indented || !spread));
}

/* Whether the byte cannot stand here, outside of strings, in an array of objects. */
static bool is_misplaced(const struct array *a, char c)
{
    char b = a->before;
    if (a->depth < 2 || is_space(c))
        return false;
    if (b == '"' && !strchr(",:]}", c))
        return true;
    if (c == '"' && !strchr("{[,:", b))
        return true;
    return a->depth == 2 && a->object && (c == '{' || c == '[') && b != ':';
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
        a->nested |= c == '{' && a->depth > 1 && !a->broken;
        return a->depth++ > 0;
    case '}':
        if (a->depth == 1) /* one too many */
            return true;
        a->depth--;
        return true;
    case ']':
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

/* Says that the rest is not read. */
static void stop(struct array *a, struct sp_buf *out)
{
    enum { NOTE_MAX = 512 };
    char note[NOTE_MAX];
    end_element(a, out);
    snprintf(note, sizeof note,
             "%s; it is number %" PRIu64 " of the elements, from 1, and begins at byte %" PRIu64
             " of the file; those before it were read\n",
             sp_loss_text(SP_LOSS_ELEMENT), a->elements, a->element_at);
    sp_buf_put_str(out, note);
    a->stopped = true;
}

/* Goes on as if the bytes of `start` had just begun an element. */
static void resume(struct array *a, struct sp_buf *out)
{
    end_element(a, out);
    for (size_t i = a->start_open; i < a->start.len; i++)
        sp_buf_put_u8(out, is_space(a->start.data[i]) ? ' ' : (uint8_t)a->start.data[i]);
    a->elements++;
    a->element_at = a->at - (a->start.len - a->start_open);
    a->broken = a->in_string = a->escaped = false;
    a->inside = true;
    a->depth = 2;
    a->before = '"';
    a->matched = 0;
}

/* Looks for the start of an element; true if the byte completed it. */
static bool match_start(struct array *a, char c)
{
    if (!a->started)
        return false;
    if (a->matched > 0 && a->start.data[a->matched] != c)
        a->matched = 0;
    if (a->start.data[a->matched] == c)
        a->matched++;
    if (a->matched < a->start.len)
        return false;
    a->matched = 0;
    return true;
}

static void feed_byte(struct array *a, char c, struct sp_buf *out)
{
    bool part;
    learn_start(a, c);
    a->at++;
    bool started = match_start(a, c);
    if (a->broken && started && start_is_unique(a)) {
        resume(a, out);
        return;
    }
    if (a->in_string) {
        part = string_byte(a, c);
        if (!a->in_string)
            a->before = '"';
    } else {
        a->broken |= is_misplaced(a, c);
        if (a->depth == 1 && (c == '{' || c == '[')) {
            a->object = c == '{';
            a->elements++;
            a->element_at = a->at - 1;
        }
        part = a->broken || token_byte(a, c, out);
        a->before = is_space(c) ? a->before : c;
    }
    if (part) {
        a->inside = true;
        sp_buf_put_u8(out, c == '\n' || c == '\r' ? ' ' : (uint8_t)c);
    }
    if (a->broken && (!a->started || !start_is_unique(a)))
        stop(a, out);
}

/* How many bytes within a string neither end it nor may begin `start`, which has a comma first. */
static size_t plain_bytes(const struct array *a, struct sp_view bytes)
{
    size_t n = 0;
    if (!a->in_string || a->escaped || a->matched > 0 || (a->start.len > 0 && !a->started))
        return 0;
    while (n < bytes.len && bytes.data[n] != '"' && bytes.data[n] != '\\' && bytes.data[n] != ',' &&
           bytes.data[n] != '\n' && bytes.data[n] != '\r')
        n++;
    return n;
}

static void feed(void *state, struct sp_view bytes, struct sp_buf *out)
{
    struct array *a = state;
    for (size_t i = 0; i < bytes.len && !a->stopped; i++) {
        char c = bytes.data[i];
        if (a->over) {
            sp_buf_put_u8(out, (uint8_t)c);
            continue;
        }
        if (!a->begun && c != '[') {
            a->at++; /* white space, a byte order mark */
            continue;
        }
        a->begun = true;
        size_t plain = plain_bytes(a, sp_view(bytes.data + i, bytes.len - i));
        if (plain > 0) {
            sp_buf_put(out, bytes.data + i, plain);
            a->at += plain;
            i += plain - 1;
            continue;
        }
        feed_byte(a, c, out);
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
    bool missing = a->begun && !a->over && !a->cut && !a->stopped;
    if (missing && a->broken) {
        stop(a, out);
        return false;
    }
    if (missing && (a->depth > 1 || a->in_string))
        return true;
    end_element(a, out);
    if (missing) {
        sp_buf_put_str(out, sp_loss_text(SP_LOSS_ARRAY));
        sp_buf_put_u8(out, '\n');
    }
    return false;
}

const struct sp_convert_ops sp_convert_array = {make, release, feed, cut, end};
