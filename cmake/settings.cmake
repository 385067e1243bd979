# SPDX-License-Identifier: Apache-2.0
# Language level, warnings and build types that every folder shares.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Release, Debug or RelWithDebInfo" FORCE)
endif()
# Asserts detect bugs of Thimble; they stay enabled in Release, where they cost little time.
string(REPLACE "-DNDEBUG" "" CMAKE_CXX_FLAGS_RELEASE "${CMAKE_CXX_FLAGS_RELEASE}")
# Host code is compiled with -Og, in half of the time of -O2. Libraries in which a compilation or a run on
# the host spends its time call thimble_optimize().
string(REPLACE "-O3" "-Og" CMAKE_CXX_FLAGS_RELEASE "${CMAKE_CXX_FLAGS_RELEASE}")

if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC's garbage collector takes a tenth of the time of a large translation unit, and frees little.
  # With -Og, GCC 12 warns falsely about members of std::optional and std::variant.
  add_compile_options(--param=ggc-min-heapsize=500000 -Wno-maybe-uninitialized)
endif()

# Builds in different folders give the same bytes: no object contains a path of this machine.
if(NOT MSVC)
  add_compile_options(-ffile-prefix-map=${CMAKE_SOURCE_DIR}=. -ffile-prefix-map=${CMAKE_BINARY_DIR}=build)
endif()
# Programs: their build ID depends on the RUNPATH, which therefore must not name the build folder.
set(CMAKE_BUILD_RPATH_USE_ORIGIN ON)

option(THIMBLE_TESTS "Build the tests" ON)
option(THIMBLE_PYTHON "Build the Python package; Python_EXECUTABLE needs nanobind and numpy" OFF)
option(THIMBLE_SHARED_CORE "The program and the module of a wheel share the compiler in a library (Linux)" OFF)
if(NOT UNIX OR APPLE)
  set(THIMBLE_SHARED_CORE OFF)
endif()
option(THIMBLE_UNITY "Compile the host sources of a folder as one translation unit" OFF)
set(THIMBLE_SANITIZE "" CACHE STRING "Build with sanitizers: address, undefined, or both with a comma; thread")
option(THIMBLE_FUZZERS "Build thimble_fuzz, with clang: -fsanitize=fuzzer and THIMBLE_SANITIZE" OFF)
option(THIMBLE_LTO "Build with link-time optimization, which finds violations of the one-definition rule" OFF)

add_library(thimble_options INTERFACE)
target_include_directories(thimble_options INTERFACE ${CMAKE_SOURCE_DIR} ${CMAKE_SOURCE_DIR}/src)
if(MSVC)
  target_compile_options(thimble_options INTERFACE /W4 /permissive-)
else()
  # No contraction: float results must not depend on the machine's fused multiply-add.
  target_compile_options(thimble_options INTERFACE -Wall -Wextra -Wconversion -Werror -ffp-contract=off)
endif()
if(THIMBLE_SANITIZE STREQUAL "ON")
  set(THIMBLE_SANITIZE "address,undefined") # the option was a switch
endif()
if(THIMBLE_SANITIZE)
  add_compile_options(-fsanitize=${THIMBLE_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${THIMBLE_SANITIZE})
  add_compile_definitions(_GLIBCXX_ASSERTIONS) # indices of containers
endif()

if(THIMBLE_FUZZERS)
  # Every file counts its lines for `make fuzz-coverage`: the linker may take an inline function from any file that includes it.
  add_compile_options(-fsanitize=fuzzer-no-link -fprofile-instr-generate -fcoverage-mapping)
  add_link_options(-fprofile-instr-generate)
  # Fuzzers are built with any version of clang. A warning that only one version has must not stop the build.
  target_compile_options(thimble_options INTERFACE -Wno-error)
endif()

if(THIMBLE_LTO)
  add_compile_options(-flto=auto -Wodr -Werror=odr)
  add_link_options(-flto=auto -Wodr -Werror)
endif()

find_program(CCACHE ccache)
if(CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${CCACHE})
endif()
