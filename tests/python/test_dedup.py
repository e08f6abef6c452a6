"""dedup, unique and similar against their definitions, for every kind of collection."""

import csv
import doctest
import gzip
import json
import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import texts  # noqa: E402

import samepage  # noqa: E402
import samepage._index  # noqa: E402
import samepage._status  # noqa: E402

A = "one two three four five six seven eight nine ten"
B = "One, two, three, four, five, six, seven, eight, nine, ten!"
C = "nothing here has anything to do with any of the numbers above"


class Dedup(unittest.TestCase):
    def test_examples_of_the_documentation(self):
        for module in (samepage, samepage._index, samepage._status):
            failed, _ = doctest.testmod(module)
            self.assertEqual(failed, 0, module.__name__)

    def test_keeps_what_the_definition_keeps(self):
        given = texts.families(300)
        for threshold in (0.5, 0.8):
            kept = []
            for i, text in enumerate(given):
                if not any(texts.jaccard(text, given[k]) >= threshold - 1e-9 for k in kept):
                    kept.append(i)
            result = samepage.dedup(given, threshold)
            # The program pads shingles, which changes a similarity by some hundredths.
            close = sum(abs(texts.jaccard(given[r.position], given[r.kept]) - r.similarity) > 0.06
                        for r in result.removed)
            self.assertEqual(close, 0)
            differ = set(kept) ^ set(result.positions)
            self.assertLess(len(differ), 0.1 * len(given))
            self.assertLess(len(kept), len(given) * 0.7)
            self.assertEqual(sorted(result.positions + [r.position for r in result.removed]),
                             list(range(len(given))))

    def test_what_is_removed_resembles_what_is_kept(self):
        given = texts.families(200, seed=5)
        result = samepage.dedup(given)
        self.assertTrue(result.removed)
        for position, kept, similarity in result.removed:
            self.assertIn(kept, result.positions)
            pair = samepage.similar(given[position], given[kept])
            self.assertTrue(pair)
            self.assertAlmostEqual(float(pair), similarity)
        for i in result.positions[:30]:
            for k in result.positions[:30]:
                self.assertTrue(i == k or not samepage.similar(given[i], given[k]))

    def test_a_stream(self):
        self.assertEqual(list(samepage.unique(iter([A, B, C, C]))), [A, C])
        self.assertEqual(list(samepage.unique([{"body": A}, {"body": B}], text="body")), [{"body": A}])
        endless = (f"{A} {n // 4}" for n in iter(int, 1))
        self.assertEqual(next(samepage.unique(endless)), f"{A} 0")

    def test_texts_without_words_are_kept(self):
        self.assertEqual(samepage.dedup(["", " ", "\n", A, B]).positions, [0, 1, 2, 3])

    def test_bytes_and_html(self):
        html = f"<html><body><p>{A}.</p></body></html>".encode()
        self.assertEqual(samepage.dedup([A, html]).positions, [0])
        latin = f"caf\xe9 {A}".encode("latin-1")
        self.assertEqual(float(samepage.similar(f"caf\xe9 {A}", latin)), 1)
        self.assertEqual(float(samepage.similar(f"<meta charset=latin1><p>caf\xe9 {A}", latin)), 1)
        self.assertTrue(samepage.similar("\ud800 " + A, "? " + A))  # half of a surrogate pair

    def test_a_decoded_text_has_no_charset(self):
        text = "die sch\xf6nen B\xfccher \xfcber Gr\xf6\xdfe und G\xfcte"
        index = samepage.Index()
        index.add("a", text)
        for kind in ("text/html; charset=iso-8859-1", 'text/plain;CHARSET="koi8-r"; format=flowed', "; charset=koi8-r"):
            self.assertEqual(index.query(text, content_type=kind), [("a", 1.0)], kind)

    def test_an_index_goes_on(self):
        index = samepage.Index()
        first = samepage.dedup([{"id": "a", "text": A}], key="id", index=index)
        second = samepage.dedup([{"id": "b", "text": B}, {"id": "c", "text": C}], key="id", index=index)
        self.assertEqual((first.positions, second.positions), ([0], [1]))
        self.assertEqual(second.removed, [samepage.Removed(0, "a", 1.0)])
        with self.assertRaisesRegex(ValueError, "key="):
            samepage.dedup([A], index=index)

    def test_mistakes_are_named(self):
        for wrong, said in (({"threshold": 2}, "similarity.threshold"), ({"method": "minhash"}, "minhash"),
                            ({"settings": {"state.directory": "x"}}, "state.directory")):
            with self.assertRaisesRegex(samepage.SamepageError, said):
                samepage.dedup([A], **wrong)
        with self.assertRaisesRegex(KeyError, "it has: body"):
            samepage.dedup([{"body": A}])
        with self.assertRaisesRegex(TypeError, "int"):
            samepage.dedup([{"text": 1}])
        with self.assertRaisesRegex(TypeError, "one mapping"):
            samepage.dedup({"train": []})

    def test_a_stream_is_one_of_documents(self):
        class Frame:  # as pandas.DataFrame
            columns = ["id", "text"]

            def __iter__(self):
                return iter(self.columns)

        for wrong in ({"a": A}, Frame(), "texts.jsonl"):
            with self.assertRaisesRegex(TypeError, "takes a stream of documents"):
                list(samepage.unique(wrong))

        class Rows(list):  # as the result of a query in SQLAlchemy
            def columns(self):
                return []

        self.assertEqual(list(samepage.unique(Rows([A, B]))), [A])

    def test_mistakes_about_keys_are_named(self):
        for given, said in (([{"text": A, "body": B}], r"no field 'id' \(key=...\); it has: text, body"),
                            ([A], r"no field 'id' \(key=...\); it has: str")):
            with self.assertRaisesRegex(KeyError, said):
                samepage.dedup(given, key="id")
        with self.assertRaisesRegex(ValueError, "document 1 .*the key of a kept document, 7"):
            samepage.dedup([{"id": 7, "text": A}, {"id": 7, "text": C}], key="id")
        index = samepage.Index()
        index.add("a", A)
        with self.assertRaisesRegex(ValueError, "document 0 .*the key of a kept document, 'a'"):
            samepage.dedup([{"id": "a", "text": C}], key="id", index=index)

    def test_methods(self):
        for method in ("shingles", "simhash", "cosine", "sentences", "lcs", "combined"):
            long = " ".join(texts.families(1, seed=3)) + ". " + A + "."
            self.assertTrue(samepage.similar(long, long, None, method=method), method)
            self.assertFalse(samepage.similar(long, C, None, method=method), method)


class Collections(unittest.TestCase):
    rows = [{"id": 1, "text": A, "size": 3.5}, {"id": 2, "text": B, "size": 4.5}, {"id": 3, "text": C, "size": None},
            {"id": 4, "text": None, "size": 1.0}]

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def test_mappings(self):
        result = samepage.dedup(self.rows)
        self.assertEqual([row["id"] for row in result], [1, 3, 4])
        self.assertEqual(len(result), 3)
        self.assertEqual(samepage.dedup(self.rows, key="id").removed, [(1, 1, 1.0)])

    def test_pandas(self):
        import pandas
        frame = pandas.DataFrame(self.rows, index=[10, 20, 30, 40])
        result = samepage.dedup(frame, key="id")
        self.assertEqual(list(result.kept.index), [10, 30, 40])
        self.assertEqual(list(result.kept.columns), ["id", "text", "size"])
        self.assertEqual(result.removed, [(1, 1, 1.0)])
        with self.assertRaisesRegex(KeyError, "there are: id, text, size"):
            samepage.dedup(frame, text="body")

    def test_two_columns_of_one_name(self):
        import pandas
        frame = pandas.DataFrame(self.rows)
        with self.assertRaisesRegex(KeyError, "there are 2 columns 'text'"):
            samepage.dedup(pandas.concat([frame, frame], axis=1))

    def test_a_column_of_numbers_is_none_of_texts(self):
        import pandas
        import pyarrow
        for numbers in ([1, 1, 2], [0, 0]):
            for table in (pandas.DataFrame({"text": numbers}), pyarrow.table({"text": numbers})):
                with self.assertRaisesRegex(TypeError, "int"):
                    samepage.dedup(table)
        for kind in ("object", "string", "category"):
            frame = pandas.DataFrame({"text": pandas.Series([A, None, B, float("nan")], dtype=kind)})
            self.assertEqual(samepage.dedup(frame).positions, [0, 1, 3], kind)

    def test_pyarrow(self):
        import pyarrow
        table = pyarrow.concat_tables([pyarrow.Table.from_pylist(self.rows[:2]),
                                       pyarrow.Table.from_pylist(self.rows[2:])], promote_options="default")
        result = samepage.dedup(table)
        self.assertEqual(result.kept.column("id").to_pylist(), [1, 3, 4])
        self.assertEqual(result.kept.schema, table.schema)
        (batch,) = pyarrow.Table.from_pylist(self.rows).to_batches()
        kept = samepage.dedup(batch, key="id").kept
        self.assertIsInstance(kept, pyarrow.RecordBatch)
        self.assertEqual(kept.column("id").to_pylist(), [1, 3, 4])

    def test_datasets(self):
        import datasets
        result = samepage.dedup(datasets.Dataset.from_list(self.rows), key="id")
        self.assertIsInstance(result.kept, datasets.Dataset)
        self.assertEqual(result.kept["id"][:], [1, 3, 4])

    def write(self, name, data):
        opened = gzip.open if name.endswith(".gz") else open
        with opened(self.path(name), "wb") as file:
            file.write(data)
        return self.path(name)

    def test_files_of_other_programs(self):
        marked = b"\xef\xbb\xbf"
        table, lines = f"text,id\n{A},1\n".encode(), json.dumps({"text": A}).encode()
        for name, data in (("b.csv", marked + table), ("b.csv.gz", table), ("b.jsonl", marked + lines),
                           ("b.jsonl.gz", marked + lines)):
            self.assertEqual(samepage.dedup(self.write(name, data)).kept[0]["text"], A, name)
        self.assertEqual(samepage.dedup(self.write("b.txt.gz", A.encode())).kept, [A])

    def test_a_long_cell(self):
        limit = csv.field_size_limit()
        page = "word " * 40000
        self.assertEqual(samepage.dedup(self.write("c.csv", f"text\n{page}\n".encode())).kept, [{"text": page}])
        self.assertEqual(csv.field_size_limit(), limit)

    def test_a_cell_beyond_the_header(self):
        path = self.write("d.csv", b'text,id\n"two\nlines",1\nHello, world,2\n')
        with self.assertRaisesRegex(ValueError, "d.csv:4: the row has 3 cells, and the header 2: .* quotation marks"):
            samepage.dedup(path)
        self.assertEqual(samepage.dedup(self.write("e.csv", f"text,id\n{A},1,,\n{C}\n".encode())).kept,
                         [{"text": A, "id": "1"}, {"text": C, "id": None}])

    def test_a_file_that_cannot_be_read_is_named(self):
        latin = f"text\n{A}\ncaf\xe9\n".encode("latin-1")
        for name in ("l.csv", "l.jsonl", "l.txt", "l.csv.gz"):
            data = b'{"text": "a"}\n\n' + latin[-5:] if name == "l.jsonl" else latin
            with self.assertRaisesRegex(ValueError, f"{name}:3: not UTF-8; .*iconv -f WINDOWS-1252"):
                samepage.dedup(self.write(name, data))
        whole = gzip.compress(f"text\n{A}\n".encode() * 100)
        for data in (whole[:-3], whole[:60], b"text", whole[:30] + bytes(30) + whole[60:]):
            with open(self.path("cut.csv.gz"), "wb") as file:
                file.write(data)
            with self.assertRaisesRegex(ValueError, "cut.csv.gz: the gzip file is cut or damaged"):
                samepage.dedup(self.path("cut.csv.gz"))

    def test_a_text_of_a_line_has_no_other_line_ends(self):
        line = f"{A}\u2028{C}\x0c\x85"
        self.assertEqual(samepage.dedup(self.write("d.txt", f"{line}\r\n{B}\n".encode())).kept, [line, B])

    def test_files(self):
        import pyarrow
        import pyarrow.parquet
        lines = "".join(json.dumps(row) + "\n" for row in self.rows)
        with open(self.path("a.jsonl"), "w", encoding="utf-8") as file:
            file.write(lines)
        with gzip.open(self.path("a.jsonl.gz"), "wt", encoding="utf-8") as file:
            file.write(lines)
        with open(self.path("a.csv"), "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, ["id", "text", "size"])
            writer.writeheader()
            writer.writerows(self.rows)
        with open(self.path("a.txt"), "w", encoding="utf-8") as file:
            file.write(f"{A}\n{B}\n{C}\n\n")
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(self.rows), self.path("a.parquet"))
        for name in ("a.jsonl", "a.jsonl.gz", "a.csv", "a.txt", "a.parquet"):
            self.assertEqual(samepage.dedup(self.path(name)).positions, [0, 2, 3], name)
        with open(self.path("bad.jsonl"), "w", encoding="utf-8") as file:
            file.write("{}\nnot json\n")
        with self.assertRaisesRegex(ValueError, "bad.jsonl:2"):
            samepage.dedup(self.path("bad.jsonl"))
        with self.assertRaisesRegex(ValueError, "its name does not end"):
            samepage.dedup(self.path("a.docx"))


if __name__ == "__main__":
    unittest.main()
