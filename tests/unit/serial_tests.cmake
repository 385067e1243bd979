# SPDX-License-Identifier: Apache-2.0
# The frames of a serial line, and the list of ports.
thimble_test(serial_test SOURCES ${CMAKE_CURRENT_LIST_DIR}/serial_test.cpp DEPS thimble_hostrun LABELS unit fast)
