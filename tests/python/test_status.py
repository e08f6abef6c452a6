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
    def __init__(self, value=None, error=None, key=None, offset=None, time=5):
        self._value, self._error, self._key, self._offset, self._time = value, error, key, offset, time

    def partition(self):
        return 0

    def offset(self):
        return self._offset

    def timestamp(self):
        return 1, self._time

    def key(self):
        return self._key

    def value(self):
        return self._value

    def error(self):
        return self._error


class Fault:
    def __init__(self, retriable, code=0):
        self._retriable, self._code = retriable, code

    def code(self):
        return self._code

    def fatal(self):
        return False

    def retriable(self):
        return self._retriable

    def __str__(self):
        return "refused"


class Partition:
    topic, partition = "t", 0


class Broker:
    """What confluent_kafka.Consumer offers, backed by a list."""
    given = 0

    def __init__(self, messages):
        self.messages, self.commits, self.closed, self.topics = list(messages), 0, False, None
        self.assigned = self.revoked = None
        self.committed = {}
        self.refuses = False

    def subscribe(self, topics, on_assign, on_revoke):
        self.topics, self.assigned, self.revoked = topics, on_assign, on_revoke

    def poll(self, _timeout):
        """The next message; where it has no offset, one is given. None among the messages: the partition is taken away and
        assigned again."""
        message = self.messages.pop(0) if self.messages else None
        if message is None and self.messages:
            for call in (self.revoked, self.assigned):
                call(self, [Partition()])
            message = self.messages.pop(0)
        if message is not None and message.offset() is None:
            message._offset = self.given
            self.given += message.error() is None
        return message

    def commit(self, message, asynchronous):
        assert not asynchronous
        if self.refuses:
            raise OSError("refused")
        self.commits += 1
        self.committed[message.partition()] = message.offset() + 1

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
        with self.assertRaisesRegex(samepage.DecodeError, "no value: the page of its key was erased"):
            samepage.decode_status(None)

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

    def test_the_key_names_the_page_however_its_url_is_spelled(self):
        key = b"http://a.example/"
        broker = Broker([Message(self.encode(url="HTTP://A.example:80"), key=key), Message(b"junk", key=key),
                         Message(self.encode(url="http://a.example/#top"), key=key), Message(None, key=key)])
        with samepage.StatusConsumer("", topic="t", group="g", consumer=broker) as consumer:
            self.assertIsNone(consumer.key)
            told = [(getattr(consumer.poll(), "url", None), consumer.key, consumer.erased) for _ in range(5)]
        page = key.decode()
        self.assertEqual(told, [("HTTP://A.example:80", page, None), (None, None, None), ("http://a.example/#top", page, None),
                                (None, page, page), (None, None, None)])

    def consume(self, *messages, commit_at=None):
        """The URLs in order, and "remade" where the topic was recreated; commits after the event of that number."""
        told, remade = [], 0
        with samepage.StatusConsumer("", topic="t", group="g", consumer=Broker(messages)) as consumer:
            for _ in range(2 * len(messages)):
                status = consumer.poll()
                told += ["remade"] * (consumer.remade - remade) + ([status.url] if status else [])
                remade = consumer.remade
                if len(told) == commit_at:
                    consumer.commit()
        return told

    def event(self, url, offset, time=5):
        return Message(self.encode(url=url), offset=offset, time=time)

    def test_a_topic_that_was_made_again_is_told_once_and_no_event_is_missed(self):
        self.assertEqual(self.consume(self.event("a", 7), self.event("b", 8), self.event("c", 0), self.event("d", 1)),
                         ["a", "b", "remade", "c", "d"])

    def test_what_comes_again_after_a_rebalance_is_no_topic_that_was_made_again(self):
        a, b, c, d = (self.event(url, offset) for offset, url in enumerate("abcd"))
        self.assertEqual(self.consume(a, b, None, a, b, c), ["a", "b", "a", "b", "c"])
        self.assertEqual(self.consume(a, b, c, None, b, c, d, commit_at=1), ["a", "b", "c", "b", "c", "d"])

    def test_a_topic_that_was_made_again_is_told_after_a_rebalance(self):
        a, b, c, other = self.event("a", 0), self.event("b", 1), self.event("c", 2), self.event("a", 0, time=6)
        self.assertEqual(self.consume(a, b, None, other, commit_at=2), ["a", "b", "remade", "a"])
        self.assertEqual(self.consume(a, b, None, other), ["a", "b", "remade", "a"])
        self.assertEqual(self.consume(b, c, None, a), ["b", "c", "remade", "a"])

    def test_nothing_is_committed_between_the_news_and_the_first_event(self):
        broker = Broker([self.event("a", 5), self.event("b", 0)])
        with samepage.StatusConsumer("", topic="t", group="g", consumer=broker) as consumer:
            self.assertEqual(consumer.poll().url, "a")
            self.assertIsNone(consumer.poll())
            consumer.commit()
            self.assertEqual(broker.commits, 0)
            self.assertEqual(consumer.poll().url, "b")
            consumer.commit()
            self.assertEqual(broker.committed, {0: 1})

    def test_what_the_broker_refused_to_commit_is_committed_by_the_next_call(self):
        broker = Broker([self.event("a", 5)])
        with samepage.StatusConsumer("", topic="t", group="g", consumer=broker) as consumer:
            self.assertEqual(consumer.poll().url, "a")
            broker.refuses = True
            self.assertRaises(OSError, consumer.commit)
            broker.refuses = False
            consumer.commit()
            self.assertEqual(broker.committed, {0: 6})

    def test_what_was_taken_away_is_not_committed(self):
        broker = Broker([self.event("a", 5), None, self.event("a", 5)])
        with samepage.StatusConsumer("", topic="t", group="g", consumer=broker) as consumer:
            self.assertEqual(consumer.poll().url, "a")
            broker.revoked(broker, [Partition()])
            consumer.commit()
            self.assertEqual(broker.committed, {})
            self.assertEqual(consumer.poll().url, "a")
            consumer.commit()
            self.assertEqual(broker.committed, {0: 6})

    def test_a_topic_that_is_gone_for_a_while_ends_nothing(self):
        gone = Message(error=Fault(False, code=3))
        self.assertEqual(self.consume(self.event("a", 4), gone, None, self.event("b", 0)), ["a", "remade", "b"])
        with self.assertRaises(ConnectionError):  # there has never been one
            self.consume(gone)


if __name__ == "__main__":
    unittest.main()
