# SPDX-License-Identifier: Apache-2.0
"""The device code of Thimble as a CMSIS pack, without a model.

`thimble export-sources --layout cmsis` makes a pack for one model and core, with only the kernels that the model calls. This
pack has the runtime, all kernels and the delegates, for a project that changes its models. Kernels of an instruction set are
empty on other cores (kernels/isa.h), so no component has a condition. Format: Open-CMSIS-Pack specification 1.7.28, "PDSC".
"""

import datetime
import pathlib
import xml.sax.saxutils
import zipfile

# Folders of the source tree that contain device code.
FOLDERS = ("LICENSE", "abi", "engines", "kernels", "numerics", "runtime")
URL = "https://pypi.org/project/thimble-ml/"
CATEGORIES = {".cpp": "sourceCpp", ".c": "sourceC", ".h": "header", ".hpp": "header", ".def": "other"}


def engine_of(path):
    return path.parts[1] if path.parts[0] == "engines" else None


def is_device_code(path):
    """True for the code of a product: not for the compiler's part of an engine, simulators and drivers of other systems."""
    if path.suffix not in CATEGORIES:
        return False
    return engine_of(path) is None or path.parts[2] in ("isa", "container", "delegate")


def component_of(path):
    if path.parts[0] in ("kernels", "numerics"):
        return "Kernels"
    return f"Delegate {engine_of(path)}" if engine_of(path) else "Runtime"


def pdsc(files, version, notes, date):
    components = {}
    for path in files:
        components.setdefault(component_of(path), []).append(path)
    escape = xml.sax.saxutils.escape
    text = f"""<?xml version="1.0" encoding="UTF-8"?>
<!-- SPDX-License-Identifier: Apache-2.0 -->
<package schemaVersion="1.7.28" xmlns:xs="http://www.w3.org/2001/XMLSchema-instance"
         xs:noNamespaceSchemaLocation="PACK.xsd">
  <vendor>Thimble</vendor>
  <name>Thimble</name>
  <description>Runs PyTorch models on Cortex-M microcontrollers and their NPUs: runtime, kernels and delegates</description>
  <url>{URL}</url>
  <license>LICENSE</license>
  <releases>
    <release version="{version}" date="{date:%Y-%m-%d}">{escape(notes)}</release>
  </releases>
  <components>
"""
    for name, members in sorted(components.items()):
        text += f"""    <component Cclass="Machine Learning" Cgroup="Thimble" Csub="{name}" Cversion="{version}">
      <description>Device code of Thimble, C++17: {name}</description>
      <files>
        <file category="include" name="./"/>
"""
        includes = sorted({path.parent for path in members if path.parent.name == "include"})
        for folder in includes:
            text += f'        <file category="include" name="{folder.as_posix()}/"/>\n'
        for path in members:
            text += f'        <file category="{CATEGORIES[path.suffix]}" name="{path.as_posix()}"/>\n'
        text += "      </files>\n    </component>\n"
    return text + "  </components>\n</package>\n"


def sbom(version):
    """Returns the list of the device code's components in the CycloneDX format."""
    template = pathlib.Path(__file__).with_name("thimble_device.cdx.json.in").read_text()
    return template.replace("@PROJECT_VERSION@", version)


def write(tree, pack, version, notes, time):
    """Writes the pack of the source tree in the folder `tree`. `time`: of the release, in seconds since 1970 (UTC)."""
    moment = datetime.datetime.fromtimestamp(time, datetime.timezone.utc)
    files = sorted(path.relative_to(tree) for path in tree.rglob("*") if path.is_file())
    device = [path for path in files if is_device_code(path)]
    members = {path.as_posix(): (tree / path).read_bytes() for path in (*device, pathlib.Path("LICENSE"))}
    members["thimble.cdx.json"] = sbom(version).encode()
    members["Thimble.Thimble.pdsc"] = pdsc(device, version, notes, moment).encode()
    with zipfile.ZipFile(pack, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in sorted(members):
            entry = zipfile.ZipInfo(name, moment.timetuple()[:6])
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, members[name])
