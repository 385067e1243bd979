# SPDX-License-Identifier: Apache-2.0
# make        builds the program, build/thimble
# make boards builds the images of all emulated boards; without it each is built when first used
# make demo   compiles a network, runs it here and on an emulated Cortex-M55
# make test   runs all tests, three at a time: some of them only wait for a board
# make package makes a Debian package and an archive of the program
# make matrix prints which operator, in which type, was found right on which processor
# make fuzz SECONDS=60 runs the fuzzers, each for this time; TARGETS="pte ir" selects some
# make mutations runs a million mutations of each file format, with sanitizers (hours; it can be resumed); COUNT=1000 and
#             TARGETS="pte ir" select less
# make fuzz-coverage prints the lines of parsers and verifiers that the fuzzers' inputs reach
# make soak   runs 10,000 random calls of several models in one arena, with sanitizers; `make test` runs it on an emulated core
# make threads runs models in threads, and the compiler with 8 threads, with ThreadSanitizer
# make proof  checks arithmetic, file verification and memory placement for all small cases; `make test` runs a sample
# make mutants runs the tests on copies of the program with one operator changed (an hour; it can be resumed)
# make reproducible makes the release twice and compares the bytes
# make lint   checks the sources with clang-tidy, clang-format and codespell
# Each installs the Debian or Ubuntu packages that are missing (cmake/packages.txt).

BUILD := build

SECONDS := 60
COUNT := 1000000
.PHONY: build boards demo test package matrix fuzz mutations fuzz-coverage soak threads proof mutants reproducible lint clean

build:
	@sh cmake/install-packages.sh
	@sh cmake/build.sh $(BUILD) thimble insn_count built_images

boards:
	@sh cmake/install-packages.sh
	@sh cmake/build.sh $(BUILD) thimble insn_count boards

demo:
	@sh cmake/install-packages.sh
	@sh cmake/build.sh $(BUILD) thimble insn_count built_images image-runner-cortex-m55
	@sh tools/demo.sh $(BUILD)

test:
	@sh cmake/install-packages.sh
	@sh cmake/install-packages.sh cmake/python_packages.txt
	@sh cmake/python_venv.sh $(BUILD)
	@sh cmake/build.sh $(BUILD) all
	@cd $(BUILD) && $$(sed -n 's/^CMAKE_CTEST_COMMAND:INTERNAL=//p' CMakeCache.txt) -j3 --output-on-failure --no-label-summary

package:
	@sh cmake/install-packages.sh
	@sh cmake/build.sh $(BUILD) thimble thimble_linux insn_count boards
	@umask 022 && cd $(BUILD) && $$(sed -n 's/^CMAKE_CPACK_COMMAND:INTERNAL=//p' CMakeCache.txt)

# Kernels, single operators on the boards, random graphs and networks; a cell is a comparison that ran.
matrix:
	@sh cmake/install-packages.sh
	@sh cmake/build.sh $(BUILD) all
	@rm -rf $(BUILD)/matrix
	@cd $(BUILD) && THIMBLE_MATRIX=$(abspath $(BUILD))/matrix \
	  $$(sed -n 's/^CMAKE_CTEST_COMMAND:INTERNAL=//p' CMakeCache.txt) -j2 --no-label-summary -Q \
	  -R '^(kernels_test|cortex_m_conformance_test|operators_test|e2e_.*)$$' --output-on-failure
	@python3 tests/matrix/matrix.py $(BUILD)/matrix --ops abi/ops -o $(BUILD)/matrix.md

fuzz:
	@sh cmake/install-packages.sh cmake/fuzz_packages.txt
	@sh cmake/fuzz.sh $(BUILD) $(SECONDS) $(TARGETS)

mutations:
	@sh cmake/install-packages.sh cmake/fuzz_packages.txt
	@sh cmake/fuzz.sh $(BUILD) mutations $(COUNT) $(TARGETS)

soak threads:
	@sh cmake/install-packages.sh
	@sh cmake/concurrency.sh $(BUILD) $@

proof:
	@sh cmake/install-packages.sh
	@sh cmake/build.sh $(BUILD) proof_test
	@THIMBLE_PROOF=full $(BUILD)/tests/proof_test --gtest_brief=1

reproducible:
	@sh cmake/install-packages.sh
	@sh cmake/install-packages.sh cmake/reproducible_packages.txt
	@rm -rf $(BUILD)/reproducible
	@python3 packaging/reproducible.py $(BUILD)/reproducible

fuzz-coverage:
	@sh cmake/install-packages.sh cmake/fuzz_packages.txt
	@sh cmake/fuzz.sh $(BUILD) coverage

mutants:
	@sh cmake/install-packages.sh
	@sh cmake/install-packages.sh cmake/mutation_packages.txt
	@sh cmake/build.sh $(BUILD) generated_sources
	@python3 tests/mutants/mutants.py $(BUILD)-mutants --generated $(BUILD)/generated

lint:
	@sh cmake/install-packages.sh cmake/lint_packages.txt
	@sh cmake/build.sh $(BUILD) generated_sources
	@sh cmake/lint.sh $(BUILD)

clean:
	rm -rf $(BUILD)
