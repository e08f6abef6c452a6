/* Main content against boilerplate, and the language of the chosen text. */
#include "text_helper.h"

#define PROSE                                                                                      \
    "<p>The quick brown fox jumps over the lazy dog while the rain falls on the plain, and "       \
    "nobody "                                                                                      \
    "in the village remembers when it was last as wet as in this year.</p>"                        \
    "<p>Farmers say that the harvest will be late, that prices will rise, and that somebody "      \
    "ought "                                                                                       \
    "to repair the bridge <a href=/b>before winter</a> comes to the valley.</p>"

static bool has(const char *text, const char *part)
{
    return strstr(text, part) != NULL;
}

TEST(main_content_excludes_boilerplate)
{
    static const char html[] =
        "<title>Title</title><header><p>Site name</p></header><nav><a href=/>Home</a></nav>"
        "<div class='cookie-banner'><p>We use cookies, as everybody does.</p></div>"
        "<div class=\"sideBar left\"><p>Also read this and that</p></div><div "
        "role=search>Find</div>"
        "<div id='main-text'><h1>Rain</h1>" PROSE "</div>"
        "<form><select><option>Red<option>Blue</select></form>"
        "<aside>An aside</aside><footer>Copyright somebody</footer>";
    static const char *const out[] = {"Title", "Site name", "Home",     "cookies",  "Also read",
                                      "Find",  "Blue",      "An aside", "Copyright"};
    const char *text = main_of_html(html);
    CU_ASSERT_TRUE(has(text, "Rain\nThe quick brown fox"));
    CU_ASSERT_TRUE(has(text, "before winter comes to the valley."));
    for (size_t i = 0; i < sizeof out / sizeof *out; i++)
        CU_ASSERT_FALSE(has(text, out[i]));
    text = all_of_html(html);
    for (size_t i = 0; i < sizeof out / sizeof *out; i++)
        CU_ASSERT_TRUE(has(text, out[i]));
    CU_ASSERT_TRUE(has(text, "Rain\nThe quick brown fox"));
}

TEST(context_ends_with_its_element)
{
    const char *text = main_of_html("<nav><div><ul><li>One</nav>" PROSE "<p>Two</p>");
    CU_ASSERT_FALSE(has(text, "One"));
    CU_ASSERT_TRUE(has(text, "Two"));
    /* an end tag in a cell does not close elements outside the table */
    text = main_of_html("<div class=menu><table><tr><td>One</div>two</table>three</div>" PROSE);
    CU_ASSERT_FALSE(has(text, "two"));
    CU_ASSERT_FALSE(has(text, "three"));
    CU_ASSERT_TRUE(has(text, "quick brown"));
}

TEST(lists_of_links_beside_prose_are_boilerplate)
{
    const char *text = main_of_html("<ul><li><a href=a>First</a><li><a href=b>Second</a></ul>"
                                    "<div><a href=c>Third</a></div>" PROSE "<hr>");
    CU_ASSERT_FALSE(has(text, "First"));
    CU_ASSERT_TRUE(has(text, "quick brown"));
    /* an anchor is not a link */
    CU_ASSERT_TRUE(has(main_of_html("<p><a name=x>Section one</a></p><hr><p><a id=b>Two</p>" PROSE),
                       "Section one"));
}

TEST(a_page_of_links_keeps_them)
{
    const char *text = main_of_html("<main><ul><li><a href=a>First page of the directory</a>"
                                    "<li><a href=b>Second page of the directory</a></ul></main>");
    CU_ASSERT_TRUE(has(text, "First page"));
    CU_ASSERT_TRUE(has(text, "Second page"));
}

TEST(a_page_without_a_clear_main_part_is_kept_whole)
{
    CU_ASSERT_STRING_EQUAL(main_of_html("<nav>Only a menu</nav>"), "Only a menu\n");
    CU_ASSERT_STRING_EQUAL(main_of_html("<title>Only a title</title>"), "Only a title\n");
    CU_ASSERT_TRUE(has(main_of_html("<div class='page sidebar'>" PROSE "</div>"), "quick brown"));
    CU_ASSERT_TRUE(has(main_of_html("<div class='has-sidebar'>" PROSE "</div><p>x</p>"), "quick"));
    CU_ASSERT_TRUE(has(main_of_html("<main>Loading</main><div>" PROSE "</div>"), "quick brown"));
}

TEST(boilerplate_does_not_change_the_signature)
{
    struct sp_signature *a = helper_signature(
        "text/html", BYTES("<nav>A menu</nav><main>" PROSE "</main><footer>2019</footer>"), true);
    struct sp_signature *b = helper_signature(
        "text/html", BYTES("<header>New design</header><article>" PROSE "</article>"), true);
    CU_ASSERT_TRUE(sp_id_eq(a->content_hash, b->content_hash));
    CU_ASSERT_EQUAL(a->language, 'e' << 8 | 'n');
    sp_signature_unref(a);
    sp_signature_unref(b);
}

static uint16_t language(const char *text)
{
    struct sp_signature *s = helper_signature("text/plain", sp_view_str(text), true);
    uint16_t language = s->language;
    sp_signature_unref(s);
    return language;
}

TEST(languages_are_detected)
{
    CU_ASSERT_EQUAL(
        language("Der schnelle braune Fuchs springt über den faulen Hund, und niemand im "
                 "Dorf erinnert sich, wann es zuletzt so viel geregnet hat."),
        'd' << 8 | 'e');
    CU_ASSERT_EQUAL(language("Le renard brun saute par-dessus le chien paresseux, et personne au "
                             "village ne se souvient d'une telle pluie."),
                    'f' << 8 | 'r');
    CU_ASSERT_EQUAL(
        language(
            "これは日本語の文章です。村の人はだれも、いつこんなに雨が降ったか覚えていません。"),
        'j' << 8 | 'a');
    CU_ASSERT_EQUAL(language(""), 0);
    CU_ASSERT_EQUAL(language("42 17 3.14"), 0);
}

TEST(the_language_does_not_depend_on_earlier_pages)
{
    struct sp_text *t = helper_text(SP_TEXT_MAIN, 0);
    struct sp_view text = BYTES("The quick brown fox jumps over the lazy dog, while nobody looks.");
    for (int i = 0; i < 3; i++) {
        struct sp_signature *s = sp_text_signature(t, sp_view_str("text/plain"), text, true);
        CU_ASSERT_EQUAL(s->language, 'e' << 8 | 'n');
        sp_signature_unref(s);
        s = sp_text_signature(t, sp_view_str("text/plain"), BYTES("\xff\xfe \xc3 x"), true);
        CU_ASSERT_EQUAL(s->language, 0); /* is_utf8 was set wrongly: no language, and no crash */
        sp_signature_unref(s);
    }
    sp_text_free(t);
}
