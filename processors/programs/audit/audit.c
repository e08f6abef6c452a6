/* See audit.h: the steps in their order. */
#include "audit/internal.h"

enum sp_err sp_audit(const struct sp_audit_options *options, struct sp_audit_result *ret_result,
                     struct sp_fault *fault)
{
    struct sp_audit a = {.options = options, .result = ret_result};
    *ret_result = (struct sp_audit_result){0};
    enum sp_err err = sp_audit_read(&a, fault);
    if (err == SP_OK)
        err = sp_audit_lists(&a, fault);
    if (err == SP_OK)
        err = sp_audit_judge(&a, fault);
    if (err == SP_OK && options->report)
        err = sp_audit_page(&a, fault);
    if (err == SP_OK && options->json)
        err = sp_audit_summary(&a, fault);
    sp_audit_documents_done(&a);
    return err;
}
