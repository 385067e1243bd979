# SPDX-License-Identifier: Apache-2.0
"""``python -m thimble_ml ARGUMENTS`` is the command ``thimble``; ``--cmake-dir`` prints the folder of the CMake package."""

import sys

from ._program import FOLDER, main

if sys.argv[1:] == ["--cmake-dir"]:
    print(FOLDER / "share/thimble/cmake")
else:
    main()
