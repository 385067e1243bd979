#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# fuzz.sh FOLDER SECONDS [TARGET...]: runs libFuzzer on each target of tests/fuzz for SECONDS, with the address and
# undefined-behavior sanitizers and with asserts, in FOLDER/fuzz. tests/fuzz/fuzz.py describes what remains there: the next run
# continues with the inputs, and log.csv sums up all runs. A crash ends the run of its target; its input is in
# FOLDER/fuzz/crashes. Exits 1 if there is one.
# fuzz.sh FOLDER mutations COUNT [TARGET...]: runs COUNT mutations of each target with fuzz_replay of the same build. Without
# TARGET it first sets each value of small inputs to others (pt2_values_test and --limits of fuzz_replay).
# FOLDER/fuzz/mutations.md has the rows of complete parts: the next run continues after them. Remove it if a target or a mutator
# has changed.
# fuzz.sh FOLDER coverage: prints the covered lines of parsers and verifiers.
# fuzz.sh FOLDER build: builds the programs only.
# Needs clang 14 or later with libFuzzer (clang-19, libclang-rt-19-dev and llvm-19 of Debian, or CLANG).
set -eu
folder=$1
seconds=$2
shift 2
source=$(cd "$(dirname "$0")/.." && pwd)
clang=${CLANG:-$(command -v clang++-19 || command -v clang++)}
fuzz=$(mkdir -p "$folder/fuzz" && cd "$folder/fuzz" && pwd)
# -Wno-deprecated-declarations: GCC's <algorithm> calls std::get_temporary_buffer, about which clang 19 warns.
if [ ! -f "$fuzz/build.ninja" ]; then
  cmake -S "$source" -B "$fuzz" -G Ninja -DCMAKE_CXX_COMPILER="$clang" -DCMAKE_C_COMPILER="${clang%++*}${clang#*++}" \
    -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG="-O1 -gline-tables-only -Wno-deprecated-declarations" -DCMAKE_C_FLAGS_DEBUG="-O1 -gline-tables-only" \
    -DTHIMBLE_FIRMWARE=OFF -DTHIMBLE_UNITY=ON -DTHIMBLE_FUZZERS=ON -DTHIMBLE_SANITIZE=address,undefined --log-level=WARNING
fi
ninja -C "$fuzz" --quiet thimble_fuzz fuzz_replay
program=$fuzz/tests/thimble_fuzz
case $seconds in
  build) ;;
  mutations)
    count=$1
    shift
    if [ $# -eq 0 ]; then
      ninja -C "$fuzz" --quiet pt2_values_test
      THIMBLE_FUZZ_STEP=1 "$fuzz/tests/pt2_values_test" --gtest_brief=1
      # shellcheck disable=SC2046 -- a list of words
      "$fuzz/tests/fuzz_replay" "$source" 1 --limits $(cat "$source/tests/fuzz/limits_targets.txt")
    fi
    python3 "$source/tests/fuzz/fuzz.py" mutations "$fuzz/tests/fuzz_replay" "$fuzz" "$source" --count "$count" --jobs 2 "$@" ;;
  coverage)
    ninja -C "$fuzz" --quiet pt2_values_test
    python3 "$source/tests/fuzz/fuzz.py" coverage "$program" "$fuzz" "$source"
    ;;
  *) python3 "$source/tests/fuzz/fuzz.py" run "$program" "$fuzz" "$source" --seconds "$seconds" "$@" ;;
esac
