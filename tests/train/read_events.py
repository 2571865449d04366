"""Reads a directory of event files as TensorBoard does and prints each scalar that it would show: tag step value.

    read_events.py DIR
"""
import sys

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

events = EventAccumulator(sys.argv[1], size_guidance={"scalars": 0})  # 0: all of them
events.Reload()
for tag in sorted(events.Tags()["scalars"]):
    for scalar in events.Scalars(tag):
        print(tag, scalar.step, f"{scalar.value:.9g}")
