/* Keys and values as in samepage.properties, for a library: those of signatures and similarity. */
#include <stdio.h>
#include <string.h>

#include "config/config.h"
#include "index/internal.h"
#include "settings/settings.h"

static bool is_known(const char *key)
{
    static const char *const groups[] = {"similarity.", "signature.", "text."};
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
        if (strncmp(key, groups[i], strlen(groups[i])) == 0)
            return true;
    return false;
}

static enum sp_err set_all(struct sp_config *config, const char *const *settings,
                           struct sp_fault *fault)
{
    for (size_t i = 0; settings && settings[i]; i += 2) {
        const char *key = settings[i], *value = settings[i + 1];
        if (!value)
            return sp_fault_set(fault, SP_INVALID, "%s has no value", key);
        if (!is_known(key))
            return sp_fault_set(
                fault, SP_INVALID,
                "%s is not a setting of an index; those begin with similarity., signature. or text.",
                key);
        enum sp_err err = sp_config_set(config, sp_view_str(key), sp_view_str(value), fault);
        if (err != SP_OK)
            return err;
    }
    return SP_OK;
}

bool sp_index_settings_read(const char *const *settings, struct sp_index_settings *ret_settings,
                            char *error, size_t size)
{
    struct sp_config config;
    struct sp_fault fault;
    struct sp_index_settings read;
    sp_config_default(&config);
    enum sp_err err = set_all(&config, settings, &fault);
    if (err == SP_OK) {
        sp_settings_text(&config, &read.text);
        sp_settings_similarity(&config, &read.similarity);
        err = sp_similarity_check(&read.similarity, 1, &fault);
    }
    sp_config_done(&config);
    if (err == SP_OK)
        *ret_settings = read;
    else if (size)
        snprintf(error, size, "%s", fault.text);
    return err == SP_OK;
}
