# SPDX-License-Identifier: Apache-2.0
# Target thimble_core: the compiler as one shared library, which the program and the Python module of a wheel share. Without it,
# the wheel would have the compiler twice. Only the functions that these two call are exported: the names of all functions
# are a fifth of a library.
set(core_source ${CMAKE_CURRENT_BINARY_DIR}/core.cpp)
file(WRITE ${core_source} "// The library consists of the archives that src/capi/core.cmake names.\n")
set(exports ${CMAKE_CURRENT_SOURCE_DIR}/core.map)
add_library(thimble_core SHARED ${core_source})
target_link_libraries(thimble_core PRIVATE thimble_capi)
# Archive members that only the program or the module calls.
target_link_options(
  thimble_core PRIVATE -Wl,--whole-archive $<TARGET_FILE:thimble_capi> $<TARGET_FILE:thimble_tools>
                       -Wl,--no-whole-archive -Wl,--version-script=${exports} -Wl,-z,defs -Wl,--gc-sections)
set_target_properties(thimble_core PROPERTIES LINK_DEPENDS ${exports} LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})
add_dependencies(thimble_core thimble_capi thimble_tools)
# The program and the module need the folders of its headers, and format messages with a copy of fmt each.
target_include_directories(thimble_core INTERFACE $<TARGET_PROPERTY:thimble_capi,INCLUDE_DIRECTORIES>)
target_link_libraries(thimble_core INTERFACE thimble_options thimble_fmt)
