/* Shared by the lexer, the parser and the type check. Private to this folder. */
#ifndef SP_RELATION_PARSE_H
#define SP_RELATION_PARSE_H

#include "relation/relation.h"

enum sp_token {
    SP_TOKEN_END,
    SP_TOKEN_NUMBER,
    SP_TOKEN_DURATION,
    SP_TOKEN_TIME,
    SP_TOKEN_TEXT,
    SP_TOKEN_NAME,
    SP_TOKEN_OP,    /* op says which */
    SP_TOKEN_PUNCT, /* ( ) , . */
    SP_TOKEN_BAD    /* the lexer has reported why */
};

struct sp_lexer {
    const char *source;
    size_t len;
    size_t next; /* just after the current token */
    enum sp_token token;
    size_t at; /* of the current token */
    enum sp_op op;
    double number;
    struct sp_buf text; /* value of a text token, without quotes and escapes */
    bool failed;
    size_t error_at;
    size_t error_len;
    char error[512];
};

/* Reads the next token. */
void sp_lexer_next(struct sp_lexer *l);

/* Reports a mistake; only the first one is kept. */
void sp_lexer_fail(struct sp_lexer *l, size_t at, size_t len, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Sets the type and `uses` of a node from its kids. On a type error reports it and returns
 * false. */
bool sp_node_check(struct sp_lexer *l, struct sp_node *n);

/* Whether the form of a condition shows that it holds for (b, a) whenever it holds for (a, b): it
 * stays the same if a and b change places, up to the order of = != + * && || and of the arguments
 * of jaccard and dice, and to parentheses within a chain of && or ||. */
bool sp_node_is_symmetric(const struct sp_node *condition);

#endif
