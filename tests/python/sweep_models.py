# SPDX-License-Identifier: Apache-2.0
"""Models of the sweep's tests as functions: workers import this module and call them."""

import os
import signal
from pathlib import Path


def model(path):
    return path


def kills_its_worker(path):
    del path
    os.kill(os.getpid(), signal.SIGKILL)


def kills_its_worker_once(path, marker):
    """Dies at the first call, and works at the second."""
    if not Path(marker).exists():
        Path(marker).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return path


def raises(path):
    raise RuntimeError(f"no model is made of {path}")
