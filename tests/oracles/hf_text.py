#!/usr/bin/env python3
"""Writes what Hugging Face's networks of text compute in f64, to which a test holds ours (tests/train/hf_families_test.cpp),
so that no transformers is needed for that.

    tests/oracles/hf_text.py > tests/oracles/hf_text.json

Each case is a tiny network of transformers with made weights (made_weights.py): its config.json as transformers writes
it, names and shapes of its tensors, logits, losses of AdamW's first steps, the norms of the weights after them, and what
it writes on from a prompt when it always takes the likeliest token. What transformers computes in f32 whatever a
network's dtype is (norms, rotary positions) is computed in f64 here."""
import json
import sys

try:
    import numpy as np
    import torch
    import transformers
except ImportError as missing:
    print(f"hf_text: skipped: {missing}", file=sys.stderr)
    sys.exit(77)

from made_weights import fill, made

torch.set_default_dtype(torch.float64)
torch.float32 = torch.float = torch.float64  # what the sources of transformers ask for by name
torch.Tensor.float = torch.Tensor.double

STEPS, LENGTH, PROMPT, NEW = 5, 16, 5, 8
ADAMW = {"lr": 0.01, "beta1": 0.9, "beta2": 0.95, "eps": 1e-8, "weight_decay": 0.1}
ROWS = (0, 1, LENGTH - 1, 2 * LENGTH - 1)  # of the logits, which are kept; the tokens of the batch counted through
SIZES = {"vocab_size": 48, "hidden_size": 32, "intermediate_size": 40, "num_hidden_layers": 2, "num_attention_heads": 8,
         "num_key_value_heads": 4, "max_position_embeddings": 64}
OURS = {"vocab": 48, "length": LENGTH, "width": 32, "hidden": 40, "layers": 2, "heads": 8, "kv_heads": 4}
SLOWED = {"rope_type": "llama3", "rope_theta": 500000.0, "factor": 8.0, "low_freq_factor": 0.2, "high_freq_factor": 0.6,
          "original_max_position_embeddings": 64}  # of four pairs one is slowed in part
# (name, family and model, settings beside SIZES, our network, our settings beside OURS)
CASES = (
    ("gpt2", "GPT2", {"n_positions": LENGTH, "n_embd": 32, "n_layer": 2, "n_head": 8}, "gpt2", {}),
    ("gpt2_inner", "GPT2", {"n_positions": LENGTH, "n_embd": 32, "n_layer": 2, "n_head": 8, "n_inner": 40,
                            "layer_norm_epsilon": 1e-3}, "gpt2", {"hidden": 40, "norm_eps": 1e-3}),
    ("llama", "Llama", {}, "llama", {"norm_eps": 1e-6}),
    ("llama_theta", "Llama", {"rope_theta": 500000.0, "rms_norm_eps": 1e-5}, "llama", {"rope_base": 500000}),
    ("llama_tied", "Llama", {"tie_word_embeddings": True, "rms_norm_eps": 1e-5}, "llama", {"tied": "true"}),
    ("llama_head_dim", "Llama", {"hidden_size": 36, "head_dim": 10, "rms_norm_eps": 1e-5, "num_attention_heads": 9,
                                 "num_key_value_heads": 3},
     "llama", {"width": 36, "head_size": 10, "heads": 9, "kv_heads": 3}),
    ("llama_biases", "Llama", {"attention_bias": True, "mlp_bias": True, "rms_norm_eps": 1e-5}, "llama",
     {"qkv_bias": "true", "mlp_bias": "true"}),
    ("llama3", "Llama", {"rope_parameters": SLOWED, "rms_norm_eps": 1e-5, "head_dim": 8, "max_position_embeddings": 512}, "llama",
     {"head_size": 8, "rope_base": 500000, "rope_factor": 8, "rope_low": 0.2, "rope_high": 0.6, "rope_length": 64}),
    ("qwen2", "Qwen2", {"rope_theta": 1000000.0}, "llama", {"norm_eps": 1e-6, "rope_base": 1000000, "qkv_bias": "true",
                                                 "out_bias": "false"}),
    ("qwen3", "Qwen3", {"head_dim": 8, "tie_word_embeddings": True}, "llama",
     {"norm_eps": 1e-6, "head_size": 8, "qk_norm": "true", "tied": "true"}),
    ("mistral", "Mistral", {"sliding_window": 6}, "llama", {"norm_eps": 1e-6, "window": 6}),
    ("mistral_whole", "Mistral", {"sliding_window": None}, "llama", {"norm_eps": 1e-6}),
    ("gemma", "Gemma", {"head_dim": 8}, "llama", {"norm_eps": 1e-6, "head_size": 8, "tied": "true", "gelu": "true",
                                                  "norm_offset": 1, "scaled_tokens": "true"}),
)


def tokens_of(batch):
    """Text and what follows each of its tokens, [batch, LENGTH]."""
    drawn = made("tokens", (batch, LENGTH + 1)).astype(np.float64)
    text = torch.from_numpy(((drawn / 0.2 + 0.5) * SIZES["vocab_size"]).astype(np.int64))
    return text[:, :-1], text[:, 1:]


def network(family, settings):
    sizes = {"vocab_size": SIZES["vocab_size"]} if family == "GPT2" else SIZES
    if "rope_theta" in settings:
        settings = {**settings, "rope_parameters": {"rope_type": "default", "rope_theta": settings["rope_theta"]}}
        del settings["rope_theta"]
    ends = {"bos_token_id": None, "eos_token_id": None, "pad_token_id": None}
    config = getattr(transformers, family + "Config")(**{**sizes, **settings}, **ends, attn_implementation="eager")
    if family == "GPT2":
        config.resid_pdrop = config.embd_pdrop = config.attn_pdrop = 0.0
    return getattr(transformers, {"GPT2": "GPT2LMHeadModel"}.get(family, family + "ForCausalLM"))(config).double()


def decays(name, parameter):
    """As ours: weights, but not biases, norms and positions."""
    return parameter.ndim > 1 and "wpe" not in name


def losses_of(model, text, following):
    named = list(model.named_parameters())
    groups = [{"params": [p for name, p in named if decays(name, p) == of], "weight_decay": of * ADAMW["weight_decay"]}
              for of in (True, False)]
    optimizer = torch.optim.AdamW(groups, lr=ADAMW["lr"], betas=(ADAMW["beta1"], ADAMW["beta2"]), eps=ADAMW["eps"])
    losses = []
    for _ in range(STEPS):
        optimizer.zero_grad()
        logits = model(input_ids=text).logits
        loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), following.flatten())
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def is_scale(name):
    """Whether it is the weight of a norm. Gemma's are what scales differ from 1 by."""
    return name.endswith(".weight") and any(part in name.split(".")[-2] for part in ("norm", "ln_"))


def case(name, family, settings, ours, sets):
    model = network(family, settings).train(False)
    weights = fill(model, lambda tensor: family != "Gemma" and is_scale(tensor))
    text, following = tokens_of(2)
    with torch.no_grad():
        logits = model(input_ids=text).logits.flatten(0, 1)
        symbols = text[0, :PROMPT].tolist()
        for _ in range(NEW):
            symbols.append(int(model(input_ids=torch.tensor([symbols])).logits[0, -1].argmax()))
        generated = model.generate(text[:1, :PROMPT], max_new_tokens=NEW, do_sample=False, use_cache=True)[0].tolist()
    assert symbols == generated, (name, symbols, generated)
    config = {**json.loads(model.config.to_json_string()), "architectures": [type(model).__name__], "dtype": "float32"}
    losses = losses_of(model, text, following)
    state = model.state_dict()
    sizes = {key: value for key, value in OURS.items() if ours != "gpt2" or key not in ("hidden", "kv_heads")}
    return {"name": name, "model": ours, "set": {key: str(value) for key, value in {**sizes, **sets}.items()}, "config": config,
            **weights, "text": text.tolist(), "next": following.tolist(), "rows": ROWS, "logits": logits[list(ROWS)].tolist(),
            "losses": losses, "after": {name: state[name].norm().item() for name in weights["tensors"]},
            "generated": generated, "prompt": PROMPT}


def main():
    cases = []
    for of in CASES:
        cases.append(case(*of))
        print(cases[-1]["name"], *cases[-1]["losses"], file=sys.stderr, flush=True)
    by = f"transformers {transformers.__version__}, PyTorch {torch.__version__}, f64, tests/oracles/hf_text.py"
    lines = ",\n".join("    " + json.dumps(c) for c in cases)
    print(f'{{\n  "by": "{by}", "adamw": {json.dumps(ADAMW)},\n  "cases": [\n{lines}\n  ]\n}}')


if __name__ == "__main__":
    main()
