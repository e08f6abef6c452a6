/* The language in which a user says what is redundant.
 *
 * Source: Paudel, Anand, Berberich, "User-Defined Redundancy in Web Archives": a coverage relation
 * is a condition on two documents, made of similarity measures and comparisons of metadata; b
 * covers a if it holds.
 *
 *   condition := condition || condition | condition && condition | ! condition | (condition)
 *              | value OP value              OP: = == != < > <= >=
 *              | value TEST value            TEST: starts_with, ends_with, matches
 *              | value in (value, value, …)  the same as value = value || value = value …
 *              | contains(value, value)
 *   value     := value + - * / value | - value | abs(value) | (value)
 *              | a.FIELD | b.FIELD | containment(x, y) | jaccard(x, y) | dice(x, y)
 *              | 0.7 | "text" | 'text' | 7d 12h 30m 45s 250ms 2w
 *              | 2024-05-01 | 2024-05-01T12:30:00Z
 *
 * The words `and`, `or` and `not` may be written for the three signs. Precedence is that of C,
 * except that ! applies to a whole comparison. A filter (--where) has one document, and its fields
 * have no prefix.
 *
 * Tests compare texts. matches: the second text is a pattern, in which * stands for any bytes and ?
 * for one character. contains: the words of the second text follow one another in the first, as
 * whole words, without regard to the case of ASCII letters; letters, digits and all non-ASCII bytes
 * belong to words.
 *
 * Types: number, text, time, duration, condition. time - time is a duration, time + duration a
 * time, duration / duration a number; only values of one type are compared. Times and durations are
 * in milliseconds; a document without a time counts as of 1970, one without popularity has 0. Each
 * error message has a column and a caret below the place. */
#ifndef SP_RELATION_RELATION_H
#define SP_RELATION_RELATION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/fault.h"

/* name, type */
#define SP_RELATION_FIELDS(X)                                                                      \
    X(url, TEXT)                                                                                   \
    X(host, TEXT)                                                                                  \
    X(timestamp, TIME)                                                                             \
    X(mime, TEXT)                                                                                  \
    X(title, TEXT)                                                                                 \
    X(language, TEXT)                                                                              \
    X(popularity, NUMBER)                                                                          \
    X(length, NUMBER)                                                                              \
    X(shingles, NUMBER)                                                                            \
    X(bytes, NUMBER)                                                                               \
    X(text, TEXT)                                                                                  \
    X(versions, NUMBER)

enum sp_field {
#define X(name, type) SP_FIELD_##name,
    SP_RELATION_FIELDS(X)
#undef X
        SP_FIELD_COUNT
};

enum sp_type { SP_TYPE_NUMBER, SP_TYPE_TEXT, SP_TYPE_TIME, SP_TYPE_DURATION, SP_TYPE_CONDITION };

enum sp_op {
    SP_OP_CONSTANT,
    SP_OP_FIELD,
    SP_OP_CONTAINMENT, /* |x n y| / |x| of its arguments x, y */
    SP_OP_JACCARD,
    SP_OP_DICE,
    SP_OP_MINUS, /* of one value */
    SP_OP_ABS,
    SP_OP_ADD,
    SP_OP_SUBTRACT,
    SP_OP_MULTIPLY,
    SP_OP_DIVIDE,
    SP_OP_EQUAL,
    SP_OP_UNEQUAL,
    SP_OP_LESS,
    SP_OP_GREATER,
    SP_OP_AT_MOST,
    SP_OP_AT_LEAST,
    SP_OP_STARTS_WITH,
    SP_OP_ENDS_WITH,
    SP_OP_MATCHES,
    SP_OP_CONTAINS,
    SP_OP_IN, /* of the lexer only: a tree has = and || instead */
    SP_OP_NOT,
    SP_OP_AND,
    SP_OP_OR
};

static inline bool sp_op_measures(enum sp_op op)
{
    return op >= SP_OP_CONTAINMENT && op <= SP_OP_DICE;
}

static inline bool sp_op_compares(enum sp_op op)
{
    return op >= SP_OP_EQUAL && op <= SP_OP_AT_LEAST;
}

/* Tests of two texts. */
static inline bool sp_op_tests(enum sp_op op)
{
    return op >= SP_OP_STARTS_WITH && op <= SP_OP_CONTAINS;
}

struct sp_node {
    enum sp_op op;
    enum sp_type type;
    uint32_t at; /* its place in the source, in bytes */
    uint32_t len;
    const struct sp_node *kid[2];
    double number;       /* of a constant other than a text */
    struct sp_view text; /* of a text */
    enum sp_field field;
    uint8_t document; /* of a field, or of the first argument of a measure: 0 is a, 1 is b */
    uint8_t uses;     /* bit 0: depends on a's metadata, 1: on b's, 2: on a measure */
};

enum { SP_USES_A = 1, SP_USES_B = 2, SP_USES_MEASURE = 4 };

enum sp_relation_kind {
    SP_RELATION,
    SP_FILTER,
    SP_VALUE /* a number from one document, such as `bytes` or `1 / (1 + popularity)` */
};

struct sp_relation {
    char *source;
    const struct sp_node *root;
    enum sp_relation_kind kind;
    uint32_t fields; /* bit n: field n is used */
    bool symmetric;  /* its form shows that it holds for (b, a) whenever it holds for (a, b) */
    struct sp_node **nodes;
    size_t node_count;
    size_t node_cap;
};

/* Parses a text, which is copied. SP_INVALID: the fault says what is wrong, on several lines; the
 * last has a caret below the place. Thread rule: any thread; a relation is read-only. */
enum sp_err sp_relation_parse(const char *source, enum sp_relation_kind kind,
                              struct sp_relation **ret_relation, struct sp_fault *fault);
/* The same; any field that is not in `allowed` (bits as in struct sp_relation) is refused, and
 * messages list only those that are. */
enum sp_err sp_relation_parse_fields(const char *source, enum sp_relation_kind kind,
                                     uint32_t allowed, struct sp_relation **ret_relation,
                                     struct sp_fault *fault);
/* NULL is allowed. */
void sp_relation_free(struct sp_relation *r);

/* The fields that a node and its kids use, as bits as in struct sp_relation. */
uint32_t sp_relation_fields(const struct sp_node *node);

/* Appends the relation as text with as few parentheses as possible; it parses to the same tree. */
void sp_relation_put(const struct sp_node *node, enum sp_relation_kind kind, struct sp_buf *out);

/* Names as in the language; literals. */
const char *sp_field_name(enum sp_field field);
bool sp_field_is_text(enum sp_field field);
const char *sp_type_name(enum sp_type type);
/* The sign or word of an operation, such as "<="; a literal. */
const char *sp_op_text(enum sp_op op);

/* ---- values ---- */

union sp_cell {
    double number;
    const struct sp_view *text;
};

/* The input of a relation. A filter looks at document[0] only. */
struct sp_relation_pair {
    const union sp_cell *document[2]; /* by slot */
    const uint8_t *slot;              /* of each field; NULL: cells are in order of fields */
    uint32_t size[2];                 /* distinct shingles */
    uint32_t overlap;                 /* shared shingles */
};

/* Evaluate a node of that type; texts are borrowed from the pair or the relation. A page without
 * words resembles nothing, so its measures are 0. Division by zero follows IEEE 754: comparisons
 * with NaN do not hold, except !=. */
bool sp_relation_holds(const struct sp_node *condition, const struct sp_relation_pair *pair);
double sp_relation_number(const struct sp_node *value, const struct sp_relation_pair *pair);
struct sp_view sp_relation_text(const struct sp_node *value, const struct sp_relation_pair *pair);

#endif
