"""The fields of a serialized protocol buffer, read without its schema."""

from __future__ import annotations

from collections.abc import Iterator


__all__ = ["fields", "integers", "text", "varint"]

# How a field is written, in the last three bits of its key.
_VARINT, _EIGHT_BYTES, _COUNTED, _FOUR_BYTES = 0, 1, 2, 5


def varint(data: memoryview, at: int) -> tuple[int, int]:
    """The integer that begins at `at`, seven bits in each byte, and where it ends."""
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7


def fields(data: memoryview) -> Iterator[tuple[int, int | memoryview]]:
    """The fields of one message in order: each its number, and an integer or its bytes."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        kind = key & 7
        if kind == _VARINT:
            value, at = varint(data, at)
            yield key >> 3, value
            continue
        if kind == _COUNTED:
            size, at = varint(data, at)
        elif kind in (_EIGHT_BYTES, _FOUR_BYTES):
            size = 8 if kind == _EIGHT_BYTES else 4
        else:
            raise ValueError(f"a protocol buffer has no field of kind {kind}")
        yield key >> 3, data[at : at + size]
        at += size


def integers(value: int | memoryview) -> list[int]:
    """A repeated integer field: one integer, or several packed into bytes."""
    if isinstance(value, int):
        return [value]
    found, at = [], 0
    while at < len(value):
        number, at = varint(value, at)
        found.append(number)
    return found


def text(value: int | memoryview) -> str:
    """A field that is a string."""
    return "" if isinstance(value, int) else str(value, "utf-8", "replace")
