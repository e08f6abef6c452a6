/* Like uses.c, for the index and the filter. */
#include <samepage/filter.h>
#include <samepage/index.h>

#include <stdio.h>
#include <string.h>

int main(void)
{
    static const char text[] = "one two three four five six seven eight";
    char error[256] = "";
    uint32_t document;
    struct samepage_match match;
    struct samepage_reader *reader = samepage_reader_new(NULL, error, sizeof error);
    struct samepage_index *index = samepage_index_new(NULL, error, sizeof error);
    struct samepage_filter *filter = samepage_filter_new(0.8, 0);
    if (!reader || !index || !filter)
        return 1;
    struct samepage_signature *signature = samepage_read(reader, text, strlen(text), "text/plain");
    if (samepage_index_add(index, signature, &document) != SAMEPAGE_INDEX_OK ||
        samepage_index_nearest(index, signature, &match) != 1 || match.document != document)
        return 2;
    samepage_signature_free(signature);
    samepage_index_free(index);
    samepage_reader_free(reader);
    samepage_filter_free(filter);
    printf("good, version %s\n", samepage_index_version());
    return 0;
}
