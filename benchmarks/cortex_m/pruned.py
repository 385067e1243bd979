# SPDX-License-Identifier: Apache-2.0
"""Writes a copy of a network in which a share of the channels is always zero, as in a pruned network.

A batch norm whose scale is near zero and whose shift is negative makes its channel zero after the ReLU. Channels are chosen
by seed. The convolutions keep their sizes, as in a network that was pruned by its batch norms and exported without
removing the channels.
"""

import json
import pathlib
import random
import shutil
import struct
import zipfile

SHARE, SEED = 0.23, 1  # of mobilenet_v1_vww, 3.7 of 7.5 M MACs remain
NEAR_ZERO = 1e-6


def floats(data):
    return list(struct.unpack(f"<{len(data) // 4}f", data))


def batch_norms(config):
    """Pairs of members: scale and shift of each batch norm."""
    for name, entry in config.items():
        prefix, _, last = name.rpartition(".")
        if last == "weight" and len(entry["tensor_meta"]["sizes"]) == 1 and f"{prefix}.bias" in config:
            yield entry["path_name"], config[f"{prefix}.bias"]["path_name"]


def pruned(folder: pathlib.Path, to: pathlib.Path) -> pathlib.Path:
    """Writes `to`/NAME_pruned with the network and its calibration data; returns this folder."""
    result = to / f"{folder.name}_pruned"
    result.mkdir()
    shutil.copy(folder / "calibrate.npz", result)
    generator = random.Random(SEED)
    with zipfile.ZipFile(folder / f"{folder.name}.pt2") as archive:
        members = {info.filename: archive.read(info) for info in archive.infolist()}
    config_name = next(name for name in members if name.endswith("model_weights_config.json"))
    weights = config_name.rpartition("/")[0]
    for scale_name, shift_name in batch_norms(json.loads(members[config_name])["config"]):
        scale, shift = floats(members[f"{weights}/{scale_name}"]), floats(members[f"{weights}/{shift_name}"])
        for channel in range(len(scale)):
            if generator.random() < SHARE:
                scale[channel] *= NEAR_ZERO
                shift[channel] = -abs(shift[channel]) - NEAR_ZERO
        members[f"{weights}/{scale_name}"] = struct.pack(f"<{len(scale)}f", *scale)
        members[f"{weights}/{shift_name}"] = struct.pack(f"<{len(shift)}f", *shift)
    with zipfile.ZipFile(result / f"{result.name}.pt2", "w", zipfile.ZIP_STORED) as archive:
        for name, data in members.items():
            archive.writestr(zipfile.ZipInfo(name), data)
    return result
