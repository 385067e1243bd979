#!/bin/sh
# mutations.sh FOLDER COUNT [TARGET...]: runs COUNT mutations of each target of tests/fuzz with the address and
# undefined-behavior sanitizers, in a build of its own in FOLDER/mutations. FOLDER/mutations/mutations.md keeps the rows of
# complete parts: the next run continues after them. Remove it if a target or a mutator has changed.
set -eu
count=$2
source=$(cd "$(dirname "$0")/.." && pwd)
folder=$(mkdir -p "$1/mutations" && cd "$1/mutations" && pwd)
shift 2
if [ ! -f "$folder/build.ninja" ]; then
  cmake -S "$source" -B "$folder" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS=-g1 -DTHIMBLE_SANITIZE=address,undefined \
    -DTHIMBLE_UNITY=ON -DTHIMBLE_FIRMWARE=OFF --log-level=WARNING
fi
ninja -C "$folder" --quiet fuzz_replay
python3 "$source/tests/fuzz/fuzz.py" mutations "$folder/tests/fuzz_replay" "$folder" "$source" --count "$count" --jobs 2 "$@"
