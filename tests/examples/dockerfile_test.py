#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""examples/nordic/Dockerfile copies existing files, installs the packages of one list, and does not include the SDK.

usage: dockerfile_test.py SOURCE_DIR
"""
import pathlib
import re
import sys


def instructions(text):
    """Returns (instruction, arguments) of each instruction, with continued lines joined."""
    joined = re.sub(r"\\\n\s*", " ", text)
    return [tuple(line.split(maxsplit=1)) for line in joined.splitlines() if line and not line.startswith("#")]


def main():
    source = pathlib.Path(sys.argv[1])
    found = instructions((source / "examples/nordic/Dockerfile").read_text())
    listed = {line for line in (source / "cmake/packages.txt").read_text().splitlines() if line and not line.startswith("#")}
    wrong = []
    for name, rest in found:
        words = rest.split()
        if name == "COPY":
            wrong += [f"COPY {word}: no such file" for word in words[:-1] if not (source / word).exists()]
            wrong += [f"COPY {word}: the SDK is mounted" for word in words if "sdk" in word.lower()]
        if name == "RUN":
            installs = " ".join(re.findall(r"apt-get install ([^&;]*)", rest)).split()
            wrong += [f"RUN installs {word}, which is in cmake/packages.txt" for word in installs if word in listed]
    runs = [rest for name, rest in found if name == "RUN"]
    if not any(run.endswith("cmake/install-packages.sh") for run in runs):
        wrong.append("nothing runs cmake/install-packages.sh")
    if ("VOLUME", "/sdk") not in found or ("ENV", "SDK_EDGE_AI_PATH=/sdk") not in found:
        wrong.append("the SDK has no place to be mounted at")
    commands = [rest for name, rest in found if name == "CMD"]
    if len(commands) != 1 or "examples/nordic/check.py" not in commands[0]:
        wrong.append("the image does not run check.py")
    print("\n".join(wrong) or "the Dockerfile is as it should be")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
