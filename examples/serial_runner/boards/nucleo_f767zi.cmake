# SPDX-License-Identifier: Apache-2.0
# ST NUCLEO-F767ZI
include(${CMAKE_CURRENT_LIST_DIR}/../nucleo_f7.cmake)
set(CORE_FLAGS "-mfloat-abi=hard -mfpu=fpv5-d16 -DTHIMBLE_DUAL_ISSUE=1")
set(BOARD_CODE 0x08000000 2M)
set(BOARD_DATA 0x20000000 512K)
