#!/bin/sh
# build.sh FOLDER TARGET: configures once and builds Release with Ninja, with the first CMake that
# will do: the one on PATH may be missing, too old, or a wrapper that does not start.
set -eu
folder=$1
target=$2
source=$(cd "$(dirname "$0")/.." && pwd)

cmake=
for candidate in cmake /usr/bin/cmake; do
  version=$("$candidate" --version 2>/dev/null | sed -n '1s/^cmake version //p') || continue
  case "$version" in
    3.2[5-9]*|3.[3-9][0-9]*|[4-9].*|[1-9][0-9].*) cmake=$candidate; break ;;
  esac
done
if [ -z "$cmake" ]; then
  echo "CMake 3.25 or later is needed: see https://cmake.org/download" >&2
  exit 1
fi

ninja=ninja
ninja --version >/dev/null 2>&1 || ninja=/usr/bin/ninja
if [ ! -f "$folder/build.ninja" ]; then
  "$cmake" -S "$source" -B "$folder" -G Ninja -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_MAKE_PROGRAM="$(command -v "$ninja")" --log-level=WARNING
fi
# What is not in ccache is not preprocessed first: the compiler says what it read.
export CCACHE_DEPEND=1
# Progress is for people; a log gets what goes wrong.
quiet=--quiet
if [ -t 1 ]; then quiet=; fi
# shellcheck disable=SC2086 -- none or one word
"$ninja" -C "$folder" $quiet "$target"
