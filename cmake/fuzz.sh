#!/bin/sh
# fuzz.sh FOLDER SECONDS [TARGET...]: runs libFuzzer on each target of tests/fuzz for SECONDS, with the address and
# undefined-behavior sanitizers, in FOLDER/fuzz. Inputs that increase the coverage remain in FOLDER/fuzz/found/TARGET, so that
# the next run continues with them; FOLDER/fuzz/log.csv has a line per run: date, target, seconds, executions, covered edges.
# A crash ends the run of its target; its input is in FOLDER/fuzz/crashes. Exits 1 if there is one. Needs clang 14 or later with
# libFuzzer (clang-19 and libclang-rt-19-dev of Debian, or CLANG).
set -eu
folder=$1
seconds=$2
shift 2
source=$(cd "$(dirname "$0")/.." && pwd)
clang=${CLANG:-$(command -v clang++-19 || command -v clang++)}
fuzz=$(mkdir -p "$folder/fuzz" && cd "$folder/fuzz" && pwd)
if [ ! -f "$fuzz/build.ninja" ]; then
  cmake -S "$source" -B "$fuzz" -G Ninja -DCMAKE_CXX_COMPILER="$clang" -DCMAKE_C_COMPILER="${clang%++*}${clang#*++}" \
    -DCMAKE_BUILD_TYPE=RelWithDebInfo -DTHIMBLE_FIRMWARE=OFF -DTHIMBLE_UNITY=OFF -DTHIMBLE_FUZZERS=ON \
    -DTHIMBLE_SANITIZE=address,undefined --log-level=WARNING
fi
ninja -C "$fuzz" --quiet thimble_fuzz
program=$fuzz/tests/thimble_fuzz
[ $# -gt 0 ] || set -- $("$program" --list)
mkdir -p "$fuzz/crashes"
status=0
for target in "$@"; do
  mkdir -p "$fuzz/found/$target" "$fuzz/first/$target"
  python3 "$source/tests/fuzz/inputs.py" "$source" "$target" "$fuzz/first/$target"
  if "$program" --target="$target" "$fuzz/found/$target" "$fuzz/first/$target" -max_total_time="$seconds" -timeout=10 \
    -rss_limit_mb=1024 -malloc_limit_mb=64 -max_len=65536 -artifact_prefix="$fuzz/crashes/$target-" -print_final_stats=1 \
    >"$fuzz/$target.log" 2>&1; then
    state=ok
  else
    state=FAILED
    status=1
  fi
  executions=$(sed -n 's/^stat::number_of_executed_units: *//p' "$fuzz/$target.log")
  edges=$(sed -n 's/.* cov: \([0-9]*\) .*/\1/p' "$fuzz/$target.log" | tail -n 1)
  echo "$(date -u +%Y-%m-%dT%H:%M),$target,$seconds,$executions,$edges,$state" >>"$fuzz/log.csv"
  echo "$target: $executions executions, $edges edges, $state"
done
exit $status
