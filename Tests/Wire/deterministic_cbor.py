# SPDX-License-Identifier: Apache-2.0
"""Deterministic CBOR (RFC 8949, section 4.2) as far as docs/reference/protocol.md uses it, for the clients in Python. Written from
the documents, without any of the Swift code."""


def head(major, number):
    """The first bytes of an item: its major type and its number, in the shortest form."""
    if number < 24:
        return bytes([major << 5 | number])
    for code, size in ((24, 1), (25, 2), (26, 4), (27, 8)):
        if number < 1 << 8 * size:
            return bytes([major << 5 | code]) + number.to_bytes(size, "big")
    raise ValueError("number too large")


def encode(value):
    """Encodes a Boolean, an integer, bytes, a text, a list or a dictionary."""
    if isinstance(value, bool):
        return b"\xf5" if value else b"\xf4"
    if isinstance(value, int):
        return head(0, value) if value >= 0 else head(1, -1 - value)
    if isinstance(value, (bytes, bytearray)):
        return head(2, len(value)) + bytes(value)
    if isinstance(value, str):
        text = value.encode()
        return head(3, len(text)) + text
    if isinstance(value, (list, tuple)):
        return head(4, len(value)) + b"".join(map(encode, value))
    if isinstance(value, dict):
        return head(5, len(value)) + b"".join(encode(key) + encode(value[key]) for key in sorted(value))
    raise TypeError(type(value))


def decode(data):
    """Decodes exactly one item; raises ValueError for an encoding that is not deterministic."""
    value, end = decode_item(data, 0)
    if end != len(data):
        raise ValueError("bytes after the item")
    return value


def decode_item(data, at):
    """Decodes the item at an offset. Returns it with the offset behind it."""
    first = data[at]
    major, info, at = first >> 5, first & 31, at + 1
    if major == 7:
        if info in (20, 21):
            return info == 21, at
        raise ValueError("simple value")
    if info < 24:
        number = info
    elif info < 28:
        size = 1 << info - 24
        number, at = int.from_bytes(data[at:at + size], "big"), at + size
        if number < (24 if size == 1 else 1 << 4 * size):
            raise ValueError("head not in its shortest form")
    else:
        raise ValueError("indefinite length")
    if major == 0:
        return number, at
    if major == 1:
        return -1 - number, at
    if major in (2, 3):
        if at + number > len(data):
            raise ValueError("cut")
        piece = bytes(data[at:at + number])
        return (piece if major == 2 else piece.decode()), at + number
    if major == 4:
        items = []
        for _ in range(number):
            value, at = decode_item(data, at)
            items.append(value)
        return items, at
    if major == 5:
        result = {}
        for _ in range(number):
            key, at = decode_item(data, at)
            result[key], at = decode_item(data, at)
        return result, at
    raise ValueError("tag")
