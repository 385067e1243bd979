#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# lint.sh FOLDER: runs clang-format and clang-tidy (version 14) on the C and C++ sources, and codespell on
# all text. clang-tidy has more checks on device code (device_tidy.yaml). FOLDER is a configured build
# folder. clang-tidy needs compile commands without unity builds, so a second build folder is configured
# in FOLDER/lint. Exits 1 if a tool reports a problem.
set -eu
folder=$1
cd "$(dirname "$0")/.."
failed=0

git ls-files '*.cpp' '*.h' '*.c' | grep -v '^tests/examples/' | xargs clang-format-14 --dry-run -Werror || failed=1

codespell --quiet-level 2 --ignore-words cmake/codespell_words.txt $(git ls-files '*.cpp' '*.h' '*.c' '*.def' '*.md' '*.py' '*.cmake' '*.txt' '*.sh' | grep -v -e '^tests/data/' -e codespell_words) || failed=1

if [ ! -f "$folder/lint/build.ninja" ]; then
  cmake -S . -B "$folder/lint" -G Ninja -DCMAKE_CXX_COMPILER=clang++-14 -DCMAKE_C_COMPILER=clang-14 \
    -DTHIMBLE_FIRMWARE=OFF --log-level=WARNING
fi
ninja -C "$folder/lint" --quiet generated_sources
git ls-files 'src/*.cpp' 'engines/*.cpp' 'tools/*.cpp' 'runtime/*.cpp' 'kernels/portable/*.cpp' 'kernels/args/*.cpp' |
  grep -v -e win32 -e /firmware/ |
  xargs -P 2 -n 8 clang-tidy-14 --quiet -p "$folder/lint" 2>/dev/null || failed=1

python3 cmake/device_tidy.py . || failed=1

exit $failed
