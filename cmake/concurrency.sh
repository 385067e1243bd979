#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# concurrency.sh FOLDER threads|soak: runs tests/concurrency with a sanitizer, in a build of its own in FOLDER.
# threads: ThreadSanitizer; also compiles networks with 8 threads, which must give the bytes of one thread.
# soak: AddressSanitizer and UndefinedBehaviorSanitizer, 10,000 random calls of several models in one arena.
set -eu
kind=$2
source=$(cd "$(dirname "$0")/.." && pwd)
folder=$(mkdir -p "$1/$kind" && cd "$1/$kind" && pwd)
case "$kind" in
  threads) sanitizers=thread targets="concurrency_test thimble" ;;
  soak) sanitizers=address,undefined targets=concurrency_test ;;
  *) echo "concurrency.sh: $kind: expected threads or soak" >&2; exit 2 ;;
esac
if [ ! -f "$folder/build.ninja" ]; then
  cmake -S "$source" -B "$folder" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS=-g1 -DTHIMBLE_SANITIZE=$sanitizers \
    -DTHIMBLE_UNITY=ON -DTHIMBLE_FIRMWARE=OFF --log-level=WARNING
fi
# shellcheck disable=SC2086 -- a list of words
ninja -C "$folder" --quiet $targets
export TSAN_OPTIONS=halt_on_error=1 ASAN_OPTIONS=detect_leaks=1 THIMBLE_SOAK_CALLS=10000
"$folder/tests/concurrency_test" --gtest_brief=1
[ "$kind" = threads ] || exit 0

for model in hello_sin digits_cnn lstm_classifier; do
  for target in cortex-m55 corstone-300; do
    for threads in 1 8; do
      THIMBLE_THREADS=$threads "$folder/thimble" compile "$source/models/$model/$model.pt2" --target $target \
        --calibrate "$source/models/$model/calibrate.npz" -o "$folder/$threads.pte" >"$folder/compile.log" 2>&1 || {
        cat "$folder/compile.log"
        exit 1
      }
    done
    cmp "$folder/1.pte" "$folder/8.pte"
    echo "$model for $target: equal bytes with 1 and 8 threads"
  done
done
