"""python -m samepage: Parquet to the command and back."""

import datetime
import json
import os
import subprocess
import sys
import tempfile
import unittest

import pyarrow
import pyarrow.parquet

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import texts  # noqa: E402

PROGRAM = os.environ["SAMEPAGE"]


class Command(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.given = texts.families(90, seed=8)
        rows = [{"key": f"http://k.example/{n}", "body": text, "when": datetime.datetime(2024, 1, 1, 0, 0, n % 60),
                 "raw": bytes([n])} for n, text in enumerate(self.given)]
        self.rows = rows
        for name, part in (("a.parquet", rows[:40]), ("b.parquet", rows[40:])):
            pyarrow.parquet.write_table(pyarrow.Table.from_pylist(part), self.path(name))

    def path(self, name):
        return os.path.join(self.folder, name)

    def call(self, *arguments, code=0):
        done = subprocess.run([sys.executable, "-I", "-m", "samepage", *arguments], cwd=self.folder, text=True,
                              capture_output=True, check=False)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stdout if code == 0 else done.stderr

    def read(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return [json.loads(line) for line in file]

    def test_to_the_command_and_back(self):
        self.call("to-jsonl", "a.parquet", "b.parquet", "--text-field", "body", "--id-field", "key", "-o", "in.jsonl")
        pages = self.read("in.jsonl")
        self.assertEqual([page["url"] for page in pages], [row["key"] for row in self.rows])
        subprocess.run([PROGRAM, "run", "-q", "-o", "out.jsonl", "in.jsonl"], cwd=self.folder, check=True)
        latest = {event["url"]: event for event in self.read("out.jsonl")}
        self.assertEqual(len(latest), 90)
        with open(self.path("kept.jsonl"), "w", encoding="utf-8") as file:
            kept = [page for page in pages if latest[page["url"]]["status"] != "loser"]
            file.writelines(json.dumps({"url": page["url"]}) + "\n" for page in kept)
        self.assertLess(len(kept), 80)
        self.call("to-parquet", "kept.jsonl", "--rows-of", "a.parquet", "b.parquet", "--id-field", "key",
                  "-o", "kept.parquet")
        names = {page["url"] for page in kept}
        self.assertEqual(pyarrow.parquet.read_table(self.path("kept.parquet")).to_pylist(),
                         [row for row in self.rows if row["key"] in names])

    def test_ids_that_are_no_urls_to_the_command_and_back(self):
        ids = list(range(89)) + ["a b%#é"]
        rows = [{"id": str(key), "text": text} for key, text in zip(ids, self.given)]
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), self.path("ids.parquet"))
        self.call("to-jsonl", "ids.parquet", "--id-field", "id", "-o", "ids.jsonl")
        self.assertEqual([page["url"] for page in self.read("ids.jsonl")],
                         [f"doc:{key}" for key in ids[:89]] + ["doc:a%20b%25%23é"])
        subprocess.run([PROGRAM, "run", "-q", "-o", "ids.out", "ids.jsonl"], cwd=self.folder, check=True)
        latest = {event["url"]: event for event in self.read("ids.out")}
        self.assertEqual(len(latest), 90)
        with open(self.path("ids.kept"), "w", encoding="utf-8") as file:
            file.writelines(json.dumps({"url": url}) + "\n" for url, event in latest.items() if event["status"] != "loser")
        self.call("to-parquet", "ids.kept", "--rows-of", "ids.parquet", "--id-field", "id", "-o", "ids.kept.parquet")
        found = pyarrow.parquet.read_table(self.path("ids.kept.parquet")).to_pylist()
        self.assertEqual(len(found), sum(event["status"] != "loser" for event in latest.values()))

    def test_rows_without_a_key(self):
        lines = self.call("to-jsonl", "a.parquet", "b.parquet", "--text-field", "body", "--all").splitlines()
        pages = [json.loads(line) for line in lines]
        self.assertEqual(pages[45]["url"], "doc:45")
        self.assertEqual(pages[45]["when"], self.rows[45]["when"].isoformat())
        with open(self.path("kept.jsonl"), "w", encoding="utf-8") as file:
            file.write('{"url": "doc:3"}\n\n{"id": "doc:45"}\n')
        self.call("to-parquet", "kept.jsonl", "--rows-of", "a.parquet", "b.parquet", "-o", "kept.parquet")
        kept = pyarrow.parquet.read_table(self.path("kept.parquet"))
        self.assertEqual(kept.to_pylist(), [self.rows[3], self.rows[45]])

    def test_dedup(self):
        self.call("dedup", "a.parquet", "--text-field", "body", "--id-field", "key", "--kept", "k.parquet", "--removed",
                  "r.jsonl")
        kept = pyarrow.parquet.read_table(self.path("k.parquet")).to_pylist()
        removed = self.read("r.jsonl")
        self.assertEqual(len(kept) + len(removed), 40)
        self.assertTrue(removed)
        self.assertTrue({row["kept"] for row in removed} <= {row["key"] for row in kept})

    def test_half_of_a_surrogate_pair(self):
        row = {"text": "caf\ud83d \u00e9"}
        with open(self.path("half.jsonl"), "w", encoding="utf-8") as file:
            file.write(json.dumps(row))
        self.call("dedup", "half.jsonl", "--kept", "kept.jsonl")
        self.assertEqual(self.read("kept.jsonl"), [row])

    def test_mistakes_are_named(self):
        self.assertIn("there are: key, body, when, raw", self.call("to-jsonl", "a.parquet", code=1))
        self.assertIn("none.parquet", self.call("to-jsonl", "none.parquet", "-o", "x", code=1))
        with open(self.path("bad.jsonl"), "w", encoding="utf-8") as file:
            file.write("7\n")
        with open(self.path("number.jsonl"), "w", encoding="utf-8") as file:
            file.write('{"text": 7}\n')
        self.assertIn("not int", self.call("dedup", "number.jsonl", "--kept", "x", code=1))
        self.assertIn("bad.jsonl:1", self.call("to-parquet", "bad.jsonl", "--rows-of", "a.parquet", "-o", "x", code=1))
        self.assertFalse(os.path.exists(self.path("x")))


if __name__ == "__main__":
    unittest.main()
