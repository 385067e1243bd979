# SPDX-License-Identifier: Apache-2.0
# Thimble in another project, usually firmware: the device libraries and thimble_add_model. The compiler is a program for the
# build machine: THIMBLE_PROGRAM, or thimble on PATH, or in build/ of this tree. Nothing is built or downloaded here: without
# the program, thimble_add_model adds a `.pte` that was compiled elsewhere. Projects that cannot use add_subdirectory on this
# tree, because they have redefined project(), include this file.
get_filename_component(THIMBLE_DEVICE_DIR ${CMAKE_CURRENT_LIST_DIR}/.. ABSOLUTE)
set(THIMBLE_DEVICE_DIR ${THIMBLE_DEVICE_DIR} CACHE INTERNAL "")
set(THIMBLE_MODELS ${THIMBLE_DEVICE_DIR}/models CACHE INTERNAL "")
set(THIMBLE_EXAMPLES ${THIMBLE_DEVICE_DIR}/examples CACHE INTERNAL "")
find_program(THIMBLE_PROGRAM thimble HINTS ${THIMBLE_DEVICE_DIR}/build NO_CMAKE_FIND_ROOT_PATH)
include(${CMAKE_CURRENT_LIST_DIR}/thimble_model.cmake)
thimble_device_libraries()
