#!/usr/bin/env python3
"""The numbers that bitsandbytes' codes of 8 bits mean, with a sign and without one:

    python3 tests/oracles/dynamic_map.py > tests/oracles/dynamic_map.json

They are f32, written so that nothing is lost. torch.linspace, of which they are made, rounds once a number where the
processor has fused multiply-adds, as this machine's must. tests/framework/dynamic_map_test.cpp has them."""
import json
import sys

try:
    from bitsandbytes.functional import create_dynamic_map
except ImportError as missing:
    print(f"dynamic_map: skipped: {missing}", file=sys.stderr)
    sys.exit(77)


def main():
    signs = {"signed": True, "unsigned": False}
    made = {name: create_dynamic_map(signed=signed).tolist() for name, signed in signs.items()}
    print("{\n" + ",\n".join(f' "{name}": {json.dumps(values)}' for name, values in made.items()) + "\n}")


main()
