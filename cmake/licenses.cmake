# SPDX-License-Identifier: Apache-2.0
# thimble_install_licenses(DESTINATION): installs the licences of the code of others that an installation contains: the
# static libraries and headers in the program, the C library in the images of emulated boards, nanobind in the Python
# module. Debian and Ubuntu keep a licence in the `copyright` file of each package; elsewhere THIMBLE_LICENSES names a
# folder with files <package>/copyright.
set(THIMBLE_LICENSES /usr/share/doc CACHE PATH "Folder with <package>/copyright of the libraries in the program")
# Code of others in an installation: Debian package|name|SPDX identifier of the licence.
set(THIMBLE_THIRD_PARTY
    "libcli11-dev|CLI11|BSD-3-Clause"
    "libeigen3-dev|Eigen|MPL-2.0"
    "libflatbuffers-dev|FlatBuffers|Apache-2.0"
    "libfmt-dev|fmt|MIT"
    "libtoml11-dev|toml11|MIT"
    "nlohmann-json3-dev|nlohmann-json|MIT")
if(ARM_CXX)
  list(APPEND THIMBLE_THIRD_PARTY
       "gcc-12-base|libgcc|GPL-3.0-or-later WITH GCC-exception-3.1"
       "libnewlib-arm-none-eabi|newlib|LicenseRef-newlib")
endif()

function(thimble_install_licenses destination)
  foreach(row ${THIMBLE_THIRD_PARTY})
    string(REGEX REPLACE "[|].*" "" package "${row}")
    set(file ${THIMBLE_LICENSES}/${package}/copyright)
    # Another version of a compiler has another package name.
    if(NOT EXISTS ${file})
      string(REGEX REPLACE "-[0-9]+-" "-*-" pattern ${file})
      file(GLOB file ${pattern})
      list(POP_FRONT file file)
    endif()
    if(file)
      install(FILES ${file} DESTINATION ${destination} RENAME ${package}.txt)
    elseif(SKBUILD)
      message(FATAL_ERROR "${THIMBLE_LICENSES}/${package}/copyright: not found; a wheel contains the licences of its "
                          "libraries: set THIMBLE_LICENSES")
    endif()
  endforeach()
  foreach(text Apache-2.0 MPL-2.0) # whose texts the files above refer to
    install(FILES /usr/share/common-licenses/${text} DESTINATION ${destination} RENAME ${text}.txt OPTIONAL)
  endforeach()
  if(nanobind_DIR)
    file(GLOB nanobind ${nanobind_DIR}/../../nanobind-*.dist-info/licenses/LICENSE)
    install(FILES ${nanobind} DESTINATION ${destination} RENAME nanobind.txt)
    # The licence of robin-map is the first comment of its files.
    file(READ ${nanobind_DIR}/../ext/robin_map/include/tsl/robin_map.h text)
    string(REGEX MATCH "^/\\*.*\\*/" text "${text}")
    string(FIND "${text}" "*/" end)
    string(SUBSTRING "${text}" 0 ${end} text)
    file(WRITE ${CMAKE_BINARY_DIR}/generated/robin-map.txt "${text}*/\n")
    install(FILES ${CMAKE_BINARY_DIR}/generated/robin-map.txt DESTINATION ${destination})
  endif()
endfunction()
