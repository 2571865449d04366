#!/usr/bin/env python3
"""All bytes of a training step, of a whole network and of one that is frozen but for its head: ours as planned, and
what PyTorch's eager mode took.

    bench/frozen_memory.py [--train TRAIN] [--python PYTHON] [--limit GIB] [NETWORK...]

Ours: the peak of `train plan` at level 2, at the least that level 3 finds, and at level 2 with what is frozen in bf16;
a run keeps to it. PyTorch: the most
that a process of its own held in a second step (VmHWM), less what it held before the network was made, with the same
network of transformers or torchvision, random weights, AdamW and f32; attention never has its scores. Tensors of a
megabyte and more go back to the system when they are freed (MALLOC_MMAP_THRESHOLD_), so that what is counted lives.
--limit: networks whose plan without any sharing takes more are not tried in PyTorch (default 20)."""
import sys

import peers
from gpt2_memory import held
from tables import MIB, Table

GIB = 2**30


class Case:
    """A network, its batch, what else sets its size, and the parameters that its head is, by our names and theirs."""

    def __init__(self, batch, head, theirs, **sets):
        self.batch, self.head, self.theirs, self.sets = batch, head, theirs, sets


CASES = {
    "gpt2": Case(1, "layer/11/*,norm.*", ["h.11.", "ln_f."], length=1024),
    "gpt2_xl": Case(1, "layer/47/*,norm.*", ["h.47.", "ln_f."], length=1024),
    "tinyllama": Case(1, "logits.*", ["lm_head."], length=512),
    "resnet50": Case(32, "logits.*", ["fc."]),
    "bert_base": Case(32, "logits.*", ["classifier."], length=128),
}


def made(network, length):
    """The network as another library has it, with random weights."""
    import torchvision
    import transformers as hf
    return {
        "gpt2": lambda: hf.GPT2LMHeadModel(hf.GPT2Config(n_positions=length)),
        "gpt2_xl": lambda: hf.GPT2LMHeadModel(hf.GPT2Config(n_positions=length, n_embd=1600, n_layer=48, n_head=25)),
        "tinyllama": lambda: hf.LlamaForCausalLM(hf.LlamaConfig(
            hidden_size=2048, intermediate_size=5632, num_hidden_layers=22, num_attention_heads=32, num_key_value_heads=4)),
        "resnet50": lambda: torchvision.models.resnet50(),
        "bert_base": lambda: hf.BertForSequenceClassification(hf.BertConfig()),
    }[network]()


def torch_bytes(network, batch, length, trained):
    """Of a step, above what the process held before the network was made. trained: how names of parameters begin."""
    sys.path.remove(str(peers.HERE))  # whose safetensors.py is not theirs
    import torch
    torch.set_num_threads(peers.THREADS)
    torch.manual_seed(0)
    made("bert_base" if network == "resnet50" else "resnet50", 128)  # so that libraries are loaded
    before = held("VmRSS")
    model = made(network, length).train()
    for name, value in model.named_parameters():
        value.requires_grad_(not trained or any(word in name for word in trained))
    if trained:
        model.eval()  # batch norms that are frozen read running statistics
    update = torch.optim.AdamW([value for value in model.parameters() if value.requires_grad], lr=1e-4)
    x = torch.randn(batch, 3, 224, 224) if network == "resnet50" else torch.randint(1, 1000, (batch, length))
    labels = x if network in ("gpt2", "gpt2_xl", "tinyllama") else torch.randint(0, 2, (batch,))

    def once():
        update.zero_grad(set_to_none=True)
        if network == "resnet50":
            loss = torch.nn.functional.cross_entropy(model(x), labels)
        else:
            loss = model(input_ids=x, labels=labels, **({} if network == "bert_base" else {"use_cache": False})).loss
        loss.backward()
        update.step()

    once()  # makes states
    with open("/proc/self/clear_refs", "w") as control:
        control.write("5")  # VmHWM begins anew
    once()
    return {"bytes": held("VmHWM") - before}


def ours(train, network, case, freezes):
    """Plans at level 2, at the least of level 3, and if it freezes at level 2 with what is frozen in bf16."""
    words = ["--batch", case.batch, "--optimizer", "adamw", *peers.sets(f"{k}={v}" for k, v in case.sets.items())]
    if freezes:
        words += ["--train-only", case.head]
    ways = [["level=2"], ["level=3"], *([["level=2", "--frozen-dtype", "bf16"]] if freezes else [])]
    return [peers.plan(train, network, *words, "--memopt", *way) for way in ways]


def main():
    parser = peers.parser(__doc__, python=True, limit=20.0)
    parser.add_argument("networks", nargs="*", metavar="NETWORK")
    args = parser.parse_args()
    mib = "{:,.0f}"
    table = Table("network, batch, what trains", ("`level=2`", mib), ("`level=3`", mib), ("frozen in bf16", mib), ("PyTorch", mib), ("of PyTorch's", "{:.2f}"))
    for network in args.networks or CASES:
        case = CASES[network]
        for freezes in (False, True):
            plans = ours(args.train, network, case, freezes)
            theirs = None
            if plans[0]["none_peak"] <= args.limit * GIB:
                theirs = peers.peer(args.python, torch_bytes, network, case.batch, case.sets.get("length", 0),
                                    case.theirs if freezes else [], MALLOC_MMAP_THRESHOLD_=str(MIB))["bytes"]
            level2, level3, *low = (plan["bytes"]["peak"] for plan in plans)
            size = f"{network}, {case.batch}" + (f" x {case.sets['length']}" if "length" in case.sets else "")
            table.row(f"{size}, {'`' + case.head + '`' if freezes else 'all'}", level2 / MIB, level3 / MIB,
                      low[0] / MIB if low else None, theirs and theirs / MIB, theirs and level2 / theirs)


if __name__ == "__main__":
    peers.start(main)
