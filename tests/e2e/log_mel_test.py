# SPDX-License-Identifier: Apache-2.0
"""Log-mel features on the device: near torchaudio's, and equal for a stream and for a whole recording.

usage: log_mel_test.py THIMBLE TESTS_DATA_LOG_MEL

Compares the features of mel/ with those that torchaudio computed (test.npz): with 16-bit results within 0.1 dB, with
8-bit results within 0.5 dB where they are not outside the calibrated range. Then runs stream/, one hop of samples
per call, and mel/ on the same samples: every feature has the same bytes.
"""

import pathlib
import struct
import sys
import tempfile
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from network_test import npy_shape, thimble
from npy import read_floats, write_npy

N_FFT, HOP, FILTERS = 512, 320, 40


def arrays(path):
    with zipfile.ZipFile(path) as archive:
        return {name.removesuffix(".npy"): archive.read(name) for name in archive.namelist()}


def elements(raw):
    start, shape, descr = npy_shape(raw)
    assert descr == "<f4"
    return shape, struct.unpack(f"<{(len(raw) - start) // 4}f", raw[start:])


def floats(path, shape, values):
    write_npy(path, "<f4", shape, struct.pack(f"<{len(values)}f", *values))


def compiled(program, model, scratch, *options):
    pte = scratch / "model.pte"
    thimble(program, "compile", model, "--target", "cortex-m4", *options, "-o", pte)
    return pte


def run(program, pte, scratch, shape, values, *options):
    floats(scratch / "x.npy", shape, values)
    thimble(program, "run", pte, "--input", scratch / "x.npy", "--output", scratch / "out", *options)
    return read_floats(scratch / "out" / "output_0.npy")


def compare_with_torchaudio(program, folder, scratch):
    test = arrays(folder / "test.npz")
    (count, _, samples), x = elements(test["x"])
    _, wanted = elements(test["y"])
    size = len(wanted) // count
    for activations, limit in (("int16", 0.1), ("int8", 0.5)):
        pte = compiled(program, folder / "mel.pt2", scratch, "--calibrate", folder / "test.npz",
                       "--activations", activations)
        errors = []
        for i in range(count):
            got = run(program, pte, scratch, (1, samples), x[i * samples:(i + 1) * samples])
            errors += [abs(a - b) for a, b in zip(got, wanted[i * size:(i + 1) * size], strict=True)]
        print(f"{activations}: error max {max(errors):.3f} dB, mean {sum(errors) / len(errors):.4f} dB, "
              f"{len(errors)} features from {min(wanted):.1f} to {max(wanted):.1f} dB")
        if max(errors) > limit:
            sys.exit(f"{activations}: the largest error is {max(errors):.3f} dB, at most {limit} dB expected")


def compare_stream(program, folder, scratch):
    """The rest of the frame is 0 at first: the recording begins with as many zeros."""
    (hops, _, _), x = elements(arrays(folder / "stream" / "test.npz")["x"])
    recording = [0.0] * (N_FFT - HOP) + list(x)
    frames = (len(recording) - N_FFT) // HOP + 1
    assert frames == hops
    # Both are calibrated with these samples, so their results have one scale.
    samples = elements(arrays(folder / "mel" / "test.npz")["x"])[0][-1]
    stream = compiled(program, folder / "stream" / "stream.pt2", scratch, "--calibrate", folder / "stream" / "test.npz")
    in_steps = run(program, stream, scratch, (hops, 1, HOP), x, "--steps")
    batch_frames = (samples - N_FFT) // HOP + 1
    begin = 0
    compared = 0
    calibration = []
    while begin + batch_frames <= frames:
        first = begin * HOP
        calibration.append(recording[first:first + samples] + [0.0] * max(0, first + samples - len(recording)))
        begin += batch_frames
    floats(scratch / "recordings.npy", (len(calibration), 1, samples), [v for row in calibration for v in row])
    batch = compiled(program, folder / "mel" / "mel.pt2", scratch, "--calibrate", scratch / "recordings.npy")
    for number, row in enumerate(calibration):
        got = run(program, batch, scratch, (1, samples), row)  # [1, filters, frames]
        for frame in range(batch_frames):
            at = (number * batch_frames + frame) * FILTERS
            if list(in_steps[at:at + FILTERS]) != list(got[frame::batch_frames]):
                sys.exit(f"frame {number * batch_frames + frame}: the stream's features differ from those of the recording")
            compared += FILTERS
    print(f"{compared} features are equal in {hops} calls and in {len(calibration)}")


def main():
    program, folder = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    with tempfile.TemporaryDirectory() as scratch:
        compare_with_torchaudio(program, folder / "mel", pathlib.Path(scratch))
        compare_stream(program, folder, pathlib.Path(scratch))


if __name__ == "__main__":
    main()
