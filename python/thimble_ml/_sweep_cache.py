"""Results of sweeps in a folder: one JSON file each, named by the hash of what it depends on."""

from __future__ import annotations

import json
import os
import tempfile
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._sweep_item import SweepResult


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
            with open(self._path(key, "json"), encoding="utf-8") as file:
                fields = json.load(file)
            has_program = fields.pop("has_program")
            result = SweepResult(**fields, key=key, cached=True)
            if has_program:
                with open(self._path(key, "pte"), "rb") as file:
                    result = replace(result, program=file.read())
        except (FileNotFoundError, KeyError, TypeError, ValueError):
            return None
        return result

    def put(self, result: SweepResult) -> None:
        """Store a result under its key."""
        assert result.key is not None
        skipped = ("key", "cached", "program")
        fields = {name: value for name, value in vars(result).items() if name not in skipped}
        fields["has_program"] = result.program is not None
        if result.program is not None:
            self._write(self._path(result.key, "pte"), result.program)
        self._write(self._path(result.key, "json"), json.dumps(fields).encode())

    def _path(self, key: str, extension: str) -> str:
        return os.path.join(self.folder, f"{key}.{extension}")

    def _write(self, path: str, content: bytes) -> None:
        handle, temporary = tempfile.mkstemp(dir=self.folder, suffix=".tmp")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
            os.replace(temporary, path)
        except BaseException:
            os.unlink(temporary)
            raise
