# SPDX-License-Identifier: Apache-2.0
"""`thimble compile --neutron sdk` with a stand-in for NXP's SDK: the written files, the refusals,
and that a failure leaves no files.

    python3 cli_test.py THIMBLE SOURCE_FOLDER STANDIN_CONVERTER
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

THIMBLE, ROOT, STANDIN = (Path(argument).resolve() for argument in sys.argv[1:4])
MODEL = ROOT / "models/dscnn_kws"
passed = 0


def check(condition, what):
    global passed
    if not condition:
        sys.exit(f"FAILED: {what}")
    passed += 1


def make_sdk(folder, merges=True):
    (folder / "bin").mkdir(parents=True)
    shutil.copy(STANDIN, folder / "bin/neutron-converter")
    if merges:
        shutil.copy(STANDIN, folder / "bin/merge_kernel_selection_code")
    return folder


def compile_model(folder, *options, mode="", sdk=None, target="imxrt700cm"):
    environment = {key: value for key, value in os.environ.items() if key != "EIQ_NEUTRON_SDK_PATH"}
    environment["NEUTRON_STANDIN"] = mode
    if sdk is not None:
        environment["EIQ_NEUTRON_SDK_PATH"] = str(sdk)
    command = [THIMBLE, "compile", MODEL / "dscnn_kws.pt2", "--target", target,
               "--calibrate", MODEL / "calibrate.npz", "-o", folder / "out.pte", *options]
    return subprocess.run([str(word) for word in command], env=environment, text=True,
                          capture_output=True, check=False, cwd=folder)


def files_of(folder):
    return sorted(path.name for path in folder.iterdir())


def fresh(work):
    return Path(tempfile.mkdtemp(dir=work))


def test_answer_is_in_the_file(work, sdk):
    for how, options in (({"sdk": sdk}, []), ({}, ["--neutron-sdk", sdk]),
                         ({}, ["--neutron-sdk", sdk / "bin/neutron-converter"])):
        folder = fresh(work)
        done = compile_model(folder, "--neutron", "sdk", *options, **how)
        check(done.returncode == 0, done.stderr)
        check(files_of(folder) == ["out.pte"], files_of(folder))
        data = (folder / "out.pte").read_bytes()
        check(b"NeutronBackend" in data and b"STAND-IN: THESE ARE NO" in data, "no answer in it")
        check(b"TNeu" not in data, "our list is still there")
        check(str(sdk).encode() not in data, "a folder of this machine is in the file")
        check("microcode of NXP's converter (version 9.9.9)" in done.stdout, done.stdout)
        shown = subprocess.run([str(THIMBLE), "inspect", str(folder / "out.pte")], text=True,
                               capture_output=True, check=False)
        check(shown.returncode == 0 and "NeutronBackend" in shown.stdout, shown.stderr)


def test_default_is_the_list(work, sdk):
    folder = fresh(work)
    done = compile_model(folder, sdk=sdk)
    check(done.returncode == 0, done.stderr)
    check(b"ThimbleNeutronModel" in (folder / "out.pte").read_bytes(), "not the list")


def test_failures_leave_nothing(work, sdk):
    modes = {
        "exit:3": "it ended with code 3", "crash": "it crashed (signal 11)",
        "garbage": "not a LiteRT model", "truncated": "a damaged LiteRT model",
        "two": "2 operators in it", "other": "CUSTOM NeutronGraphS", "silent": "wrote no model",
        "skew:magic": "unsupported microcode format (converter version 9.9.9)",
        "skew:results": "unsupported converter version",
    }
    for mode, words in modes.items():
        folder = fresh(work)
        done = compile_model(folder, "--neutron", "sdk", sdk=sdk, mode=mode)
        check(done.returncode == 2, f"{mode}: {done.returncode} {done.stderr}")
        check(words in done.stderr, f"{mode}: {done.stderr}")
        check(files_of(folder) == [], f"{mode}: {files_of(folder)}")
    folder = fresh(work)
    (folder / "out.pte").write_bytes(b"older")
    done = compile_model(folder, "--neutron", "sdk", "--neutron-time-limit", "1", sdk=sdk,
                         mode="hang")
    check(done.returncode == 2 and "did not end within 1 s" in done.stderr, done.stderr)
    check((folder / "out.pte").read_bytes() == b"older", "an older file was touched")


def test_places(work, sdk):
    folder = fresh(work)
    done = compile_model(folder, "--neutron", "sdk")
    check(done.returncode == 2 and "EIQ_NEUTRON_SDK_PATH is not set" in done.stderr, done.stderr)
    done = compile_model(folder, "--neutron", "sdk", "--neutron-sdk", "/nowhere")
    check(done.returncode == 2 and "/nowhere: no such folder" in done.stderr, done.stderr)
    done = compile_model(folder, "--neutron", "sdk", sdk=sdk, target="cortex-m55")
    check(done.returncode == 2 and "cortex-m55 has no Neutron" in done.stderr, done.stderr)
    done = compile_model(folder, "--neutron", "sdk", "--axon", "program", sdk=sdk)
    check(done.returncode == 2 and "cannot be combined" in done.stderr, done.stderr)
    done = compile_model(folder, "--neutron-sdk", sdk)
    check(done.returncode == 2 and "need --neutron sdk" in done.stderr, done.stderr)
    check(files_of(folder) == [], files_of(folder))


def test_lists_of_kernels(work, sdk):
    folder = fresh(work)
    done = compile_model(folder, "--neutron", "sdk", "--neutron-kernels", sdk=sdk)
    check(done.returncode == 0, done.stderr)
    check(files_of(folder) == ["dscnn_kws_kernel_selection.c", "out.pte"], files_of(folder))
    split = ["--engine-off", "conv2d_4"]  # gives two subgraphs
    folder = fresh(work)
    done = compile_model(folder, "--neutron", "sdk", "--neutron-kernels", *split, sdk=sdk)
    check(done.returncode == 0, done.stderr)
    check(files_of(folder) == ["dscnn_kws_kernel_selection.c", "out.pte"], files_of(folder))
    text = (folder / "dscnn_kws_kernel_selection.c").read_text()
    check(text.count("standin_kernel_selection") == 2, text)
    alone = make_sdk(work / "sdk-without-merger", merges=False)
    folder = fresh(work)
    done = compile_model(folder, "--neutron", "sdk", "--neutron-kernels", *split, sdk=alone)
    check(done.returncode == 0, done.stderr)
    names = files_of(folder)
    check(len(names) == 3 and names[0].startswith("dscnn_kws_kernel_selection_"), names)
    check("has no merge_kernel_selection_code to merge them" in done.stdout, done.stdout)
    folder = fresh(work)
    done = compile_model(folder, "--neutron", "sdk", "--neutron-kernels", *split, sdk=sdk,
                         mode="merge:fails")
    check(done.returncode == 2 and "files of different versions" in done.stderr, done.stderr)
    check(files_of(folder) == [], files_of(folder))


def main():
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        sdk = make_sdk(work / "sdk")
        test_answer_is_in_the_file(work, sdk)
        test_default_is_the_list(work, sdk)
        test_failures_leave_nothing(work, sdk)
        test_places(work, sdk)
        test_lists_of_kernels(work, sdk)
    print(f"{passed} checks passed")


if __name__ == "__main__":
    main()
