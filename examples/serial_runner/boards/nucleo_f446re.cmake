# SPDX-License-Identifier: Apache-2.0
# ST NUCLEO-F446RE
include(${CMAKE_CURRENT_LIST_DIR}/../nucleo_f4.cmake)
set(BOARD_DATA 0x20000000 128K)
