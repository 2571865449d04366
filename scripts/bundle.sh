#!/usr/bin/env bash
# Packs into one folder what a GPU machine needs to verify and measure: programs, the libraries that such a machine may
# lack, networks, and data if it is named; and the same as OUT.tar.xz, which without data is below 48 MiB. CUDA, cuDNN and
# libstdc++ are left to that machine.
#   scripts/bundle.sh OUT [DATA]      DATA: a folder with mnist/ and cifar10/
# BUILD=FOLDER packs what is built there, instead of building for any GPU since Hopper; NO_ARCHIVE=1 leaves OUT.tar.xz out.
# There:  OUT/quick [REPORT]    OUT/verify [REPORT]    OUT/bench [REPORT]    OUT/run train --model resnet20 --device cuda
case "${1:-}" in
  -h | --help) sed -n '2,/^case/s/^# \{0,1\}//p' "$0" && exit 0 ;;
  -*) echo "${0##*/}: no option $1; see --help" >&2 && exit 2 ;;
esac
set -euo pipefail
out=$(realpath -m "${1:?usage: scripts/bundle.sh OUT [DATA]}")
data=${2:+$(realpath "$2")}
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if [ -e "$out" ] && [ ! -x "$out/verify" ] && [ -n "$(ls -A "$out")" ]; then
  echo "bundle: $out is there and is no bundle" >&2
  exit 2
fi

build=${BUILD:-build/bundle}
programs=(bin/train tests/test_gpu bench/bench_step bench/bench_bandwidth)
if [ -z "${BUILD:-}" ]; then
  [ -f "$build/build.ninja" ] || cmake --preset release -B "$build" -DLETHE_NATIVE=OFF -DLETHE_CUDA=ON -DLETHE_ONEDNN=OFF >/dev/null
  cmake --build "$build" --target train test_gpu bench_step bench_bandwidth
fi

rm -rf "$out"
mkdir -p "$out/bin" "$out/lib"
left_there='^(ld-linux.*|linux-vdso|libc|libm|libdl|librt|libpthread|libgcc_s|libstdc\+\+)\.so'
for program in "${programs[@]}"; do
  strip -o "$out/bin/$(basename "$program")" "$build/$program"
  ldd "$build/$program" | awk '$2 == "=>" {print $1, $3}' | while read -r name path; do
    [[ $name =~ $left_there ]] || [ -f "$out/lib/$name" ] || cp -L "$path" "$out/lib/$name"
  done
done
mkdir "$out/models"
cp -r models/*.json models/optnet "$out/models"
cp scripts/quick "$out/quick"
cp scripts/verify "$out/verify"
cp scripts/measure "$out/bench"
cp scripts/parts "$out/parts"
scripts/changed_ops >"$out/changed"
mkdir "$out/peers"
cp bench/*.py "$out/peers"
if [ -n "$data" ]; then
  for set in mnist cifar10; do [ ! -d "$data/$set" ] || cp -rL "$data/$set" "$out/$set"; done
fi

cat >"$out/run" <<'TXT'
#!/usr/bin/env bash
# run PROGRAM ARGS: one of bin/, or with --python a script, with the libraries of this folder and those that pip or a
# toolkit has of CUDA. PYTHON: an interpreter with PyTorch (default python3).
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
found="$here/lib"
add() { for directory in "$@"; do [ ! -d "$directory" ] || found="$found:$directory"; done; }
for root in $(python3 -c 'import nvidia; print(*nvidia.__path__)' 2>/dev/null || true); do add "$root"/*/lib; done
add "${CUDA_HOME:-/usr/local/cuda}"/lib64 "${CUDA_HOME:-/usr/local/cuda}"/extras/CUPTI/lib64
export LETHE_MODELS="$here/models" LD_LIBRARY_PATH="$found${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
program=$1
shift
if [ "$program" = --python ]; then exec "${PYTHON:-python3}" "$@"; fi
# WRAP: a command that runs it, as compute-sanitizer.
exec ${WRAP:-} "$here/bin/$program" "$@"
TXT
chmod +x "$out/run"
[ -z "${NO_ARCHIVE:-}" ] || exit 0
XZ_OPT="-T0 -3" tar -C "$(dirname "$out")" -cJf "$out.tar.xz" "$(basename "$out")"
du -sh "$out" "$out.tar.xz"
