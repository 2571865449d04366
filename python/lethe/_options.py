"""The keywords of Session, as scripts/python_options.py writes them; lethe.options() has their help."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import TypedDict, Union

Value = Union[str, int, float, os.PathLike, Mapping, Iterable]


class Options(TypedDict, total=False):
    set: Value
    dtype: Value
    lora: Value
    lora_targets: Value
    lora_train: Value
    data: Value
    tokenizer: Value
    skip_bad: Value
    batch: Value
    device: Value
    tf32: bool
    fast_conv: bool
    deterministic: bool
    eager: bool
    workspace_limit: Value
    no_winograd: bool
    fast_f32: bool
    autotune: Value
    threads: Value
    memopt: Value
    skip_vars: Value
    skip_grads: bool
    micro_batch: Value
    accumulate: Value
    shards: Value
    bucket: Value
    zero: Value
    sum_dtype: Value
    sync_bn: bool
    memory_budget: Value
    overhead: Value
    costs: Value
    augment: Value
    sampler: Value
    epochs: Value
    steps: Value
    patience: Value
    lr: Value
    schedule: Value
    optimizer: Value
    momentum: Value
    beta1: Value
    beta2: Value
    eps: Value
    weight_decay: Value
    decay_all: bool
    decay: Value
    no_decay: Value
    lr_of: Value
    layer_decay: Value
    loss_scale: Value
    clip_norm: Value
    clip_passes: Value
    state_dtype: Value
    param_dtype: Value
    grad_dtype: Value
    keep_f32: Value
    freeze: Value
    train_only: Value
    frozen_dtype: Value
    class_weights: Value
    ema: Value
    seed: Value
    save: Value
    save_every: Value
    keep: Value
    checkpoint: Value
    save_frozen: Value
    resume: Value
    weights: Value
    fresh: Value
    ignore: Value
    adapter: Value
    eval_every: Value
    best: Value
    log_every: Value
    metrics: Value
    log_json: Value
    tensorboard: Value
