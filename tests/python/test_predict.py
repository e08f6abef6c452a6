"""Predictor: its predictions for URLs that were not fetched."""

import copy
import gc
import pickle
import threading
import unittest

import samepage


def taught(**options):
    rules = samepage.Predictor(**options)
    for page in range(100):
        for visitor in range(2):
            rules.learn(f"http://a.example/{page}?sid={visitor}", f"text of page {page}")
            rules.learn(f"http://b.example/{page}?id={visitor}", f"text of page {page} and visitor {visitor}")
    return rules


class Predict(unittest.TestCase):
    def test_spellings_of_one_page_have_one_canonical_url(self):
        self.assertEqual(samepage.canonical_url("HTTP://User@A.Example:80#top"), "http://User@a.example/")
        self.assertEqual(samepage.canonical_url("https://a.example:443/\u00e4?b=%41#c"), "https://a.example/\u00e4?b=%41")
        for refused in ("", "/a", "http://", "http://a.example/b c", "http://a\0.example/", "http://\ud83d.example/",
                        "http://a.example/" + "x" * 8192):
            self.assertIsNone(samepage.canonical_url(refused), refused)
        for other in (None, b"http://a.example/"):
            with self.assertRaisesRegex(TypeError, "a URL is a str"):
                samepage.canonical_url(other)

    def test_a_parameter_that_never_matters(self):
        said = taught(explore=0).predict("http://a.example/7?sid=99")
        self.assertEqual(said.url, "http://a.example/7?sid=1")
        self.assertEqual((said.rule["kind"], said.rule["name"]), ("parameter", "sid"))
        self.assertTrue(0.9 < said.confidence < 1)

    def test_a_parameter_that_matters(self):
        self.assertIsNone(taught(explore=0).predict("http://b.example/7?id=99"))

    def test_nothing_is_known_of_a_page_that_is_forgotten(self):
        rules = taught(explore=0)
        for visitor in range(2):
            rules.forget(f"http://a.example/7?sid={visitor}")
        self.assertIsNone(rules.predict("http://a.example/7?sid=99"))

    def test_a_rule_expires_with_counter_evidence(self):
        rules = taught(explore=0)
        for page in range(100, 110):
            for visitor in range(2):
                rules.learn(f"http://a.example/{page}?sid={visitor}", f"another text {page} for {visitor}")
        self.assertIsNone(rules.predict("http://a.example/7?sid=99"))

    def test_a_share_is_fetched_all_the_same(self):
        some = taught(explore=0.2)
        urls = [f"http://a.example/{page}?sid={visit}" for page in range(100) for visit in range(10, 20)]
        fetched = {url for url in urls if some.predict(url) is None}
        self.assertTrue(120 < len(fetched) < 280, len(fetched))
        again = taught(explore=0.2)
        self.assertEqual(fetched, {url for url in urls if again.predict(url) is None})
        self.assertTrue(all(taught(explore=1).predict(url) is None for url in urls[:5]))

    def test_what_is_explored_can_be_told_from_what_is_not_known(self):
        rules = taught(explore=0.2)
        urls = [f"http://a.example/{page}?sid=99" for page in range(100)]
        asked = {url: rules.ask(url) for url in urls}
        self.assertEqual({url for url in urls if asked[url].explore}, {url for url in urls if rules.predict(url) is None})
        self.assertEqual({said.explore for said in asked.values()}, {True, False})
        self.assertTrue(taught(explore=1).ask(urls[7]).explore)
        self.assertIsNone(rules.ask("http://b.example/7?id=99"))

    def test_mistakes(self):
        for options in ({"confidence": 2}, {"explore": -1}):
            with self.assertRaises(ValueError):
                samepage.Predictor(**options)
        with self.assertRaises(ValueError):
            samepage.Predictor().learn("nothing", "text")
        with self.assertRaisesRegex(ValueError, "no URL"):
            samepage.Predictor().learn("http://a.example/\0b", "text")
        for wrong in (5, None, ["text"]):
            with self.assertRaises(TypeError):
                samepage.Predictor().learn("http://a.example/", wrong)

    def test_a_url_that_is_none(self):
        rules = samepage.Predictor(explore=0)
        rules.learn("http://a.example/7", "text")
        for url in ("", "mailto:a", "http://a.example/7\0", "http://a.example/\ud800"):
            self.assertIsNone(rules.predict(url))
            rules.forget(url)

    def test_no_copies(self):
        rules = taught(explore=0)
        for what in (copy.copy, copy.deepcopy, pickle.dumps):
            with self.assertRaisesRegex(TypeError, "Predictor cannot be copied"):
                what(rules)
        gc.collect()
        self.assertIsNotNone(rules.predict("http://a.example/7?sid=99"))

    def test_rules_of_others(self):
        key = '{"host":"a.example","kind":"parameter","name":"sid","from":null,"to":null}'
        value = key[:-1] + ',"confidence":0.96,"support":120,"against":1,"recent_support":112.9,"recent_against":0.9}'
        rules = samepage.Predictor(explore=0)
        rules.learn("http://a.example/7?sid=1", "text")
        self.assertIsNone(rules.predict("http://a.example/7?sid=99"))
        for record in (key, value.encode()), (value, value):  # of the topic, and a line of `samepage rules`
            rules.rule(*record)
            self.assertEqual(rules.predict("http://a.example/7?sid=99").url, "http://a.example/7?sid=1")
            self.assertEqual(rules.predict("http://a.example/7?sid=99").rule["recent_support"], 112.9)
            rules.rule(key, None)
            self.assertIsNone(rules.predict("http://a.example/7?sid=99"))
        for wrong in (("{}", None), ("no rule", None), (key, "{}"), (key, key), (key.replace("parameter", "x"), value),
                      ("[]", value), (key.replace('"sid"', "7"), value), (key, value.replace("112.9", "-1"))):
            with self.assertRaises(ValueError):
                rules.rule(*wrong)

    def test_threads(self):
        rules = samepage.Predictor(explore=0)

        def work(number):
            for page in range(200):
                rules.learn(f"http://t{number}.example/{page}?sid=1", str(page))
                rules.learn(f"http://t{number}.example/{page}?sid=2", str(page))

        threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(rules.predict("http://t3.example/5?sid=3").url, "http://t3.example/5?sid=2")


if __name__ == "__main__":
    unittest.main()
