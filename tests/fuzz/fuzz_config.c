/* links: sp_config sp_base */
/* Any bytes as a settings file: accepted, or refused with the number of the line; never a crash.
 * The fingerprint of accepted settings, read as a settings file, has the same fingerprint. */
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/assert.h"
#include "config/config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void assign_lines(struct sp_config *config, struct sp_view lines)
{
    struct sp_fault fault = {""};
    while (lines.len) {
        size_t len = (size_t)((const char *)memchr(lines.data, '\n', lines.len) - lines.data);
        char *line = sp_view_dup(sp_view(lines.data, len));
        SP_ASSERT(sp_config_assign(config, line, &fault) == SP_OK);
        sp_free(line);
        lines = sp_view(lines.data + len + 1, lines.len - len - 1);
    }
}

static void check_taken(const struct sp_config *config)
{
    struct sp_config again;
    struct sp_buf once = {0}, twice = {0};
    sp_config_default(&again);
    sp_config_fingerprint(config, &once);
    assign_lines(&again, sp_buf_view(&once));
    sp_config_fingerprint(&again, &twice);
    SP_ASSERT(sp_view_eq(sp_buf_view(&once), sp_buf_view(&twice)));
    for (size_t i = 0; i < config->kafka_count; i++)
        SP_ASSERT(*config->kafka[i].key && config->kafka[i].value);
    sp_config_done(&again);
    sp_buf_done(&once);
    sp_buf_done(&twice);
}

/* A setting is text; C would cut it at a NUL, so such bytes are not what was written. */
static bool has_nul_in_setting(struct sp_view text)
{
    while (text.len) {
        const char *stop = memchr(text.data, '\n', text.len);
        size_t len = stop ? (size_t)(stop - text.data) : text.len, at = 0;
        while (at < len && strchr(" \t\v\f\r", text.data[at]) && text.data[at])
            at++;
        if (at < len && text.data[at] != '#' && memchr(text.data, 0, len))
            return true;
        text = sp_view(text.data + len + !!stop, text.len - len - !!stop);
    }
    return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int fd = -1;
    char file[32];
    struct sp_config config;
    struct sp_fault fault = {""};
    if (fd < 0)
        fd = memfd_create("fuzz", MFD_CLOEXEC);
    SP_ASSERT(fd >= 0 && ftruncate(fd, 0) == 0 && pwrite(fd, data, size, 0) == (ssize_t)size);
    snprintf(file, sizeof file, "/proc/self/fd/%d", fd);
    sp_config_default(&config);
    if (sp_config_load(&config, file, &fault) == SP_OK) {
        size_t mark = size >= 3 && memcmp(data, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
        SP_ASSERT(!has_nul_in_setting(sp_view(data + mark, size - mark)));
        check_taken(&config);
    } else {
        size_t len = strlen(file);
        SP_ASSERT(strncmp(fault.text, file, len) == 0 && fault.text[len] == ':');
    }
    sp_config_done(&config);
    return 0;
}
