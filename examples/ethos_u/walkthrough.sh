#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# All steps from a network to an Ethos-U, without PyTorch and without hardware. See README.md.
#
#   examples/ethos_u/walkthrough.sh [THIMBLE] [FOLDER]
set -eu
here=$(cd "$(dirname "$0")/../.." && pwd)
thimble=${1:-$here/build/thimble}
out=${2:-$(mktemp -d)}
model=$here/models/digits_cnn
mkdir -p "$out"

say() { printf '\n== %s\n' "$1"; }

say "compile: which operators run where, what fits, how long it takes"
"$thimble" compile "$model/digits_cnn.pt2" --target corstone-300 --calibrate "$model/calibrate.npz" \
    -o "$out/digits.pte" --pareto --report "$out/digits.html" --save-stages "$out/stages"

say "run: the simulator behind the driver, on this machine"
"$thimble" run "$out/digits.pte" --input "$here/examples/ethos_u/digit.npy" --profile

say "run: the same file on an emulated Cortex-M55 with the NPU"
"$thimble" run "$out/digits.pte" --input "$here/examples/ethos_u/digit.npy" --on qemu

say "inspect: the command stream"
"$thimble" inspect "$out/digits.pte" --commands |
    sed -n '/^WEIGHT_BASE\|^OFM_BASE0\|^BLOCKDEP\|^CONV\|^DMA_START\|_WAIT\|^POOL\|^STOP/p'

say "keep one operator on the CPU: two delegates, and why"
"$thimble" compile "$model/digits_cnn.pt2" --target corstone-300 --calibrate "$model/calibrate.npz" \
    -o "$out/split.pte" --engine-off max_pool2d

say "another part: the same model for an Ethos-U85"
"$thimble" compile "$model/digits_cnn.pt2" --target corstone-320 --calibrate "$model/calibrate.npz" \
    -o "$out/digits_u85.pte"
