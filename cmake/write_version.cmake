# SPDX-License-Identifier: Apache-2.0
# Writes the C++ file with version and commit of this build: cmake -DVERSION=0.2.0 -DSOURCE=FOLDER -DOUTPUT=FILE -P ...
# It contains no date and no path: two builds of one commit are equal.
include(${CMAKE_CURRENT_LIST_DIR}/commit.cmake)
thimble_commit(commit ${SOURCE})
set(text "#include \"tools/version.h\"\n\nnamespace thimble::tools {\nconst char* release_version() {\n  return \"${VERSION}\";\n}\nconst char* release_commit() {\n  return \"${commit}\";\n}\n}  // namespace thimble::tools\n")
file(WRITE ${OUTPUT} "${text}")
