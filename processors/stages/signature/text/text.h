/* From a page's bytes to the words that count: charset, HTML/Markdown/plain text,
 * boilerplate, words, language. The first half of the signature stage.
 *
 *   bytes --charset--> UTF-8 --scanner--> blocks of text, each main or boilerplate
 *         --words--> folded words --> struct sp_builder --> signature
 *
 * Thread rule: one thread at a time for each struct sp_text; the other functions: any thread. */
#ifndef SP_TEXT_TEXT_H
#define SP_TEXT_TEXT_H

#include "base/bytes.h"
#include "page/builder.h"

enum sp_text_scope {
    SP_TEXT_MAIN, /* the main content; all text if no main content stands out */
    SP_TEXT_ALL   /* everything a reader of the page sees */
};

enum sp_text_format { SP_FORMAT_HTML, SP_FORMAT_MARKDOWN, SP_FORMAT_PLAIN };

/* The format by content type ("text/html; charset=…", "text/markdown", "text/plain",
 * "application/xhtml+xml", …, parameters ignored); if it is empty or unknown, by a look
 * at the first bytes. */
enum sp_text_format sp_text_format(struct sp_view content_type, struct sp_view content);

/* A conversion to UTF-8 can make a text six times as long. Offsets of 32 bits still reach its end.
 */
enum { SP_TEXT_MAX_BYTES = 128 << 20 };

struct sp_text_options {
    enum sp_text_scope scope;
    bool detect_language; /* off: language 0 */
    uint64_t max_bytes;   /* of a page's content no more is read; at most SP_TEXT_MAX_BYTES */
    struct sp_signature_options signature;
};

/* Whether content of this type can have text: HTML, Markdown, plain text, or a type that says
 * nothing. Images, style sheets and the like cannot. */
bool sp_text_readable(struct sp_view content_type);

void sp_text_options_default(struct sp_text_options *ret_options);

/* All scratch memory of one signature thread. */
struct sp_text;

struct sp_text *sp_text_new(const struct sp_text_options *options);
void sp_text_free(struct sp_text *t);

/* Makes the signature of a page. Returns one reference; never NULL. `content_type` may be empty. A
 * BOM names the charset; else the charset parameter, else a meta tag or an XML declaration (behind
 * the first 1,024 bytes: only if the content is not UTF-8). Content
 * without a known charset is read as UTF-8 if it is valid, and otherwise as windows-1252. Invalid
 * bytes become U+FFFD. `is_utf8` skips all of this: the content is in UTF-8. */
struct sp_signature *sp_text_signature(struct sp_text *t, struct sp_view content_type,
                                       struct sp_view content, bool is_utf8);

/* Pages that were longer than max_bytes, and were cut, since the last call. */
uint64_t sp_text_take_cut(struct sp_text *t);

/* Of the page of the last sp_text_signature: how many words its signature was made of. */
uint32_t sp_text_word_count(const struct sp_text *t);

/* Of the page of the last sp_text_signature: appends its title, the text of <title> without the
 * white space around it; nothing if it has none (Markdown and plain text never have one). */
void sp_text_title(const struct sp_text *t, struct sp_buf *out);

/* What sp_builder_first_words (page/builder.h) says of the last signature. The content it was made
 * of must still be there. */
size_t sp_text_first_words(struct sp_text *t, uint64_t **ret_words);

/* The text itself, for people and tests: chosen blocks in order, one a line, UTF-8, entities
 * resolved, original case. Appends to out. */
void sp_text_extract(struct sp_text *t, struct sp_view content_type, struct sp_view content,
                     bool is_utf8, struct sp_buf *out);

#endif
