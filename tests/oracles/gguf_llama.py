#!/usr/bin/env python3
"""Writes a tiny llama as a GGUF file by the package gguf, and what transformers computes with its weights in f64, to which
a test holds ours (tests/train/gguf_oracle_test.cpp), so that neither package is needed for that.

    tests/oracles/gguf_llama.py > tests/oracles/gguf_llama.json

Weights are made (made_weights.py), quantised by gguf.quants, and read back by it for transformers. Rows of q and k are in
llama.cpp's order, as its convert_hf_to_gguf.py makes it."""
import base64
import json
import os
import sys
import tempfile

try:
    import gguf
    import numpy as np
    import torch
    import transformers
except ImportError as missing:
    print(f"gguf_llama: skipped: {missing}", file=sys.stderr)
    sys.exit(77)

from made_weights import made

torch.set_default_dtype(torch.float64)
torch.float32 = torch.float = torch.float64  # what the sources of transformers ask for by name
torch.Tensor.float = torch.Tensor.double

VOCAB, WIDTH, HIDDEN, LAYERS, HEADS, KV_HEADS, EPS, BASE = 40, 32, 64, 1, 4, 2, 1e-5, 50000.0
Q = gguf.GGMLQuantizationType
NAMES = {"attn_q": ("self_attn.q_proj", Q.Q4_1), "attn_k": ("self_attn.k_proj", Q.Q8_0),
         "attn_v": ("self_attn.v_proj", Q.Q4_0), "attn_output": ("self_attn.o_proj", Q.F16),
         "ffn_gate": ("mlp.gate_proj", Q.Q4_0), "ffn_up": ("mlp.up_proj", Q.BF16), "ffn_down": ("mlp.down_proj", Q.Q4_1)}


def interleaved(weight, heads):
    """LlamaModel.permute of convert_hf_to_gguf.py."""
    return weight.reshape(heads, 2, weight.shape[0] // heads // 2, *weight.shape[1:]).swapaxes(1, 2).reshape(weight.shape)


def apart(weight, heads):
    return weight.reshape(heads, weight.shape[0] // heads // 2, 2, *weight.shape[1:]).swapaxes(1, 2).reshape(weight.shape)


def network():
    config = transformers.LlamaConfig(
        vocab_size=VOCAB, hidden_size=WIDTH, intermediate_size=HIDDEN, num_hidden_layers=LAYERS, num_attention_heads=HEADS,
        num_key_value_heads=KV_HEADS, max_position_embeddings=32, rms_norm_eps=EPS, tie_word_embeddings=True,
        rope_parameters={"rope_type": "default", "rope_theta": BASE}, attn_implementation="eager")
    return transformers.LlamaForCausalLM(config).double()


def main():
    model = network()
    state = model.state_dict()
    path = os.path.join(tempfile.mkdtemp(), "tiny.gguf")
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_vocab_size(VOCAB)
    writer.add_context_length(32)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(HIDDEN)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(KV_HEADS)
    writer.add_layer_norm_rms_eps(EPS)
    writer.add_rope_freq_base(BASE)
    writer.add_rope_dimension_count(WIDTH // HEADS)

    def put(theirs, ours, quantization=None):
        heads = {"q_proj": HEADS, "k_proj": KV_HEADS}.get(ours.split(".")[-2])
        one = state[ours].dim() == 1
        weight = made(ours, tuple(state[ours].shape), 1.0 if one else 0.0)
        weight = interleaved(weight, heads) if heads else weight
        kind = Q.F32 if one else quantization
        data = gguf.quants.quantize(weight, kind)
        writer.add_tensor(theirs, data, raw_dtype=kind)
        weight = gguf.quants.dequantize(data, kind)
        state[ours].copy_(torch.from_numpy(np.ascontiguousarray(apart(weight, heads) if heads else weight)))

    with torch.no_grad():
        put("token_embd.weight", "model.embed_tokens.weight", Q.Q8_0)
        put("output_norm.weight", "model.norm.weight")
        for i in range(LAYERS):
            put(f"blk.{i}.attn_norm.weight", f"model.layers.{i}.input_layernorm.weight")
            put(f"blk.{i}.ffn_norm.weight", f"model.layers.{i}.post_attention_layernorm.weight")
            for name, (ours, quantization) in NAMES.items():
                put(f"blk.{i}.{name}.weight", f"model.layers.{i}.{ours}.weight", quantization)
        state["lm_head.weight"].copy_(state["model.embed_tokens.weight"])
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    tokens = [(7 * i * i + 3 * i + 1) % VOCAB for i in range(16)]
    with torch.no_grad():
        logits = model(torch.tensor([tokens])).logits[0, -1].tolist()
    figures = {"by": f"gguf 0.19.0, transformers {transformers.__version__}, f64, tests/oracles/gguf_llama.py",
               "file": base64.b64encode(open(path, "rb").read()).decode(), "tokens": tokens,
               "logits": [round(x, 10) for x in logits]}
    print("{\n" + ",\n".join(f"  {json.dumps(k)}: {json.dumps(v)}" for k, v in figures.items()) + "\n}")


main()
