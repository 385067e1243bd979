"""Trains and exports the networks of this folder.

    python models/make.py NAME [--out DIR]
    python models/make.py all

Without --out the files of a network go to models/NAME, those of mobilenet_v2 and mobilenet_v3_small to build/models/NAME.
`all` means every network that is committed, so not those two.
"""

import argparse
import importlib.util
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
COMMITTED = [
    "hello_sin",
    "digits_cnn",
    "ad_autoencoder",
    "dscnn_kws",
    "resnet8",
    "mobilenet_v1_vww",
    "mobilenet_v2_tiny",
    "mobilenet_v3_tiny",
    "mnasnet_like",
    "efficientnet_lite_like",
    "squeezenet_like",
    "shufflenet_v2_like",
    "unet_small",
    "yolo_nano_like",
    "convnext_femto_like",
    "deit_tiny_like",
    "conv_tasnet_like",
    "tcn",
    "lstm_classifier",
    "gru_classifier",
    "rnn_step",
    "decoder_step",
    "streaming_conv",
    "streaming_conv_buffer",
    "cifarnet",
    "se_classifier",
    "face_embedding",
    "vocoder",
]
ON_DEMAND = ["mobilenet_v2", "mobilenet_v3_small"]


def load(name: str):
    spec = importlib.util.spec_from_file_location(name, HERE / name / "export.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def main() -> int:
    parser = argparse.ArgumentParser(description="Trains and exports the networks of this folder.")
    parser.add_argument("name", choices=COMMITTED + ON_DEMAND + ["all"])
    parser.add_argument("--out", type=Path, help="where to write; only with one network")
    arguments = parser.parse_args()
    if arguments.name == "all" and arguments.out:
        parser.error("--out needs one network")
    sys.path.insert(0, str(HERE))
    for name in COMMITTED if arguments.name == "all" else [arguments.name]:
        out = arguments.out or (HERE.parent / "build" / "models" / name if name in ON_DEMAND else HERE / name)
        print(f"{name} -> {out}", flush=True)
        started = time.monotonic()
        load(name).build(out)
        print(f"  {time.monotonic() - started:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
