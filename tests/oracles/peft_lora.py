#!/usr/bin/env python3
"""Writes what Hugging Face's PEFT computes with low-rank adapters in f64, to which a test holds ours
(tests/train/peft_lora_test.cpp), so that no peft is needed for that.

    tests/oracles/peft_lora.py > tests/oracles/peft_lora.json
    tests/oracles/peft_lora.py --open CASE DIR

Each case is a tiny network of transformers with made weights (made_weights.py) and adapters with made weights, too: the
adapter_config.json that PEFT writes, names and shapes of the tensors that it saves, logits, losses of AdamW's first steps
and norms of the adapter's tensors after them, and norms of what merging changes. With --open PEFT opens the adapter in DIR,
one that we wrote for the case's base, and must find neither a missing nor an unexpected key; its logits are printed."""
import json
import os
import sys
import tempfile

try:
    import peft
    import safetensors.torch
    import torch
    import transformers

    SINGLE = torch.float32
    import hf_encoders
    import hf_text  # whose torch.float32 is f64
except ImportError as missing:
    print(f"peft_lora: skipped: {missing}", file=sys.stderr)
    sys.exit(77)

from made_weights import fill, made

STEPS = 20
ALL = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]
# (name, family, settings beside hf_text.SIZES, our network, our settings, LoraConfig)
CASES = (
    ("llama", "Llama", {}, "llama", {"norm_eps": 1e-6}, {"r": 4, "lora_alpha": 8, "task_type": "CAUSAL_LM"}),
    ("llama_all", "Llama", {}, "llama", {"norm_eps": 1e-6},
     {"r": 4, "lora_alpha": 6, "target_modules": ALL, "use_rslora": True,
      "rank_pattern": {"k_proj": 2, "^model.layers.1.mlp.up_proj": 3, "layers.1.mlp.up_proj": 5}, "alpha_pattern": {"o_proj": 12}}),
    ("llama_saved", "Llama", {}, "llama", {"norm_eps": 1e-6},
     {"r": 2, "lora_alpha": 2, "target_modules": ["embed_tokens", "down_proj"], "modules_to_save": ["model.norm"]}),
    ("gpt2", "GPT2", {"n_positions": hf_text.LENGTH, "n_embd": 32, "n_layer": 2, "n_head": 8}, "gpt2", {},
     {"r": 3, "lora_alpha": 4.5, "target_modules": ["c_attn", "c_proj"], "modules_to_save": ["ln_f"]}),
    ("gpt2_linear", "GPT2", {"n_positions": hf_text.LENGTH, "n_embd": 32, "n_layer": 2, "n_head": 8}, "gpt2", {},
     {"r": 2, "target_modules": "all-linear"}),
    ("bert", "Bert", {}, "bert", {**hf_encoders.BERT_SET, "classes": hf_encoders.CLASSES},
     {"r": 4, "lora_alpha": 16, "task_type": "SEQ_CLS"}),
)


def base_of(family, settings):
    """The network with made weights, and what a test must know of these."""
    if family == "Bert":
        config = hf_encoders.bert_config(num_labels=hf_encoders.CLASSES, attn_implementation="eager")
        model = transformers.BertForSequenceClassification(config).double().eval()
        return model, fill(model, hf_encoders.is_about_one)
    model = hf_text.network(family, settings).eval()
    return model, fill(model, hf_text.is_scale)


def batch_of(family):
    if family == "Bert":
        return hf_encoders.texts(), torch.tensor(hf_encoders.LABELS)
    text, following = hf_text.tokens_of(2)
    return {"input_ids": text}, following


def logits_of(model, inputs):
    return model(**inputs).logits.flatten(0, -2)


def fill_adapter(model, folder):
    """Gives the adapter made weights; what PEFT saves of it is in the folder then."""
    model.save_pretrained(folder)
    file = os.path.join(folder, "adapter_model.safetensors")
    shapes = {name: list(tensor.shape) for name, tensor in safetensors.torch.load_file(file).items()}
    own = {name: shape for name, shape in shapes.items() if "base_layer" not in name}
    ones = [name for name in own if name.endswith(("norm.weight", "ln_f.weight"))]
    state = {name: torch.from_numpy(made(name, tuple(shape), float(name in ones))).double() for name, shape in own.items()}
    result = peft.set_peft_model_state_dict(model, state)
    assert not result.unexpected_keys, result.unexpected_keys
    return {"tensors": own, "1+": ones}, sorted(set(shapes) - set(own))


def norms(tensors):
    return {name: tensor.norm().item() for name, tensor in tensors.items()}


def adapted(family, settings, lora):
    model, weights = base_of(family, settings)
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    return peft.get_peft_model(model, peft.LoraConfig(**lora)).double().eval(), weights, before


def case(name, family, settings, ours, sets, lora):
    model, weights, before = adapted(family, settings, lora)
    config = {**json.loads(model.get_base_model().config.to_json_string()), "dtype": "float32",
              "architectures": [type(model.get_base_model()).__name__]}
    inputs, following = batch_of(family)
    with tempfile.TemporaryDirectory() as folder:
        tensors, more = fill_adapter(model, folder)
        with open(os.path.join(folder, "adapter_config.json"), encoding="utf-8") as file:
            adapter_config = json.load(file)
    adapter_config["target_modules"] = sorted(adapter_config["target_modules"])  # a set
    with torch.no_grad():
        logits = logits_of(model, inputs)
        merged = adapted(family, settings, lora)[0]
        peft.set_peft_model_state_dict(merged, peft.get_peft_model_state_dict(model, save_embedding_layers=False))
        merged = merged.merge_and_unload()
        assert torch.allclose(logits_of(merged, inputs), logits, 1e-9, 1e-12)
        changed = {key: tensor for key, tensor in merged.state_dict().items() if not torch.equal(tensor, before[key])}
        changed = norms(changed)
    named = [(key, p) for key, p in model.named_parameters() if p.requires_grad]
    groups = [{"params": [p for key, p in named if (p.ndim > 1) == of], "weight_decay": of * hf_text.ADAMW["weight_decay"]}
              for of in (True, False)]
    optimizer = torch.optim.AdamW(groups, lr=hf_text.ADAMW["lr"], betas=(hf_text.ADAMW["beta1"], hf_text.ADAMW["beta2"]),
                                  eps=hf_text.ADAMW["eps"])
    losses = []
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(logits_of(model, inputs), following.flatten())
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    after = norms(peft.get_peft_model_state_dict(model, save_embedding_layers=False))
    rows = hf_text.ROWS if family != "Bert" else range(len(hf_encoders.LABELS))
    sizes = {} if family == "Bert" else {key: value for key, value in hf_text.OURS.items()
                                         if ours != "gpt2" or key not in ("hidden", "kv_heads")}
    return {"name": name, "model": ours, "set": {key: str(value) for key, value in {**sizes, **sets}.items()}, "config": config,
            "weights": weights, "adapter_config": adapter_config, "adapter": tensors, "saved_too": more,
            "inputs": [inputs["input_ids"].tolist(), following.tolist()], "rows": list(rows), "logits": logits[list(rows)].tolist(),
            "losses": losses, "after": after, "merged": changed}


def opened(wanted, folder):
    """The logits of PEFT's model with the adapter in the folder."""
    _, family, settings, *_ = next(of for of in CASES if of[0] == wanted)
    base, double = base_of(family, settings)[0], torch.float32
    torch.float32 = SINGLE  # what safetensors has in files
    model = peft.PeftModel.from_pretrained(base, folder).double().eval()
    state = safetensors.torch.load_file(os.path.join(folder, "adapter_model.safetensors"))
    torch.float32 = double
    known = set(peft.get_peft_model_state_dict(model, save_embedding_layers=False))
    assert set(state) == known, (sorted(known - set(state)), sorted(set(state) - known))
    result = peft.set_peft_model_state_dict(model, {name: tensor.double() for name, tensor in state.items()})
    assert not result.unexpected_keys, result.unexpected_keys
    with torch.no_grad():
        return logits_of(model, batch_of(family)[0]).tolist()


def main():
    torch.set_num_threads(1)
    transformers.logging.set_verbosity_error()
    if len(sys.argv) == 4 and sys.argv[1] == "--open":
        print(json.dumps(opened(*sys.argv[2:])))
        return
    cases = []
    for of in CASES:
        cases.append(case(*of))
        print(cases[-1]["name"], cases[-1]["losses"][0], cases[-1]["losses"][-1], file=sys.stderr, flush=True)
    by = ", ".join(f"{module.__name__} {module.__version__}" for module in (peft, transformers, torch))
    lines = ",\n".join("    " + json.dumps(c) for c in cases)
    print(f'{{\n  "by": "{by}, f64, tests/oracles/peft_lora.py", "adamw": {json.dumps(hf_text.ADAMW)},\n'
          f'  "cases": [\n{lines}\n  ]\n}}')


if __name__ == "__main__":
    main()
