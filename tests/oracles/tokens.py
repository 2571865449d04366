#!/usr/bin/env python3
"""Writes small tokenizers of the kinds that published networks have, and what tokens they make, to which a test holds
ours (tests/train/folder_tokenizer_test.cpp), so that no package is needed for that.

    tests/oracles/tokens.py

takes the packages tokenizers and sentencepiece. Each folder of tests/oracles/tokens has a tokenizer's files, trained on
the text below; tokens.json there has the tokens of texts that hurt."""
import io
import json
import pathlib
import sys
import zlib

try:
    import sentencepiece
    import tokenizers
    from tokenizers import decoders, models, normalizers, pre_tokenizers, processors, trainers
except ImportError as missing:
    print(f"tokens: skipped: {missing}; pip install tokenizers sentencepiece", file=sys.stderr)
    sys.exit(77)

OUT = pathlib.Path(__file__).parent / "tokens"
TRAINED = """The quick brown fox doesn't jump over the lazy dog; they've said it'll rain, but I'm sure we'd manage.
In 1984 there were 365 days, 12 months and 52 weeks: 3.14159 is not 22/7. int main() { return 0; }  // nothing
    for (int i = 0; i < 10; ++i) {\n\t\tsum += values[i];\n    }\n\n
Das größte Übel ist die Gewohnheit. L'été à la plage, où le cœur s'émeut. El niño comió piñas mañana.
Быстрая лиса прыгает через ленивую собаку. 我们今天去学校学习，明天也去。 今日は学校に行きます。 안녕하세요 세계
the tokens of the text are the tokens that the network knows, and the text is the text that the tokens make
extraordinary extraordinarily ordinary order ordered ordering orders
""" * 3
HURT = [
    "", " ", "  ", "a", " a", "a ", "  a  b   c", "Hello world", "the quick brown fox", "The  tokens\tof\n\nthe text\n",
    "I'm sure they've said it'll DON'T, I'D, we'Re 'S 's' ''s it's'", "'\u017f and '\u017ft", "1 12 123 1234 12345 1,000.50 in1984 a1b2 x 5",
    "\u00b2\u00bd\u0663\u2167 \u096a\u096b\u096c\u096d", "  3  4", "x=y+1; if (a<b) { return !c; }", "foo.bar(baz)->qux::quux", "...!!!??? -- --- _a_b_",
    "\n", "\n\n", " \n ", "\r\n\r\na", "a\r\n", "a \n b", "a  \n  b\n\n  c", "\t\ta", "a\u00a0b\u3000c\u2003\u2003d\u0085e\u2028f",
    "na\u00efve caf\u00e9 \u00dcbel \u0130stanbul STRASSE \u1e9e", "e\u0301 a\u0308\u0323 a\u0323\u0308 \u0071\u0307\u0323 \u0301x", "\u1e69 s\u0323\u0307 \u212b \u2126 \uf900 \u0958",
    "\u1100\u1161\u11a8 \uac00\u11a8 \u1112\u1161\u11ab\uae00", "\u6211\u4eec\u4eca\u5929\u53bb\u5b66\u6821\u3002\u660e\u5929\u2019s\u4e5f\u53bb", "\u4eca\u65e5\u306f\u5b66\u6821\u306b\u30ab\u30bf\u30ab\u30ca",
    "\u0411\u044b\u0441\u0442\u0440\u0430\u044f \u043b\u0438\u0441\u0430 \u0419\u0439 \u0435\u0308", "\uc548\ub155\ud558\uc138\uc694 \uc138\uacc4", "\u0645\u0631\u062d\u0628\u0627 \u0628\u0643 \u0e2a\u0e27\u0e31\u0e2a\u0e14\u0e35 \u0928\u092e\u0938\u094d\u0924\u0947",
    "\U0001f600 \U0001f468\u200d\U0001f469\u200d\U0001f467 \U0001f44d\U0001f3fd\u2764\ufe0f 1\ufe0f\u20e3 \U0001f1e9\U0001f1ea", "\u0000a\u0001\u001f b\u007f\u0080\u00ad\u200b\u200dc\ufeff\ufffd", "\u2581a \u2581 b\u2581\u2581",
    "<|endoftext|>a <|endoftext|>", "<s>a</s> b<unk>", "[CLS] a [SEP][MASK] [UNK]", "a <mark> b<mark>c  <mark>  d", "<|im_start|>user\nhi<|im_end|>\n",
    "extraordinary extraordinarily", "a" * 101 + " b", "W" * 70, "  " * 40 + "x", "\u4e00" * 30, "don\u2019t\u2014stop\u2026\u201cnow\u201d", "a\u0338b <\u0338 >\u0338",
    "\ud7a4\ufffe\U0010ffff\U000e0001\ue000", "\ua7dc\u1c89\U00010d50 \u13a0\uab70 \u10d0\u1c90 \u03a3\u03c2\u039f\u03a3 \u01c5 \ufb01", "\u037e\u1fef\u00b4\u0340\u0344 \u0f73",
]
LONG = {"text": "It's 12 o'clock, Übel cafe\u0301 \u6211\u4eec. (x)  y\n", "times": 3000}
GPT2 = r"""'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"""
LLAMA3 = r"""(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"""
QWEN2 = LLAMA3.replace("{1,3}", "")
BLANK = "\u2581"


def added(content, number, special=True, **more):
    return {"id": number, "content": content, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False,
            "special": special} | more


def byte_level(pre, special, normalizer=None):
    """A trained tokenizer as JSON."""
    tokenizer = tokenizers.Tokenizer(models.BPE())
    tokenizer.pre_tokenizer, tokenizer.decoder = pre, decoders.ByteLevel()
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=False)
    if normalizer:
        tokenizer.normalizer = normalizer
    trainer = trainers.BpeTrainer(vocab_size=440, initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()), show_progress=False)
    tokenizer.train_from_iterator([TRAINED], trainer)
    json_ = json.loads(tokenizer.to_str())
    first = len(json_["model"]["vocab"])
    json_["added_tokens"] = [added(token, first + i, **more) for i, (token, more) in enumerate(special)]
    return json_


def split(expression):
    return pre_tokenizers.Sequence([pre_tokenizers.Split(tokenizers.Regex(expression), "isolated"),
                                    pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])


def template(before, after, numbers):
    return {"type": "TemplateProcessing",
            "single": [{"SpecialToken": {"id": t, "type_id": 0}} for t in before] + [{"Sequence": {"id": "A", "type_id": 0}}]
            + [{"SpecialToken": {"id": t, "type_id": 0}} for t in after],
            "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
            "special_tokens": {t: {"id": t, "ids": [numbers[t]], "tokens": [t]} for t in [*before, *after]}}


def gpt2():
    json_ = byte_level(pre_tokenizers.ByteLevel(add_prefix_space=False), [("<|endoftext|>", {}), ("<mark>", {"lstrip": True, "rstrip": True})])
    json_["model"]["merges"] = [" ".join(merge) for merge in json_["model"]["merges"]]  # as older versions have them
    return json_


def llama3():
    json_ = byte_level(split(LLAMA3), [("<|begin_of_text|>", {}), ("<|endoftext|>", {"special": False})])
    vocab, begin = json_["model"]["vocab"], json_["added_tokens"][0]["id"]
    for token in json_["added_tokens"]:
        token["id"] += 2
    vocab |= {"\u0120extraordinarily": begin, "extraordinary": begin + 1}  # which no merges make
    json_["model"]["ignore_merges"] = True
    json_["post_processor"] = {"type": "Sequence", "processors": [json_["post_processor"],
                               template(["<|begin_of_text|>"], [], {"<|begin_of_text|>": begin + 2})]}
    return json_


def qwen2():
    return byte_level(split(QWEN2), [("<|endoftext|>", {}), ("<|im_start|>", {}), ("<|im_end|>", {}), ("<mark>", {"special": False})],
                      normalizers.NFC())


def smollm2():
    pre = pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)])
    return byte_level(pre, [("<|endoftext|>", {}), ("<|im_start|>", {}), ("<|im_end|>", {})])


def bert():
    settings = {"clean_text": True, "handle_chinese_chars": True, "strip_accents": None, "lowercase": True}
    tokenizer = tokenizers.Tokenizer(models.WordPiece(unk_token="[UNK]", max_input_chars_per_word=100))
    tokenizer.normalizer, tokenizer.pre_tokenizer = normalizers.BertNormalizer(**settings), pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece(prefix="##", cleanup=True)
    marks = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    tokenizer.train_from_iterator([TRAINED], trainers.WordPieceTrainer(vocab_size=420, special_tokens=marks, show_progress=False))
    json_ = json.loads(tokenizer.to_str())
    json_["post_processor"] = template(["[CLS]"], ["[SEP]"], {"[CLS]": 2, "[SEP]": 3})
    return json_


def pieces():
    """sentencepiece's file."""
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(TRAINED.splitlines()), model_writer=model, model_type="bpe", vocab_size=620, byte_fallback=True,
        normalization_rule_name="identity", remove_extra_whitespaces=False, character_coverage=0.98, minloglevel=2,
        allow_whitespace_only_pieces=True, split_digits=True)
    return model.getvalue()


def pieces_json(model, normalizer):
    """The same as the package transformers turns it into a tokenizer.json."""
    processor = sentencepiece.SentencePieceProcessor(model_proto=model)
    vocab = {processor.id_to_piece(i): i for i in range(len(processor))}
    score = {piece: processor.get_score(i) for piece, i in vocab.items()}
    merges = []
    for piece in vocab:
        parts = [(piece[:i], piece[i:]) for i in range(1, len(piece)) if piece[:i] in vocab and piece[i:] in vocab]
        merges += [(score[piece], *part) for part in sorted(parts, key=lambda p: (vocab[p[0]], vocab[p[1]]))]
    merges.sort(key=lambda m: (m[0], len(m[1]), len(m[2])), reverse=True)
    strip = [{"type": "Strip", "content": " ", "start": 1, "stop": 0}]
    return {"version": "1.0", "truncation": None, "padding": None, "added_tokens": [added(t, i) for i, t in enumerate(["<unk>", "<s>", "</s>"])],
            "normalizer": normalizer, "pre_tokenizer": None, "post_processor": template(["<s>"], [], {"<s>": 1}),
            "decoder": {"type": "Sequence", "decoders": [{"type": "Replace", "pattern": {"String": BLANK}, "content": " "},
                                                         {"type": "ByteFallback"}, {"type": "Fuse"}, *strip]},
            "model": {"type": "BPE", "dropout": None, "unk_token": "<unk>", "continuing_subword_prefix": None,
                      "end_of_word_suffix": None, "fuse_unk": True, "byte_fallback": True, "ignore_merges": False,
                      "vocab": vocab, "merges": [f"{left} {right}" for _, left, right in merges]}}


def changed(json_, *changes):
    """A copy with other values at places."""
    json_ = json.loads(json.dumps(json_))
    for place, value in changes:
        *way, last = place.split("/")
        at = json_
        for key in way:
            at = at[key]
        at[last] = value
    return json_


def metaspace(scheme, cuts):
    pre = {"type": "Metaspace", "replacement": BLANK, "prepend_scheme": scheme, "split": cuts}
    return [("normalizer", None), ("pre_tokenizer", pre)]


def variants(jsons):
    """The test makes them of the others."""
    return {"prefixed": changed(jsons["gpt2"], ("pre_tokenizer/add_prefix_space", True)),
            "bert_cased": changed(jsons["bert"], ("normalizer/lowercase", False), ("normalizer/handle_chinese_chars", False)),
            "metaspace": changed(jsons["llama2"], *metaspace("first", False)),
            "metaspace_cut": changed(jsons["llama2"], *metaspace("always", True))}


def figures(encode, decode, frame):
    """`encode` and `decode` know of no frame."""
    long = encode(LONG["text"] * LONG["times"])
    checksum = zlib.crc32(b"".join(number.to_bytes(4, "little") for number in long))
    return {"frame": frame, "ids": [encode(text) for text in HURT], "decoded": [back if (back := decode(encode(text))) != text else None for text in HURT],
            "long": {"count": len(long), "checksum": checksum}}


def figures_of(tokenizer):
    encode = lambda text: tokenizer.encode(text, add_special_tokens=False).ids
    whole = tokenizer.encode("a").ids
    at = whole.index(encode("a")[0])
    return figures(encode, lambda ids: tokenizer.decode(ids, skip_special_tokens=False), [whole[:at], whole[at + len(encode("a")):]])


def main():
    OUT.mkdir(exist_ok=True)
    found = {}

    def keep(name, files):
        (OUT / name).mkdir(exist_ok=True)
        for file, content in files.items():
            text = content if isinstance(content, (bytes, str)) else json.dumps(content, ensure_ascii=False, separators=(",", ":"))
            (OUT / name / file).write_bytes(text.encode() if isinstance(text, str) else text)

    model = pieces()
    prepend = {"type": "Sequence", "normalizers": [{"type": "Prepend", "prepend": BLANK},
                                                   {"type": "Replace", "pattern": {"String": " "}, "content": BLANK}]}
    jsons = {"gpt2": gpt2(), "llama3": llama3(), "qwen2": qwen2(), "smollm2": smollm2(), "bert": bert(),
             "llama2": pieces_json(model, prepend)}
    for name, json_ in jsons.items():
        keep(name, {"tokenizer.json": json_})
    for name, json_ in (jsons | variants(jsons)).items():
        found[name] = figures_of(tokenizers.Tokenizer.from_str(json.dumps(json_)))
    vocab = jsons["bert"]["model"]["vocab"]
    keep("bert_words", {"vocab.txt": "".join(token + "\n" for token in sorted(vocab, key=vocab.get)), "tokenizer_config.json": {"do_lower_case": True}})
    found["bert_words"] = "bert"
    keep("pieces", {"tokenizer.model": model})
    processor = sentencepiece.SentencePieceProcessor(model_proto=model)
    found["pieces"] = figures(processor.encode, processor.decode, [[processor.bos_id()], []])
    text = json.dumps({"texts": HURT, "long": LONG, "tokenizers": found}, separators=(",", ":"))
    (OUT / "tokens.json").write_text(text.replace('},"', '},\n"') + "\n")


if __name__ == "__main__":
    main()
