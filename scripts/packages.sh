#!/usr/bin/env bash
# Makes the Debian packages of what is committed, one set for each system, each built in a bare root of that system, and
# tries them in another one that has nothing else: lintian, a first step within ten seconds, a plan, an export, a program
# of one's own. Needs what scripts/bare_systems.sh does.
#   scripts/packages.sh [--out DIR] [--cuda | --without-cuda] [SUITE...]      (build/packages; bookworm trixie noble)
# GPUs can be planned for if CUDA with cuDNN 9.8 or later is in /usr/local/cuda here (--without-cuda leaves it out); with
# --cuda there is lethe-cuda, too, which takes half an hour.
case "${1:-}" in -h | --help) sed -n '2,/^case/s/^# \{0,1\}//p' "$0" && exit 0 ;; esac
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
out=build/packages cuda=/usr/local/cuda device=""
while [[ ${1:-} == -* ]]; do
  case "$1" in
    --out) out=${2:?} && shift ;;
    --without-cuda) cuda="" ;;
    --cuda) device=1 ;;
    *) echo "packages: no option $1; see --help" >&2 && exit 2 ;;
  esac
  shift
done
[ $# -gt 0 ] || set -- bookworm trixie noble
. scripts/bare_systems.sh
known_systems packages "$@"
if [ -n "$cuda" ] && [ -x "$cuda/bin/nvcc" ]; then cuda=$(realpath "$cuda"); else cuda=""; fi
[ -z "$device" ] || [ -n "$cuda" ] || { echo "packages: --cuda wants CUDA in /usr/local/cuda" >&2 && exit 2; }
[ -n "$cuda" ] || echo "without CUDA: GPUs cannot be planned for"
mkdir -p "$out"
out=$(realpath "$out")
folder=$(mktemp -d)
trap 'rm -rf --one-file-system "$folder"' EXIT
log=$folder/log
# What is no release yet is older than that.
revision=1
[ -n "$(git tag --points-at HEAD)" ] || revision="0~git$(git log -1 --format=%cd --date=format:%Y%m%d).$(git rev-parse --short HEAD)"
levels="x86-64-v3;x86-64-v4;avx512-bf16"
quiet() { "$@" >"$log" 2>&1 || { tail -n 40 "$log" >&2; echo "packages: failed: $*" >&2; exit 1; }; }

# in_root ROOT COMMAND: as inside; CUDA can be read there.
in_root() { quiet inside "$1" "$2" "$cuda"; }

build_packages() {   # ROOT RELEASE
  local packages="build-essential cmake ninja-build libeigen3-dev nlohmann-json3-dev libcli11-dev libdnnl-dev libstb-dev zlib1g-dev libopenmpi-dev lintian"
  in_root "$1" "apt-get update -qq && apt-get install -y -qq --no-install-recommends $packages"
  mkdir "$1/root/lethe"
  git -c tar.umask=0022 archive HEAD | tar -x -C "$1/root/lethe"   # maintainers' scripts are not for a group to write
  local kinds=(OFF) kind
  if [ -n "$cuda" ]; then kinds=(PLAN ${device:+ON}); fi
  for kind in "${kinds[@]}"; do
    local of_kind=$levels
    [ "$kind" != ON ] || of_kind=x86-64-v3
    in_root "$1" "cd lethe && CUDA_HOME=$cuda cmake -S . -B build-$kind -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_UNITY_BUILD=ON -DCMAKE_UNITY_BUILD_BATCH_SIZE=16 \
      -DLETHE_TESTS=OFF -DLETHE_CUDA=$kind '-DLETHE_LEVELS=$of_kind' -DLETHE_PACKAGE_RELEASE=$2 && cmake --build build-$kind && cd build-$kind && cpack"
    in_root "$1" "cd lethe/build-$kind/packages && lintian --fail-on error *.deb"
    cp "$log" "$out/lintian-$2-$kind.log"
    cp "$1/root/lethe/build-$kind/packages"/*.deb "$out"
  done
}

try_packages() {   # ROOT RELEASE
  cp "$out"/*"$2"_*.deb "$1/root"
  cp -r tests/installed "$1/root/theirs"
  in_root "$1" "apt-get update -qq && apt-get install -y -qq --no-install-recommends ./lethe_*.deb"
  local begin
  begin=$(date +%s%N)
  in_root "$1" "lethe --model resnet20 --steps 1"
  local taken=$((($(date +%s%N) - begin) / 1000000))
  echo "  first step $taken ms after the start of lethe"
  [ "$taken" -lt 10000 ] || { echo "packages: that is more than ten seconds" >&2; exit 1; }
  in_root "$1" "lethe --model lenet --epochs 1 --save run && train plan --model resnet110 --memory-budget 1200MiB && lethe export --weights run --output lenet.onnx && [ -s lenet.onnx ]"
  in_root "$1" "lethe --help && man_page=\$(gzip -dc /usr/share/man/man1/lethe.1.gz) && [ -n \"\$man_page\" ] && [ \"\$(lethe --version)\" = \"\$(train --version)\" ]"
  if [ -n "$cuda" ]; then in_root "$1" "LD_LIBRARY_PATH=$cuda/lib:$cuda/lib64 lethe plan --model lenet --device h200"; fi
  in_root "$1" "apt-get install -y -qq --no-install-recommends ./liblethe-dev_*.deb g++ cmake ninja-build &&
    cmake -S theirs -B built -G Ninja -DCMAKE_BUILD_TYPE=Release && cmake --build built && built/theirs"
  if [ -n "$device" ]; then in_root "$1" "apt-get install -y -qq --no-install-recommends ./lethe-cuda_*.deb && lethe --model lenet --steps 1"; fi
  in_root "$1" "apt-get purge -y -qq '^(lib)?lethe' && [ -z \"\$(find /usr /etc /var/lib/dpkg/info -name '*lethe*')\" ] && [ ! -e /usr/bin/train ]"
}

for suite in "$@"; do
  case "$suite" in
    bookworm) system=deb12 ;;
    trixie) system=deb13 ;;
    noble) system=ubuntu24.04 ;;
  esac
  release=$revision~$system
  echo "$suite:"
  rm -f "$out"/*"$release"_*.deb
  quiet bare_system "$suite" "$folder/bare"
  cp -a "$folder/bare" "$folder/builds"
  build_packages "$folder/builds" "$release"
  rm -rf --one-file-system "$folder/builds"
  ls -l "$out"/*"$release"_*.deb | awk '{ n = split($9, path, "/"); printf "  %s %.1f MB\n", path[n], $5 / 1e6 }'
  try_packages "$folder/bare" "$release"
  rm -rf --one-file-system "$folder/bare"
done
echo "packages of $* are in $out"
