#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# build.sh FOLDER TARGET...: configures once and builds Release with Ninja. It uses the first CMake that
# is recent enough, because the one on PATH may be missing, too old, or a wrapper that does not start.
# The target built_images builds the images of emulated boards that exist in the build folder, so that
# no image is older than the program.
set -eu
folder=$1
shift
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
  "$cmake" -S "$source" -B "$folder" -G Ninja -DCMAKE_BUILD_TYPE=Release -DTHIMBLE_UNITY=ON \
    -DCMAKE_MAKE_PROGRAM="$(command -v "$ninja")" --log-level=WARNING
fi
# The Python package is built if python_venv.sh has made its Python.
python=$PWD/$folder/python-venv/bin/python
case "$folder" in /*) python=$folder/python-venv/bin/python ;; esac
if [ -x "$python" ] && ! grep -q '^THIMBLE_PYTHON:BOOL=ON' "$folder/CMakeCache.txt"; then
  "$cmake" -B "$folder" -DTHIMBLE_PYTHON=ON -DPython_EXECUTABLE="$python" --log-level=WARNING
fi
# With ccache's depend mode, a miss does not run the preprocessor: the compiler lists the included files.
export CCACHE_DEPEND=1
# The wheel is built in another folder; with relative paths it finds the objects of this build.
export CCACHE_BASEDIR="$source"
# An object that uses a precompiled header is found by the sum of the header's text (thimble_header_sum).
export CCACHE_PCH_EXTSUM=1
# Without these, ccache does not store objects that use a precompiled header.
export CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
# A terminal shows progress; a log contains only errors.
quiet=--quiet
if [ -t 1 ]; then quiet=; fi
targets=
for target in "$@"; do
  if [ "$target" = built_images ]; then
    target=
    for image in "$folder"/firmware/*.elf; do
      [ ! -f "$image" ] || target="$target image-$(basename "$image" .elf)"
    done
  fi
  targets="$targets $target"
done
# shellcheck disable=SC2086 -- lists of words
"$ninja" -C "$folder" $quiet $targets
