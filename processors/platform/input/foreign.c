/* Formats that people are likely to try and that are not read, with advice. */
#include "input/foreign.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "input/convert.h"
#include "input/input.h"
#include "input/source.h"

#define IN_CHARSET(name) name "; convert it: iconv -f " name " -t UTF-8 FILE | samepage ... -"

#define ARROW                                                                                        \
    "an Arrow file; write its rows as JSON lines (to_json of the library datasets), or as Parquet, " \
    "which `python -m samepage` reads (the Python package)"

#define IMAGE "an image, which has no text"

#define DAMAGED(format)                                                                            \
    "not a " format                                                                                \
    " file, or its first bytes are damaged; fetch it again, or rename it if it is of "             \
    "another format"

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

/* Whether the first bytes are such characters as all formats begin with, each in `width` bytes, of
 * which that at `place` is not zero. */
static bool is_wide(struct sp_view head, size_t width, size_t place)
{
    enum { CHARACTERS = 4 };
    for (size_t i = 0; i < CHARACTERS * width; i++)
        if (i >= head.len || (head.data[i] != 0) != (i % width == place))
            return false;
    return true;
}

/* Whether lines end in CR alone, which cannot be within a JSON string. */
static bool ends_lines_in_cr(struct sp_view head)
{
    return head.len > 0 && head.data[0] == '{' && !memchr(head.data, '\n', head.len) &&
           memmem(head.data, head.len, "}\r{\"", 4);
}

/* Whether the first object is the log of a HAR file (HTTP Archive 1.2), in one line or in many. */
static bool is_har(struct sp_view head)
{
    static const char start[] = "{\"log\":{\"";
    size_t at = 0;
    for (size_t i = 0; i < head.len && at < sizeof start - 1; i++)
        if (head.data[i] == start[at])
            at++;
        else if (!strchr(" \t\r\n", head.data[i]))
            return false;
    return at == sizeof start - 1 && memmem(head.data, head.len, "\"creator\"", 9);
}

/* Whether it is XML or HTML. A file of JSON lines may have a bad first line. */
static bool is_markup(struct sp_view head)
{
    struct sp_view start = sp_convert_start(head);
    return start.len > 0 && start.data[0] == '<' && !memmem(start.data, start.len, "\n{\"", 3);
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
        {"\x1f\x8b\x08", 3, "compressed twice; decompress it once: zcat FILE > ANOTHER"},
        {"\x28\xb5\x2f\xfd", 4, "compressed twice; decompress it once: zstdcat FILE > ANOTHER"},
        {"\x1f\x8b", 2, DAMAGED("gzip")},
        {"PK\x03\x04", 4, "a ZIP archive; unpack it first"},
        {"PK\x05\x06", 4, "an empty ZIP archive"},
        {"PAR1", 4, "a Parquet file; `python -m samepage` reads these (the Python package)"},
        {"ARROW1", 6, ARROW},
        {"\xff\xff\xff\xff", 4, ARROW}, /* a stream, as the library datasets writes it */
        {"ORC", 3, "an ORC file; write its rows as JSON lines, or as Parquet"},
        {"SQLite format 3", 16,
         "an SQLite database; make lines of a table: sqlite3 -json FILE 'SELECT ...' | jq -c '.[]' | "
         "samepage ... -"},
        {"7z\xbc\xaf\x27\x1c", 6, "a 7z archive; unpack it first"},
        {"Rar!\x1a\x07", 6, "a RAR archive; unpack it first"},
        {"\x89PNG\r\n", 6, IMAGE},
        {"\xff\xd8\xff", 3, IMAGE},
        {"GIF8", 4, IMAGE},
        {"\xd0\xcf\x11\xe0", 4, "a file of Microsoft Office; save it as text"},
        {"%PDF-", 5, "a PDF file; make text of it (pdftotext)"},
        {"\xff\xfe\0\0", 4, IN_CHARSET("UTF-32")}, /* begins as UTF-16 does */
        {"\0\0\xfe\xff", 4, IN_CHARSET("UTF-32")},
        {"\xff\xfe", 2, IN_CHARSET("UTF-16")},
        {"\xfe\xff", 2, IN_CHARSET("UTF-16")},
        {"From ", 5, "a mailbox; make a file of text or a JSON line of each message"},
    };
    if (is_har(head))
        return "a HAR file; make lines of it: jq -c '.log.entries[] | {url: .request.url, http_status: "
               ".response.status, redirect_url: .response.redirectURL, content_type: "
               ".response.content.mimeType, content: (.response.content.text // \"\")}' FILE";
    if (is_spread(head))
        return "JSON whose objects take several lines; write each as one line: jq -c . FILE | "
               "samepage ... -, or jq -c '.NAME[]' if they are in a list of that name";
    if (ends_lines_in_cr(head))
        return "JSON whose lines end in CR alone; convert it: tr '\\r' '\\n' < FILE | samepage ... -";
    if (is_wide(head, 2, 0))
        return IN_CHARSET("UTF-16LE");
    if (is_wide(head, 2, 1))
        return IN_CHARSET("UTF-16BE");
    if (is_wide(head, 4, 0))
        return IN_CHARSET("UTF-32LE");
    if (is_wide(head, 4, 3))
        return IN_CHARSET("UTF-32BE");
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (head.len >= formats[i].len && memcmp(head.data, formats[i].magic, formats[i].len) == 0)
            return formats[i].text;
    return NULL;
}

static bool ends_in(struct sp_view name, const char *suffix)
{
    size_t n = strlen(suffix);
    return name.len >= n && strncasecmp(name.data + name.len - n, suffix, n) == 0;
}

static bool is_text(struct sp_view head)
{
    enum { LOOKED_AT = 64 };
    for (size_t i = 0; i < head.len && i < LOOKED_AT; i++) {
        unsigned char c = (unsigned char)head.data[i];
        if (c < 0x20 && (c == 0 || !strchr("\t\n\f\r\x1b", c)))
            return false;
    }
    return true;
}

static bool begins_as_json(struct sp_view head)
{
    struct sp_view start = sp_convert_start(head);
    return start.len > 0 && start.data[0] == '{';
}

static bool is_text_name(struct sp_view name)
{
    char *copy = sp_view_dup(name);
    bool text = sp_input_text_type(copy);
    sp_free(copy);
    return text;
}

const char *sp_input_misnamed(struct sp_view head, const char *name, bool packed)
{
    static const char *const archives[] = {".warc", ".wet", ".wat"};
    struct sp_view base = sp_view_str(name);
    bool gzip = ends_in(base, ".gz"), zstandard = ends_in(base, ".zst");
    if (head.len == 0)
        return NULL;
    /* Programs that download files decompress them and keep the name. */
    if ((gzip || zstandard) && !packed && !is_text(head))
        return gzip ? DAMAGED("gzip") : DAMAGED("Zstandard");
    base.len -= gzip ? 3 : zstandard ? 4 : 0;
    if (packed && is_text_name(base) && !begins_as_json(head))
        return "a packed text or page; unpack it";
    for (size_t i = 0; i < sizeof archives / sizeof *archives; i++)
        if (ends_in(base, archives[i]) && !begins_as_json(head))
            return DAMAGED("WARC");
    if (is_markup(head))
        return "XML or HTML, but not the dump of a MediaWiki; other XML is not read, and the names of "
               "HTML files must end in .html or .htm";
    return NULL;
}

bool sp_input_is_other_xml(const char *file)
{
    struct sp_source *source;
    struct sp_fault fault;
    char bytes[1 << 12];
    size_t len = 0, n = 0;
    if (sp_source_open(file, &source, &fault) != SP_OK)
        return false;
    do
        len += n;
    while (len < sizeof bytes &&
           sp_source_read(source, bytes + len, sizeof bytes - len, &n) == SP_OK && n > 0);
    sp_source_close(source);
    struct sp_view head = sp_view(bytes, len);
    return is_markup(head) && !memmem(bytes, len, "<mediawiki", 10);
}
