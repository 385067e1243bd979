# SPDX-License-Identifier: Apache-2.0
"""Results of sweeps in a folder: one file each, named by the hash of what it depends on.

The first line of a file is JSON. The compressed report and the program follow; the line has their
sizes.
"""

from __future__ import annotations

import json
import os
import tempfile
import zlib
from dataclasses import fields
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._sweep_item import SweepResult


#: Fields of a result that are bytes.
_BINARY = ("packed_report", "program")


def default_folder() -> str:
    """Return `$XDG_CACHE_HOME/thimble/sweep`, by default `~/.cache/thimble/sweep`."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(base, "thimble", "sweep")


class SweepCache:
    """Stored results. Several processes may use one folder: a file appears complete or not at all.

    Raises
    ------
    OSError
        The folder cannot be made or written.
    """

    def __init__(self, folder: str) -> None:
        self.folder = folder
        os.makedirs(folder, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass  # an error now is better than one after the first compilation

    def get(self, key: str) -> SweepResult | None:
        """Return the stored result, or None if there is none or its file is damaged."""
        from ._sweep_item import SweepResult

        try:
            with open(self._path(key), "rb") as file:
                values = json.loads(file.readline())
                for name in _BINARY:
                    size = values[name]
                    values[name] = None if size is None else file.read(size)
                    if size is not None and len(values[name]) != size:
                        return None
            if values["packed_report"] is not None:
                zlib.decompress(values["packed_report"])
            return SweepResult(**values, key=key, cached=True)
        except (FileNotFoundError, KeyError, TypeError, ValueError, zlib.error):
            return None

    def put(self, result: SweepResult) -> None:
        """Store a result under its key."""
        from ._sweep_item import plain

        assert result.key is not None
        values = {each.name: getattr(result, each.name) for each in fields(result)}
        del values["key"], values["cached"]
        binary = [values[name] for name in _BINARY]
        for name, content in zip(_BINARY, binary):
            values[name] = None if content is None else len(content)
        line = json.dumps(values, default=plain).encode() + b"\n"
        self._write(self._path(result.key), line + b"".join(each or b"" for each in binary))

    def _path(self, key: str) -> str:
        return os.path.join(self.folder, f"{key}.result")

    def _write(self, path: str, content: bytes) -> None:
        handle, temporary = tempfile.mkstemp(dir=self.folder, suffix=".tmp")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
            os.replace(temporary, path)
        except BaseException:
            os.unlink(temporary)
            raise
