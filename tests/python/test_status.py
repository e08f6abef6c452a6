"""Status events, as written by an independent encoder."""

import io
import json
import os
import struct
import unittest

import fastavro
import samepage
from samepage._status import _FINGERPRINT, _NO_CONTAINER, _NO_RULE

SCHEMA = os.path.join(os.environ["SAMEPAGE_SOURCE"], "schemas/status.avsc")
EVENT = {"url": "http://a.example/\u00e9", "version_ms": 1700000000000, "status": "loser",
         "winner_url": "http://b.example/", "similarity": 0.875, "reason": "content",
         "group_id": "18bcfe56800-" + "0" * 32, "group_size": 3, "epoch": -1,
         "rule": "static", "contained_in": None, "containment": None}
LATEST = ("rule", "contained_in", "containment")  # in order of arrival


class Message:
    def __init__(self, value=None, error=None, key=None):
        self._value, self._error, self._key = value, error, key

    def key(self):
        return self._key

    def value(self):
        return self._value

    def error(self):
        return self._error


class Fault:
    def __init__(self, retriable):
        self._retriable = retriable

    def fatal(self):
        return False

    def retriable(self):
        return self._retriable

    def __str__(self):
        return "refused"


class Broker:
    """What confluent_kafka.Consumer offers, backed by a list."""

    def __init__(self, messages):
        self.messages, self.commits, self.closed, self.topics = list(messages), 0, False, None

    def subscribe(self, topics):
        self.topics = topics

    def poll(self, _timeout):
        return self.messages.pop(0) if self.messages else None

    def commit(self, asynchronous):
        assert not asynchronous
        self.commits += 1

    def close(self):
        self.closed = True


class Statuses(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with open(SCHEMA, encoding="utf-8") as file:
            cls.raw = json.load(file)
        cls.schema = fastavro.parse_schema(cls.raw)

    def encode(self, **changes):
        out = io.BytesIO()
        fastavro.schemaless_writer(out, self.schema, {**EVENT, **changes})
        return b"\xc3\x01" + _FINGERPRINT + out.getvalue()

    def test_fingerprint_is_that_of_the_schema(self):
        form = fastavro.schema.to_parsing_canonical_form(self.raw)
        self.assertEqual(fastavro.schema.fingerprint(form, "CRC-64-AVRO"), _FINGERPRINT.hex())

    def test_all_values(self):
        for changes in ({}, {"status": "unique", "winner_url": None, "similarity": None, "reason": None},
                        {"status": "gone", "version_ms": -(2 ** 63), "epoch": 2 ** 63 - 1},
                        {"status": "winner", "reason": "exact"}, {"reason": "redirect", "url": ""},
                        {"contained_in": "http://c.example/", "containment": 0.9375}):
            status = samepage.decode_status(self.encode(**changes))
            self.assertEqual(status.__dict__, {**EVENT, **changes})

    def test_rules(self):
        rules = next(f for f in self.raw["fields"] if f["name"] == "rule")["type"][1]["symbols"]
        for rule in [None, *rules]:
            self.assertEqual(samepage.decode_status(self.encode(rule=rule)).rule, rule)

    def test_registry_framing(self):
        status = samepage.decode_status(b"\0" + struct.pack(">I", 7) + self.encode()[10:])
        self.assertEqual(status.url, EVENT["url"])
        self.assertEqual(status.rule, "static")

    def test_events_of_before_there_was_a_rule_or_a_container(self):
        for fingerprint, lacks in ((_NO_RULE, LATEST), (_NO_CONTAINER, LATEST[1:])):
            path = os.path.join(os.path.dirname(SCHEMA), "old", fingerprint[::-1].hex() + ".avsc")
            with open(path, encoding="utf-8") as file:
                raw = json.load(file)
            form = fastavro.schema.to_parsing_canonical_form(raw)
            self.assertEqual(fastavro.schema.fingerprint(form, "CRC-64-AVRO"), fingerprint.hex())
            out, old = io.BytesIO(), {name: value for name, value in EVENT.items() if name not in lacks}
            fastavro.schemaless_writer(out, fastavro.parse_schema(raw), old)
            for frame in (b"\xc3\x01" + fingerprint, b"\0" + struct.pack(">I", 7)):
                status = samepage.decode_status(frame + out.getvalue())
                self.assertEqual(status.__dict__, {**EVENT, **dict.fromkeys(lacks)})
            with self.assertRaises(samepage.DecodeError):
                samepage.decode_status(b"\xc3\x01" + fingerprint + out.getvalue() + b"\0")

    def test_no_prefix_is_an_event(self):
        whole = self.encode()
        for size in range(len(whole)):
            with self.assertRaises(samepage.DecodeError):
                samepage.decode_status(whole[:size])
        for wrong in (whole + b"\0", b"\xc3\x01" + b"\1" * 8 + whole[10:], b"{}", whole[:10] + b"\xff" * 12):
            with self.assertRaises(samepage.DecodeError):
                samepage.decode_status(wrong)

    def test_no_damaged_byte_does_more_than_raise(self):
        whole = self.encode()
        for at in range(len(whole)):
            for bit in range(8):
                damaged = bytearray(whole)
                damaged[at] ^= 1 << bit
                try:
                    samepage.decode_status(bytes(damaged))
                except samepage.DecodeError:
                    pass

    def test_consumer(self):
        broker = Broker([Message(self.encode()), Message(error=Fault(True)), Message(b"junk"),
                         Message(None, key=b"http://erased.example/"), Message(self.encode(status="winner"))])
        with samepage.StatusConsumer("", topic="t", group="g", consumer=broker) as consumer:
            self.assertEqual(broker.topics, ["t"])
            events = iter(consumer)
            self.assertEqual(next(events).status, "loser")
            consumer.commit()
            consumer.commit()
            self.assertEqual([consumer.poll() for _ in range(3)], [None] * 3)
            self.assertEqual(consumer.erased, "http://erased.example/")
            self.assertEqual(next(events).status, "winner")
            self.assertIsNone(consumer.erased)
            self.assertEqual((consumer.bad, broker.commits), (1, 1))
            consumer.commit()
            broker.messages = [Message(error=Fault(False))]
            with self.assertRaisesRegex(ConnectionError, "refused"):
                consumer.poll()
        self.assertTrue(broker.closed)
        self.assertEqual(broker.commits, 2)


if __name__ == "__main__":
    unittest.main()
