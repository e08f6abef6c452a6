/* Formats that people are likely to try and that are not read, with advice. */
#include "input/foreign.h"

#include <stdbool.h>
#include <string.h>

#define IN_CHARSET(name) name "; convert it: iconv -f " name " -t UTF-8 FILE | samepage ... -"

/* Whether the first line is only the beginning of a JSON object. No line of JSONL begins with a
 * quotation mark. */
static bool is_spread(struct sp_view head)
{
    size_t at = 1;
    while (at < head.len && head.data[at] && strchr(" \t\r\n", head.data[at]))
        at++;
    return head.len > 0 && head.data[0] == '{' && at < head.len && head.data[at] == '"' &&
           memchr(head.data, '\n', at);
}

const char *sp_input_foreign(struct sp_view head)
{
    static const struct {
        const char *magic;
        size_t len;
        const char *text;
    } formats[] = {
        {"\x04\x22\x4d\x18", 4, "compressed with LZ4; decompress it, or use gzip or Zstandard"},
        {"\xfd"
         "7zXZ",
         5, "compressed with xz; decompress it, or use gzip or Zstandard"},
        {"BZh", 3, "compressed with bzip2; pipe it in: bzcat FILE | samepage ... -"},
        {"PK\x03\x04", 4, "a ZIP archive; unpack it first"},
        {"PAR1", 4, "a Parquet file; `python -m samepage` reads these (the Python package)"},
        {"%PDF-", 5, "a PDF file; make text of it (pdftotext)"},
        {"\xff\xfe\0\0", 4, IN_CHARSET("UTF-32")}, /* begins as UTF-16 does */
        {"\0\0\xfe\xff", 4, IN_CHARSET("UTF-32")},
        {"\xff\xfe", 2, IN_CHARSET("UTF-16")},
        {"\xfe\xff", 2, IN_CHARSET("UTF-16")},
        {"<?xml", 5, "XML, but not the dump of a MediaWiki; other XML is not read"},
    };
    if (is_spread(head))
        return "JSON whose objects take several lines; write each as one line: jq -c . FILE | "
               "samepage ... -";
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (head.len >= formats[i].len && memcmp(head.data, formats[i].magic, formats[i].len) == 0)
            return formats[i].text;
    return NULL;
}
