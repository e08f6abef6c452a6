"""The status topic: the status events of all pages (schemas/status.avsc)."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Dict, Iterator, List, Mapping, Optional, Tuple, Type

from ._tables import need

_SINGLE_OBJECT = b"\xc3\x01"
_FINGERPRINT = struct.pack("<Q", 0x1BF0184F5B3C2A76)  # CRC-64-AVRO of schemas/status.avsc
_NO_CONTAINER = struct.pack("<Q", 0xCDB166BAFD669F8D)  # of before there was contained_in
_NO_RULE = struct.pack("<Q", 0x052AEAFB6E82C021)  # of before there was a rule
_STATUSES = ("unique", "winner", "loser", "gone")
_UNKNOWN_TOPIC = 3  # the protocol's UNKNOWN_TOPIC_OR_PARTITION
_REASONS = ("content", "redirect", "exact")
_RULES = ("popularity", "static", "short", "market", "id", "override")


class DecodeError(ValueError):
    """The bytes are not a status event."""


@dataclass(frozen=True)
class Status:
    """A status event. The latest event of a page is its status. schemas/status.avsc describes each field."""

    url: str  #: as it was spelled when it was fetched last; ``StatusConsumer.key`` names the page
    version_ms: int
    status: str  #: "unique", "winner", "loser" or "gone"
    winner_url: Optional[str]
    similarity: Optional[float]
    reason: Optional[str]  #: "content", "redirect" or "exact"
    group_id: str
    group_size: int
    epoch: int
    #: of a loser by content, the rule that ranked its winner before it: "popularity", "static", "short", "market", "id"
    #: or "override"
    rule: Optional[str] = None
    #: of a kept page, with containment.threshold: a larger kept page that contains nearly all of its text
    contained_in: Optional[str] = None
    containment: Optional[float] = None  #: the share of the text that it contains


class _Reader:
    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def take(self, count: int) -> bytes:
        if count < 0 or self.at + count > len(self.data):
            raise DecodeError("the event ends before it is complete")
        self.at += count
        return self.data[self.at - count:self.at]

    def long(self) -> int:
        value = shift = 0
        while True:
            byte = self.take(1)[0]
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                break
            if shift > 63:
                raise DecodeError("a number has more than ten bytes")
        if value >> 64:
            raise DecodeError("a number has more than 64 bits")
        return (value >> 1) ^ -(value & 1)

    def text(self) -> str:
        try:
            return self.take(self.long()).decode()
        except UnicodeDecodeError as error:
            raise DecodeError(f"a text is not UTF-8: {error}") from None

    def symbol(self, symbols: Tuple[str, ...]) -> str:
        number = self.long()
        if not 0 <= number < len(symbols):
            raise DecodeError(f"{number} is none of {', '.join(symbols)}")
        return symbols[number]

    def present(self) -> bool:
        branch = self.long()
        if branch not in (0, 1):
            raise DecodeError(f"there is no branch {branch}")
        return branch == 1


def decode_status(value: Optional[bytes]) -> Status:
    """Decodes the value of a message of the status topic, in single-object encoding or in the framing of a schema
    registry, whose id is ignored. DecodeError if it is not a status event, also if it is None: a message without a
    value says that the page of its key was erased."""
    if value is None:
        raise DecodeError("the message has no value: the page of its key was erased")
    # Where the event ends; a registry's id does not say.
    registry, rule, container = value[:1] == b"\0", True, True
    if value[:2] == _SINGLE_OBJECT:
        rule = value[2:10] != _NO_RULE
        container = rule and value[2:10] != _NO_CONTAINER
        if container and value[2:10] != _FINGERPRINT:
            raise DecodeError(f"written with another schema, of fingerprint {value[2:10][::-1].hex()}")
        reader = _Reader(value[10:])
    elif registry and len(value) > 5:
        reader = _Reader(value[5:])
    else:
        raise DecodeError("neither in single-object encoding nor in that of a schema registry")
    fields: Dict[str, Any] = dict(
        url=reader.text(),
        version_ms=reader.long(),
        status=reader.symbol(_STATUSES),
        winner_url=reader.text() if reader.present() else None,
        similarity=struct.unpack("<f", reader.take(4))[0] if reader.present() else None,
        reason=reader.symbol(_REASONS) if reader.present() else None,
        group_id=reader.text(), group_size=reader.long(), epoch=reader.long())
    if rule and not (registry and reader.at == len(reader.data)):
        fields["rule"] = reader.symbol(_RULES) if reader.present() else None
    if container and not (registry and reader.at == len(reader.data)):
        fields["contained_in"] = reader.text() if reader.present() else None
        fields["containment"] = struct.unpack("<f", reader.take(4))[0] if reader.present() else None
    if reader.at != len(reader.data):
        raise DecodeError("there are bytes behind the event")
    return Status(**fields)


class _Places:
    """Where the reading of each partition began and where it is, to notice that it begins before that: a group begins
    where it has committed, and the deletion of a topic deletes what was committed."""

    def __init__(self) -> None:
        self._first: Dict[int, Any] = {}  # by partition: the message at which reading began
        self._least: Dict[int, int] = {}  # no member of the group begins before
        self._next: Dict[int, int] = {}

    @staticmethod
    def _name(message: Any) -> Any:
        return message.offset(), message.timestamp(), message.key(), message.value()

    def moved(self, partitions: List[Any]) -> None:
        """Another member may have read on, and what was not committed comes again."""
        for partition in partitions:
            self._next.pop(partition.partition, None)

    def committed(self, message: Any) -> None:
        self._least[message.partition()] = message.offset() + 1

    def goes_back(self, message: Any) -> bool:
        at, offset = message.partition(), message.offset()
        first = self._first.get(at)
        again = (offset < self._next.get(at, self._least.get(at, 0))
                 or (first is not None and offset == first[0] and self._name(message) != first))
        if again:  # so will the other partitions, which is no news
            self._first, self._least, self._next = {}, {}, {}
        if at not in self._next:
            self._first[at] = self._name(message)
            self._least[at] = max(offset, self._least.get(at, 0))
        self._next[at] = offset + 1
        return again

    def __bool__(self) -> bool:
        return bool(self._first)


class StatusConsumer:
    """Follows the status topic. Needs confluent-kafka.

    >>> with StatusConsumer("127.0.0.1:9092", group="my-indexer") as consumer:  # doctest: +SKIP
    ...     for status in consumer:
    ...         print(consumer.key, status.url, status.status, status.winner_url)
    ...         consumer.commit()

    Only committed events are returned, at first from the beginning of the topic. After a crash, events since the last
    commit are delivered again, so applying an event must be idempotent.

    Keep a status under ``key``, the canonical URL: the url of an event is as the crawler spelled it, and the next event of
    the page may spell it in another way.

    If the topic is deleted and recreated while the consumer is open, ``remade`` grows before the first event of the new
    topic. Your data may then contain pages that the topic no longer has: delete it.

    :param topic: the full name of the topic, prefix included.
    :param group: the consumer group whose members share the partitions and whose commits are kept.
    :param config: settings of librdkafka on top, as for TLS and SASL.
    """

    def __init__(self, bootstrap_servers: str, topic: str = "samepage.status", *, group: str,
                 config: Optional[Mapping[str, Any]] = None, consumer: Any = None) -> None:
        self.bad = 0  #: records passed over since they are no status events
        self.remade = 0  #: how many times the topic was deleted and recreated
        #: the canonical URL of the page that the last poll returned an event of, or that was erased; else None
        self.key: Optional[str] = None
        #: the same, if the page was erased (`samepage forget`), so that the last poll returned None
        self.erased: Optional[str] = None
        if consumer is None:
            kafka = need("confluent_kafka", "StatusConsumer")
            consumer = kafka.Consumer({
                "auto.offset.reset": "earliest", **(config or {}),
                "bootstrap.servers": bootstrap_servers, "group.id": group,
                "enable.auto.commit": False, "isolation.level": "read_committed"})
        self._consumer = consumer
        self._seen: Dict[int, Any] = {}  # by partition: the last event since the last commit
        self._places = _Places()
        self._held: Any = None  # the first event of a topic that was recreated
        consumer.subscribe([topic], on_assign=self._moved, on_revoke=self._moved)

    def _moved(self, _consumer: Any, partitions: List[Any]) -> None:
        self._places.moved(partitions)
        for partition in partitions:
            self._seen.pop(partition.partition, None)

    def poll(self, timeout: float = 1.0) -> Optional[Status]:
        """Returns the next event, or None if none arrives within ``timeout`` seconds, a page was erased or the topic was
        recreated. Raises ConnectionError if the broker refuses."""
        self.erased = self.key = None
        message, held, self._held = self._held, self._held is not None, None
        if not held:
            message = self._consumer.poll(timeout)
        if message is None:
            return None
        error = message.error()
        if error is not None:
            deleted = error.code() == _UNKNOWN_TOPIC and self._places  # it may be recreated
            if error.fatal() or not (error.retriable() or deleted):
                raise ConnectionError(str(error))
            return None
        if not held and self._places.goes_back(message):
            self.remade += 1
            self._held, self._seen = message, {}
            return None
        self._seen[message.partition()] = message
        key = None if message.key() is None else message.key().decode("utf-8", "replace")
        if message.value() is None:
            self.key = self.erased = key
            return None
        try:
            status = decode_status(message.value())
        except DecodeError:
            self.bad += 1
            return None
        self.key = key
        return status

    def __iter__(self) -> Iterator[Status]:
        """Events without end."""
        while True:
            status = self.poll()
            if status is not None:
                yield status

    def commit(self) -> None:
        """Commits all events returned so far: the next start continues after them. If it raises, call it again."""
        # The position that librdkafka would commit by itself is none where it is before what was committed of a topic
        # that was recreated.
        for partition, message in list(self._seen.items()):
            self._consumer.commit(message=message, asynchronous=False)
            self._places.committed(message)
            self._seen.pop(partition, None)

    def close(self) -> None:
        self._consumer.close()

    def __enter__(self) -> "StatusConsumer":
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                 where: Optional[TracebackType]) -> None:
        self.close()
