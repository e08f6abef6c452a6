/* The main function of a fuzzer without libFuzzer: runs it on each file of a folder (its corpus).
 * Fails if the folder is missing or empty; a finding aborts after printing the file's name. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool read_file(const char *path, struct sp_buf *out)
{
    FILE *f = fopen(path, "rb");
    if (!f)
        return false;
    sp_buf_reset(out);
    for (size_t n = 1; n > 0; out->len += n)
        n = fread(sp_buf_reserve(out, 1 << 16), 1, 1 << 16, f);
    bool good = !ferror(f);
    fclose(f);
    return good;
}

static bool replay(const char *path, struct sp_buf *buf)
{
    /* A copy of the exact size, so that a sanitizer sees a read beyond the end. */
    if (!read_file(path, buf))
        return false;
    uint8_t *data = sp_memdup(buf->data, buf->len);
    LLVMFuzzerTestOneInput(data, buf->len);
    sp_free(data);
    return true;
}

int main(int argc, char **argv)
{
    DIR *folder = argc == 2 ? opendir(argv[1]) : NULL;
    struct sp_buf buf = {0};
    unsigned inputs = 0, unread = 0;
    if (!folder) {
        fprintf(stderr, "usage: %s FOLDER: one that can be read\n", argv[0]);
        return 1;
    }
    for (const struct dirent *e; (e = readdir(folder));) {
        char path[4096];
        if (e->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/%s", argv[1], e->d_name);
        fprintf(stderr, "%s\n", path);
        if (replay(path, &buf))
            inputs++;
        else
            unread++;
    }
    closedir(folder);
    sp_buf_done(&buf);
    printf("%u inputs replayed, %u could not be read\n", inputs, unread);
    return inputs > 0 && unread == 0 ? 0 : 1;
}
