"""Index: its results while documents are added, changed and removed; its file; threads."""

import copy
import json
import os
import pickle
import re
import random
import signal
import sys
import tempfile
import threading
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import texts  # noqa: E402

import samepage  # noqa: E402


class Index(unittest.TestCase):
    def check(self, index, live, asked):
        found = {match.key: match.similarity for match in index.query(asked)}
        wanted = {key for key, text in live.items() if samepage.similar(asked, text)}
        self.assertEqual(set(found), wanted)
        nearest = index.nearest(asked)
        self.assertEqual(nearest is not None, bool(wanted))
        self.assertTrue(nearest is None or nearest.key in wanted)

    def test_finds_what_a_look_at_all_finds(self):
        chance = random.Random(7)
        given = texts.families(120, seed=2)
        index, live = samepage.Index(), {}
        for step in range(400):
            key, text = chance.randrange(80), chance.choice(given)
            if key in live and chance.random() < 0.5:
                index.remove(key)
                del live[key]
            else:
                index.update(key, text)
                live[key] = text
            self.assertEqual(len(index), len(live))
            if step % 40 == 0:
                self.check(index, live, chance.choice(given))
        self.assertEqual(set(index), set(live))

    def test_keys(self):
        index = samepage.Index()
        index.add("a", "one two three four five six")
        with self.assertRaisesRegex(ValueError, "update"):
            index.add("a", "one")
        with self.assertRaises(KeyError):
            index.remove("b")
        self.assertIn("a", index)
        self.assertEqual(index.keep("b", "One two three four five six."), ("a", 1.0))
        self.assertNotIn("b", index)
        self.assertIsNone(index.keep(("c", 1), "something quite different is said here"))
        self.assertEqual(list(index), ["a", ("c", 1)])
        index.update("a", "now it says what nobody has said before it")
        self.assertEqual(index.query("one two three four five six"), [])
        self.assertGreater(index.bytes, 1000)

    def test_no_copies(self):
        index = samepage.Index()
        index.add("a", "one two three four five six")
        for what in (copy.copy, copy.deepcopy, pickle.dumps):
            with self.assertRaisesRegex(TypeError, r"Index cannot be copied or pickled: use save\(\) and load\(\)"):
                what(index)
        self.assertEqual(list(index), ["a"])

    def test_limit(self):
        index = samepage.Index()
        for n in range(50):
            index.add(n, "one two three four five six seven")
        self.assertEqual(len(index.query("one two three four five six seven")), 50)
        self.assertEqual([m.key for m in index.query("one two three four five six seven", limit=3)], [0, 1, 2])
        self.assertEqual(index.query("one two three four five six seven", limit=0), [])
        for much in (10 ** 12, sys.maxsize, 10 ** 30):
            self.assertEqual(len(index.query("one two three four five six seven", limit=much)), 50)
        with self.assertRaises(ValueError):
            index.query("one", limit=-1)

    def test_memory_is_given_back(self):
        index = samepage.Index()
        given = texts.families(200, seed=9)
        for n, text in enumerate(given):
            index.add(n, text)
        full = index.bytes
        for _ in range(5):
            for n, text in enumerate(given):
                index.update(n, text)
        self.assertLess(index.bytes, 1.5 * full)

    def test_file(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "index")
            index = samepage.Index(0.7, method="combined")
            given = texts.families(60, seed=4)
            for n, text in enumerate(given):
                index.add(f"k{n}", text)
            index.save(path)
            back = samepage.Index.load(path)
            self.assertEqual(list(back), list(index))
            for text in given[:10]:
                self.assertEqual(back.query(text), index.query(text))
            with open(path, encoding="utf-8") as file:
                lines = file.readlines()
            for damaged in ("".join(lines[:-1]), "{}\n", "", "".join(lines[:5]) + "[1,2]\n",
                            "".join(lines[:1]) + '["k", "AAAA"]\n'):
                with open(path, "w", encoding="utf-8") as file:
                    file.write(damaged)
                with self.assertRaises(samepage.SamepageError):
                    samepage.Index.load(path)
            head = json.loads(lines[0])
            for field, value in (("documents", None), ("settings", None), ("settings", []), ("format", None),
                                 ("format", "samepage index 0"), ("settings", {"similarity.threshold": "7"})):
                changed = {**head, field: value} if value is not None else {k: v for k, v in head.items() if k != field}
                with open(path, "w", encoding="utf-8") as file:
                    file.writelines([json.dumps(changed) + "\n", *lines[1:]])
                with self.assertRaisesRegex(samepage.SamepageError, re.escape(path), msg=(field, value)):
                    samepage.Index.load(path)
            index.add(("a", "tuple"), "text")
            with self.assertRaises(TypeError):
                index.save(path)

    def test_a_file_that_is_a_pipe(self):
        with tempfile.TemporaryDirectory() as folder:
            index, pipe, path = samepage.Index(), os.path.join(folder, "pipe"), os.path.join(folder, "index")
            index.add("a", "one two three four five six seven")
            os.mkfifo(pipe)
            reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
            index.save(pipe)
            index.save(path)
            with open(reader, "rb") as got, open(path, "rb") as wanted:
                self.assertEqual(got.read(), wanted.read())

    def test_an_interrupt_is_not_lost(self):
        index, sent = samepage.Index(), []

        def interrupt(_signal, _frame):
            sent.append(True)
            raise KeyboardInterrupt

        def work(number):
            """Returns if it goes on after an interrupt: Python drops exceptions in __del__ and in callbacks."""
            before, n = len(sent), 0
            signal.setitimer(signal.ITIMER_REAL, 1e-4 * (number % 20 + 1))
            while len(sent) == before:
                index.update((number, n % 50), f"one two three four five six seven {n}")
                index.query("one two three four five six seven", limit=1)
                n += 1

        self.addCleanup(signal.signal, signal.SIGALRM, signal.signal(signal.SIGALRM, interrupt))
        for number in range(60):
            with self.assertRaises(KeyboardInterrupt):
                work(number)
        self.assertGreater(len(index), 0)

    def test_an_interrupted_call_leaves_no_stray(self):
        text = "one two three four five six seven"

        def interrupted(index, name, work, first):
            call = getattr(index._engine, name)

            def ended(argument):
                if first:
                    call(argument)
                raise KeyboardInterrupt

            setattr(index._engine, name, ended)
            with self.assertRaises(KeyboardInterrupt):
                work()
            setattr(index._engine, name, call)

        def added(index):
            interrupted(index, "add", lambda: index.add("a", text), True)

        def removed(index):
            index.add("a", text)
            interrupted(index, "remove", lambda: index.remove("a"), False)

        for leave in (added, removed):
            for ask in (lambda index: index.query(text, limit=1) or None, lambda index: index.nearest(text),
                        lambda index: index.keep("c", text)):
                index = samepage.Index()
                index.add(None, "nothing like the others is said here at all")
                leave(index)
                self.assertEqual(list(index), [None])
                self.assertIsNone(ask(index))
                index.update("b", text)
                self.assertEqual({match.key for match in index.query(text)}, set(index) - {None})

    def test_threads(self):
        index = samepage.Index()
        given = texts.families(100, seed=6)
        failed = []

        def work(number):
            try:
                for n in range(100):
                    index.update((number, n), given[n])
                    index.query(given[n], limit=5)
                    if n % 3 == 0:
                        index.remove((number, n))
            except Exception as error:  # noqa: BLE001
                failed.append(error)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failed, [])
        self.assertEqual(len(index), 4 * 66)


if __name__ == "__main__":
    unittest.main()
