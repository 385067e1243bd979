# SPDX-License-Identifier: Apache-2.0
# The Debian package and the archive of `make package`, unpacked and used.
find_program(DPKG_DEB dpkg-deb)
if(TARGET thimble AND ARM_CXX AND QEMU_ARM AND DPKG_DEB)
  add_test(NAME packages COMMAND python3 ${CMAKE_CURRENT_LIST_DIR}/packages_test.py ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR}
                                 ${CMAKE_CPACK_COMMAND})
  set_tests_properties(packages PROPERTIES LABELS wheel TIMEOUT 600)
endif()
# The CMake package in an application outside of the tree, and the sources for another build system.
if(TARGET thimble AND ARM_CXX AND QEMU_ARM)
  add_test(NAME packages_export_sources
           COMMAND python3 ${CMAKE_CURRENT_LIST_DIR}/export_sources_test.py ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR})
  set_tests_properties(packages_export_sources PROPERTIES LABELS wheel TIMEOUT 300)
  add_test(NAME packages_device_links
           COMMAND python3 ${CMAKE_CURRENT_LIST_DIR}/device_links_test.py ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR})
  set_tests_properties(packages_device_links PROPERTIES LABELS wheel TIMEOUT 60 SKIP_RETURN_CODE 77)
  add_test(NAME packages_library_layouts
           COMMAND python3 ${CMAKE_CURRENT_LIST_DIR}/library_layouts_test.py ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR})
  set_tests_properties(packages_library_layouts PROPERTIES LABELS wheel TIMEOUT 300)
  # Two entries, so that two processes can run them.
  foreach(part Builds Others)
    string(TOLOWER packages_cmake_${part} name)
    add_test(NAME ${name} COMMAND python3 ${CMAKE_CURRENT_LIST_DIR}/cmake_test.py ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR} ${part})
    set_tests_properties(${name} PROPERTIES LABELS wheel TIMEOUT 900 ENVIRONMENT
                         "THIMBLE_FIRMWARE=${CMAKE_BINARY_DIR}/firmware;THIMBLE_FIRMWARE_CORES=cortex-m33 cortex-m55")
  endforeach()
endif()
# The script of releases, without the parts that build programs.
find_program(GPG gpg)
if(GPG AND ARM_CXX AND EXISTS ${CMAKE_SOURCE_DIR}/.git)
  add_test(NAME packages_release
           COMMAND python3 ${CMAKE_CURRENT_LIST_DIR}/release_test.py ${CMAKE_SOURCE_DIR} ${ARM_CXX})
  set_tests_properties(packages_release PROPERTIES LABELS wheel TIMEOUT 300)
  # Two builds of a sample, in different paths, languages and times; `make reproducible` compares the whole release.
  add_test(NAME packages_reproducible
           COMMAND python3 ${CMAKE_SOURCE_DIR}/packaging/reproducible.py ${CMAKE_BINARY_DIR}/tests/reproducible --sample)
  set_tests_properties(packages_reproducible PROPERTIES LABELS wheel TIMEOUT 600)
endif()
