/* The error list of err.h as tables. */
#include "base/err.h"

static const struct {
    const char *name;
    enum sp_err_class class;
    const char *text;
} errors[SP_ERR_COUNT] = {
#define X(n, l, c, t) {#l, SP_CLASS_##c, t},
    SP_ERRORS(X)
#undef X
};

const char *sp_err_text(enum sp_err err)
{
    return (unsigned)err < SP_ERR_COUNT ? errors[err].text : "unknown error";
}

const char *sp_err_name(enum sp_err err)
{
    return (unsigned)err < SP_ERR_COUNT ? errors[err].name : "unknown";
}

enum sp_err_class sp_err_class(enum sp_err err)
{
    return (unsigned)err < SP_ERR_COUNT ? errors[err].class : SP_CLASS_FATAL;
}
