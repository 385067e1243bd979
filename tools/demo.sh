#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# demo.sh BUILD: compiles a digit classifier for a Cortex-M55, compares it with the float model on
# digits that are not in the training data, and runs it on an emulated board. The results on the board
# and on this machine must be bit-identical.
set -eu
cd "$(dirname "$0")/.."
build=$1
model=models/digits_cnn
out=$build/demo
mkdir -p "$out"

show() {
  echo
  echo "\$ $*"
  "$@"
}
sha256() { "$build/thimble" run "$@" --json | sed -n 's/.*"sha256": "\(.*\)".*/\1/p'; }

show "$build/thimble" compile $model/digits_cnn.pt2 --target cortex-m55 \
  --calibrate $model/calibrate.npz -o "$out/digits_cnn.pte"

# All test digits on the host; the first five on the board as well.
show "$build/thimble" compare $model/digits_cnn.pt2 "$out/digits_cnn.pte" --data $model/test.npz
python3 -m zipfile -e $model/golden.npz "$out/digits"
show "$build/thimble" run "$out/digits_cnn.pte" --input "$out/digits/x.npy" --steps \
  --on qemu --profile --output "$out/on_board"

host=$(sha256 "$out/digits_cnn.pte" --input "$out/digits/x.npy" --steps)
board=$(sha256 "$out/digits_cnn.pte" --input "$out/digits/x.npy" --steps --on qemu)
echo
if [ -z "$host" ] || [ "$host" != "$board" ]; then
  echo "host and board differ: $host, $board" >&2
  exit 1
fi
echo "Host and emulated Cortex-M55 agree on five digits, bit for bit (sha256 $host)."
