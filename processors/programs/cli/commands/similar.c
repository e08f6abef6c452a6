/* samepage similar: compares two files and explains the verdict. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/assert.h"
#include "base/mem.h"
#include "base/names.h"
#include "cli/cli.h"
#include "cli/progress.h"
#include "cli/settings.h"
#include "input/input.h"
#include "input/source.h"
#include "partition/partition.h"

struct document {
    const char *name;
    struct sp_buf content;
    struct sp_signature *signature;
    bool cut; /* only its first text.max_bytes were compared */
};

/* At most `most` bytes, and one more if there are more. */
static enum sp_err read_source(struct sp_source *source, const char *name, size_t most,
                               struct sp_buf *out, struct sp_fault *fault)
{
    enum { BLOCK = 1 << 16 };
    for (size_t n = 1; n > 0 && out->len <= most; out->len += n) {
        size_t room = most + 1 - out->len < BLOCK ? most + 1 - out->len : BLOCK;
        enum sp_err err = sp_source_read(source, sp_buf_reserve(out, BLOCK), room, &n);
        if (err == SP_IO)
            return sp_fault_set(fault, err, "%s: cannot be read: %s", name, strerror(errno));
        if (err != SP_OK)
            return sp_fault_set(fault, err, "%s: %s", name, sp_source_why(source));
    }
    if (out->len > most)
        return sp_fault_set(fault, SP_TOO_LARGE, "%s: is longer than input.max_record_bytes", name);
    return SP_OK;
}

static enum sp_err read_file(const char *name, size_t most, struct sp_buf *out,
                             struct sp_fault *fault)
{
    struct stat file;
    struct sp_source *source;
    if (stat(name, &file) == 0 && S_ISDIR(file.st_mode))
        return sp_fault_set(fault, SP_INVALID, "%s: is a folder; name a file", name);
    enum sp_err err = sp_source_open(name, &source, fault);
    if (err == SP_OK) {
        err = read_source(source, name, most, out, fault);
        sp_source_close(source);
    }
    return err;
}

/* The type that the name says, as for the inputs of other commands; "": the bytes decide. */
static struct sp_view content_type(const char *name)
{
    char *unpacked = sp_strdup(name);
    if (sp_names_end_with(name, ".gz") || sp_names_end_with(name, ".zst"))
        *strrchr(unpacked, '.') = 0;
    const char *type = sp_input_text_type(unpacked);
    sp_free(unpacked);
    return sp_view_str(type ? type : "");
}

static void print_language(uint16_t language)
{
    if (language)
        printf("%c%c", language >> 8, language & 0xff);
    else
        printf("unknown");
}

/* Whether F is decided by J, perhaps with a second opinion. */
static bool is_set_method(enum sp_method method)
{
    const struct sp_method_info *m = sp_method_info(method);
    return m->jaccard && m->features != SP_FEATURES_SENTENCE_SEQUENCE;
}

static void print_document(const char *label, const struct document *d, enum sp_method method)
{
    static const char *const names[] = {[SP_FEATURES_SHINGLES] = "shingle",
                                        [SP_FEATURES_WORDS] = "distinct word",
                                        [SP_FEATURES_SENTENCES] = "sentence",
                                        [SP_FEATURES_SENTENCE_SEQUENCE] = "sentence"};
    static const char *const formats[] = {"HTML", "Markdown", "plain text"};
    const char *features = names[sp_method_info(method)->features];
    const struct sp_signature *s = d->signature;
    SP_ASSERT(s);
    printf("%s  %s\n", label, d->name);
    printf("   %s, %s %s%s",
           formats[sp_text_format(content_type(d->name), sp_buf_view(&d->content))],
           sp_thousands(s->shingle_total).text, features, s->shingle_total == 1 ? "" : "s");
    if (is_set_method(method))
        printf(", lengths (%u, %u, %u)", s->length[0], s->length[1], s->length[2]);
    printf(", language ");
    print_language(s->language);
    if (s->shingle_count > 0 && s->shingle_count < s->shingle_total) /* a simhash keeps none */
        printf(", %u smallest %ss kept", s->shingle_count, features);
    puts(d->cut ? ", cut at text.max_bytes" : "");
}

static void print_jaccard(const struct sp_similarity_options *o, const struct sp_signature *a,
                          const struct sp_signature *b)
{
    bool capped = a->shingle_count < a->shingle_total || b->shingle_count < b->shingle_total;
    printf("\nJaccard similarity     %.4f   %s of the %s\n", sp_jaccard(a, b),
           capped ? "estimated from samples" : "exact, over all",
           sp_method_info(o->method)->features == SP_FEATURES_SHINGLES ? "5-shingles"
                                                                       : "stemmed sentences");
    printf("length bound           %.4f   no similarity of pages of these lengths exceeds it\n",
           sp_length_bound(a->length, b->length));
    printf("threshold              %.4f\n", o->threshold);
    if (o->method == SP_METHOD_COMBINED)
        printf(
            "sentences (LCS ratio)  %.4f   at least %.2f needed if the similarity is below %.4f\n",
            sp_lcs_ratio(a, b), o->lcs_min, o->threshold + o->band);
}

static void print_measure(const struct sp_similarity_options *o, const struct sp_signature *a,
                          const struct sp_signature *b)
{
    const struct sp_method_info *method = sp_method_info(o->method);
    printf("\nsimilarity             %.4f   %s\n", sp_similarity(o, a, b), method->title);
    if (o->method == SP_METHOD_LCS)
        printf("without the middle     %.4f   the LCS ratio of the whole pages\n",
               sp_lcs_ratio(a, b));
    printf("threshold              %.4f\n", o->threshold);
}

static bool has_one_shingle(const struct sp_similarity_options *o, const struct sp_signature *s)
{
    return s->shingle_total == 1 && sp_method_info(o->method)->features == SP_FEATURES_SHINGLES;
}

static const char *reason(const struct sp_similarity_options *o, const struct sp_signature *a,
                          const struct sp_signature *b)
{
    if (sp_similarity(o, a, b) + 1e-9 >= o->threshold)
        return "the pages share too few of the hashes that candidates are found by";
    if (!is_set_method(o->method) || sp_jaccard(a, b) + 1e-9 < o->threshold)
        return "the similarity is below the threshold";
    if (sp_length_bound(a->length, b->length) + 1e-9 < o->threshold)
        return "the lengths are too different";
    if (has_one_shingle(o, a) && has_one_shingle(o, b))
        return "their only shingles differ, although their hashes are equal";
    return "inside the band, the sentences differ too much";
}

static void explain(const struct sp_similarity_options *o, const struct sp_signature *a,
                    const struct sp_signature *b)
{
    bool similar = sp_similar(o, a, b, NULL);
    if (is_set_method(o->method))
        print_jaccard(o, a, b);
    else
        print_measure(o, a, b);
    if (a->shingle_total == 0 || b->shingle_total == 0)
        printf("\nnot near duplicates: a page without words resembles nothing\n");
    else if (sp_id_eq(a->content_hash, b->content_hash))
        printf("\n%s: %s\n", similar ? "near duplicates" : "not near duplicates",
               has_one_shingle(o, a) ? "their only shingle is the same"
                                     : "the words are exactly the same");
    else if (similar)
        printf("\nnear duplicates\n");
    else
        printf("\nnot near duplicates: %s\n", reason(o, a, b));
}

static void print_text(struct sp_text *text, const struct document *d)
{
    struct sp_buf out = {0};
    sp_text_extract(text, content_type(d->name), sp_buf_view(&d->content), false, &out);
    printf("\n---- text of %s\n", d->name);
    fwrite(out.data, 1, out.len, stdout);
    sp_buf_done(&out);
}

enum { SP_EXIT_TROUBLE = 2 }; /* like diff */

static int compare(const struct sp_config *config, char **names, bool show_text)
{
    struct sp_settings settings;
    struct sp_fault fault;
    struct document documents[2] = {{.name = names[0]}, {.name = names[1]}};
    if (sp_settings_init(config, &settings, &fault) != SP_OK) {
        sp_cli_failed("%s", fault.text);
        return SP_EXIT_TROUBLE; /* 1 means that they are not near duplicates */
    }
    settings.run.text.detect_language |= config->text_language != SP_CONFIG_LANGUAGE_OFF;
    struct sp_text *text = sp_text_new(&settings.run.text);
    int code = SP_EXIT_DONE;
    bool near = false;
    for (int i = 0; i < 2 && code == SP_EXIT_DONE; i++) {
        struct document *d = &documents[i];
        if (read_file(d->name, config->input_max_record_bytes, &d->content, &fault) != SP_OK)
            code = sp_cli_failed("%s", fault.text);
        else
            d->signature =
                sp_text_signature(text, content_type(d->name), sp_buf_view(&d->content), false);
        d->cut = sp_text_take_cut(text) > 0;
    }
    if (code == SP_EXIT_DONE) {
        const struct sp_similarity_options *similarity = &settings.run.bus.group.similarity;
        print_document("a", &documents[0], similarity->method);
        print_document("b", &documents[1], similarity->method);
        explain(similarity, documents[0].signature, documents[1].signature);
        near = sp_similar(similarity, documents[0].signature, documents[1].signature, NULL);
        for (int i = 0; i < 2 && show_text; i++)
            print_text(text, &documents[i]);
        if (!sp_cli_flush())
            code = SP_EXIT_FAILED;
    }
    for (int i = 0; i < 2; i++) {
        sp_buf_done(&documents[i].content);
        sp_signature_unref(documents[i].signature);
    }
    sp_text_free(text);
    sp_settings_done(&settings);
    return code == SP_EXIT_FAILED ? SP_EXIT_TROUBLE : code == SP_EXIT_DONE && !near ? 1 : code;
}

static int parse(const struct sp_command *command, int argc, char **argv, struct sp_config *config,
                 bool *ret_show_text)
{
    static const struct option table[] = {
        {"text", no_argument, NULL, 'x'}, SP_COMMON_OPTIONS, SP_SETTING_OPTIONS, {0}};
    for (int c; (c = getopt_long(argc, argv, "", table, NULL)) != -1;) {
        int code = -1;
        if (c == 'x')
            *ret_show_text = true;
        else
            code = sp_cli_common(command, c, config);
        if (code >= 0)
            return code;
    }
    if (argc - optind != 2)
        return sp_cli_usage(command, "name two files");
    return -1;
}

static int run(const struct sp_command *command, int argc, char **argv)
{
    struct sp_config config;
    bool show_text = false;
    sp_cli_set_lack_code(SP_EXIT_TROUBLE);
    sp_config_default(&config);
    int code = parse(command, argc, argv, &config, &show_text);
    if (code < 0)
        code = compare(&config, argv + optind, show_text);
    sp_config_done(&config);
    return code;
}

const struct sp_command sp_command_similar = {
    "similar", "compares two files and explains the verdict",
    "NAME\n"
    "  samepage similar - compares two files and explains the verdict\n\n"
    "SYNOPSIS\n"
    "  samepage similar [OPTION]... A B\n\n"
    "DESCRIPTION\n"
    "  A and B are HTML, Markdown or plain text, by their names or else by their first bytes, in any\n"
    "  charset, also as .gz or .zst; - is standard input.\n"
    "  Prints the contents of their signatures, their similarity, and the condition that decided.\n\n"
    "OPTIONS\n"
    "  --text              also print the text that was compared\n"
    "  --config FILE       read settings from FILE\n"
    "  --set KEY=VALUE     change one setting; may be repeated\n"
    "  --help-settings     all settings, with their defaults\n"
    "  --help              this text\n\n"
    "EXAMPLE\n"
    "  samepage similar --set text.scope=all old.html new.html\n\n"
    "EXIT STATUS\n"
    "  0 near duplicates, 1 not, 2 wrong usage, settings that do not fit together, a file\n"
    "  that cannot be read, an output that cannot be written or too little memory\n",
    run};
