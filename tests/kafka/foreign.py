"""A reader of the status topic that nobody here wrote: confluent-kafka and fastavro, with the schema
in schemas/. Prints every event as a line of JSON.

usage: foreign.py BROKER TOPIC SCHEMA    (in a Python that has both packages)
"""

import datetime
import io
import json
import sys

import confluent_kafka
import fastavro
import fastavro.schema

HEADER_BYTES = 10  # C3 01, then the schema's fingerprint, little-endian
EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)


def main(broker, topic, schema_file):
    with open(schema_file, encoding="utf-8") as file:
        described = json.load(file)
    canonical = fastavro.schema.to_parsing_canonical_form(described)
    fingerprint = bytes.fromhex(fastavro.schema.fingerprint(canonical, "CRC-64-AVRO"))
    schema = fastavro.parse_schema(described)
    consumer = confluent_kafka.Consumer({
        "bootstrap.servers": broker, "group.id": "samepage-foreign", "enable.auto.commit": False,
        "isolation.level": "read_committed", "enable.partition.eof": True})
    partitions = consumer.list_topics(topic, 10).topics[topic].partitions
    consumer.assign([confluent_kafka.TopicPartition(topic, p, confluent_kafka.OFFSET_BEGINNING)
                     for p in partitions])
    left = len(partitions)
    while left:
        message = consumer.poll(30)
        if message is None:
            raise SystemExit("the topic has no end")
        if message.error():
            if message.error().code() != confluent_kafka.KafkaError._PARTITION_EOF:
                raise SystemExit(str(message.error()))
            left -= 1
            continue
        value = message.value()
        if value[:HEADER_BYTES] != b"\xc3\x01" + fingerprint:
            raise SystemExit(f"the header is {value[:HEADER_BYTES].hex()}, not of {schema_file}")
        body = io.BytesIO(value[HEADER_BYTES:])
        event = fastavro.schemaless_reader(body, schema)
        if body.read():
            raise SystemExit("bytes are left behind the event")
        event["version_ms"] = (event["version_ms"] - EPOCH) // datetime.timedelta(milliseconds=1)
        print(json.dumps(event))
    consumer.close()


main(*sys.argv[1:])
