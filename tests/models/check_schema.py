"""Checks network files against the shipped schema: check_schema.py MODELS BAD

Every file below MODELS must be valid; of the wrong files in BAD those whose fault is one of keys and types must not be.
"""
import json
import pathlib
import sys

import jsonschema

TOLD_BY_SCHEMA = """unknown_layer unknown_key missing_key wrong_type fraction_for_whole number_for_flag flag_for_number
    two_kinds no_kind entry_no_object memopt_recompute unknown_memopt unknown_join while_without_max while_without_next
    while_no_state while_state_name while_state_of_flag while_unknown_key while_unknown_memopt if_condition
    name_with_slash deep_path unused_block side_not_taken unknown_loss loss_key head_key head_out train_key identifier unknown_top_key
    missing_layers missing_version wrong_version missing_shape wrong_dtype no_inputs no_object
    stride_zero window_negative probability_of_one pad_too_large axis_negative input_layout long_name weights_key var_text loss_if""".split()


def main(models, bad):
    schema = json.loads((models / "net.schema.json").read_text())
    jsonschema.Draft7Validator.check_schema(schema)
    validator = jsonschema.Draft7Validator(schema)
    wrong = []
    for file in sorted(models.rglob("*.json")):
        if file.name.endswith(".schema.json"):
            continue
        for error in validator.iter_errors(json.loads(file.read_text())):
            wrong.append(f"{file}: /{'/'.join(map(str, error.absolute_path))}: {error.message[:200]}")
    for name in TOLD_BY_SCHEMA:
        if validator.is_valid(json.loads((bad / f"{name}.json").read_text())):
            wrong.append(f"{bad / name}.json: accepted")
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])))
