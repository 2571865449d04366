#!/usr/bin/env bash
# Makes OUT/lethe-VERSION.tar.gz of what is committed, unpacks it elsewhere, and builds it without a network.
#   scripts/release.sh [--bundled] [--no-build] [--packages] [OUT]      (OUT: build/release-files)
# --bundled: with the sources in third_party/ that CMake would otherwise download where a system lacks them (needs a
# network now, so that nobody does later); then it is built without the system's packages, too.
# --no-build: configures alone, in seconds.
# --packages: makes the Debian packages and the wheels, too, each in a bare system, and tries them in another one.
case "${1:-}" in -h | --help) sed -n '2,/^case/s/^# \{0,1\}//p' "$0" && exit 0 ;; esac
set -euo pipefail
bundled="" building=1 packages=""
while [[ ${1:-} == -* ]]; do
  case "$1" in
    --bundled) bundled=1 ;;
    --no-build) building="" ;;
    --packages) packages=1 ;;
    *) echo "release: no option $1; see --help" >&2 && exit 2 ;;
  esac
  shift
done
cd "$(dirname "${BASH_SOURCE[0]}")/.."
out=$(realpath -m "${1:-build/release-files}")
checkout=$PWD
git rev-parse HEAD >/dev/null 2>&1 || { echo "release: this is no git checkout" >&2; exit 77; }

version=$(git show HEAD:CMakeLists.txt | sed -n 's/^project(lethe VERSION \([0-9.]*\).*/\1/p')
name=lethe-$version
[ -n "$version" ] || { echo "release: CMakeLists.txt says no version" >&2; exit 1; }
[ -z "$(git status --porcelain)" ] || echo "release: what is not committed is left out" >&2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
quiet() { "$@" >"$scratch/log" 2>&1 || { cat "$scratch/log" >&2; echo "release: failed: $*" >&2; exit 1; }; }

git archive --prefix="$name/" HEAD | tar -x -C "$scratch"
# Whatever find_package() or find_path() would find of these, so that CMake takes what it would download.
without_packages=(-DCMAKE_IGNORE_PATH=/usr/include/stb)
for package in ZLIB Eigen3 nlohmann_json CLI11 GTest; do without_packages+=("-DCMAKE_DISABLE_FIND_PACKAGE_$package=ON"); done
if [ -n "$bundled" ]; then
  quiet cmake -S "$scratch/$name" -B "$scratch/downloads" -G Ninja -DLETHE_CUDA=OFF "${without_packages[@]}"
  mkdir "$scratch/$name/third_party"
  for folder in "$scratch"/downloads/_deps/*-src; do
    rm -rf "$folder/.git"
    mv "$folder" "$scratch/$name/third_party/$(basename "$folder" -src)"
  done
fi
mkdir -p "$out"
tar -C "$scratch" --sort=name --mtime="@$(git log -1 --format=%ct)" --owner=0 --group=0 --numeric-owner -c "$name" |
  gzip -9n >"$out/$name.tar.gz"
rm -rf "${scratch:?}/$name"

# From here on as somebody else does who has the file alone.
offline=() how="downloads refused by CMake alone, since this machine does not let a process leave its network"
for way in "unshare --net" "unshare --map-root-user --net"; do
  if [ ${#offline[@]} = 0 ] && $way true 2>/dev/null; then read -ra offline <<<"$way" && how="without a network"; fi
done
tar -x -C "$scratch" -f "$out/$name.tar.gz"
cd "$scratch/$name"

done="built, installed, and two steps of lenet trained"
[ -n "$building" ] || done=configured
try() {   # KIND CMAKE_ARGUMENTS...
  local kind=$1
  shift
  quiet "${offline[@]}" cmake -S . -B "$kind" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_UNITY_BUILD=ON -DLETHE_CUDA=OFF -DFETCHCONTENT_FULLY_DISCONNECTED=ON "$@"
  if [ -n "$building" ]; then
    quiet "${offline[@]}" cmake --build "$kind" --target train launcher lethe
    quiet "${offline[@]}" cmake --install "$kind" --prefix "$scratch/installed"
    [ "$("$scratch/installed/bin/lethe" --version)" = "lethe $version" ] || { echo "release: the program is of another version than $version" >&2; exit 1; }
    quiet "$scratch/installed/bin/lethe" --model lenet --steps 2
    rm -rf "$scratch/installed"
  fi
  echo "  $done with $kind, $how"
}
echo "$out/$name.tar.gz: $(du -h "$out/$name.tar.gz" | cut -f1), sha256 $(sha256sum "$out/$name.tar.gz" | cut -d' ' -f1)"
try packages
[ -z "$bundled" ] || try third_party "${without_packages[@]}"
[ -z "$packages" ] || { "$checkout/scripts/packages.sh" --out "$out" && "$checkout/scripts/wheel.sh" --out "$out" bookworm trixie; }
