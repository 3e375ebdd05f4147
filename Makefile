# make demo    install what building and its picture need, build, and see it work
# make test    install what testing needs besides, build, and run every test, optimised
# make asan    the same tests, but the bars, under ASan and UBSan
# make build   leaves the program at build/demix
# make python  install what the Python package needs; build its wheel in build-python/, install it in build-python/venv
# make bars    what the library promises, measured; make bench: speed beside NumPy
# make bench-peers  batch methods beside scikit-learn, MNE and NumPy: table, JSON and chart in build-bench/peers
# make bench-eeg   the EEG desk beside MNE ($DEMIX_DATA), and on an hour of 64 channels
# make bench-page  a stream with a page and a browser beside one without
# make bench-python  the Python package beside scikit-learn and MNE
# make test-mpi  install Open MPI, build demix-mpi, test it; make bench-mpi: one rank and two
# make soak    a billion frames, or ten minutes of them
# make fuzz    readers, states, arguments, commands fed with damaged bytes, SECONDS (60) of CPU time each
# make hostile bad files, forged states, kills, full disks, closed descriptors against the program, in ten minutes
# make lint (clang-format, clang-tidy), make tsan, make coverage: for those who change the code
# .ci/run      all that must hold before a change lands
JOBS ?= $(shell nproc)
SECONDS ?= 60

# The sanitizers leave out the bars: the same code, at sizes that take them long.
.PHONY: demo test build install bench bench-peers bars soak lint check-format check-lines format coverage asan tsan
.PHONY: fuzz hostile clean python bench-eeg bench-page bench-python test-mpi bench-mpi

build: build/.configured
	cmake --build build -j $(JOBS) --target demix-program

demo: build scripts/.installed-demo
	build/demix demo -o demo

# A virtual environment that sees the packages of the system, and demix. PYTHON: Debian's, unless another is named.
PYTHON ?= $(firstword $(wildcard /usr/bin/python3) python3)
python: scripts/.installed-build scripts/.installed-python scripts/.installed-python-test
	@$(PYTHON) -c 'import numpy' || \
	  { echo "$(PYTHON) has no NumPy: install it, or name another by PYTHON=PATH" >&2; exit 1; }
	$(PYTHON) -m build --no-isolation --outdir build-python .
	$(PYTHON) -m venv --system-site-packages --clear build-python/venv
	build-python/venv/bin/pip install --quiet --no-index --force-reinstall --no-deps build-python/demix-*.whl
	cd build-python && venv/bin/python -c 'import demix; print("demix", demix.__version__, "is in build-python/venv")'

test: build/.with-tests
	cmake --build build -j $(JOBS) --target demix_optimised
	ctest --test-dir build -j $(JOBS) --output-on-failure -E NOT_BUILT

# Presets other than release build and test the same under sanitizers. (clang compiles Eigen under them in half the time
# of GCC 12, and is a second opinion.)
asan: scripts/.installed-build scripts/.installed-test scripts/.installed-clang
	cmake --preset asan > /dev/null
	cmake --build build-asan -j $(JOBS) --target demix_tests demix-program
	ctest --test-dir build-asan -j $(JOBS) --output-on-failure -LE 'release-only|bars' -E NOT_BUILT

# Only what starts threads, as everything takes some ten times as long: sums over recordings and the methods made of
# them (test_core, test_batch, test_methods), comparisons, grid search and the paper's runs (test_experiments,
# test_paper), the page beside a stream and the live demo (test_live, live_test), and the program on every kind of file
# (threads_test, compare_test). The other modules start none.
tsan: scripts/.installed-build scripts/.installed-test scripts/.installed-clang
	cmake --preset tsan > /dev/null
	cmake --build build-tsan -j $(JOBS) --target demix_threaded
	ctest --test-dir build-tsan -j $(JOBS) --output-on-failure -L threaded -E NOT_BUILT

# The bars with all their runs and figures (test runs them too, some with fewer mixings).
bars: build/.with-tests
	cmake --build build -j $(JOBS) --target test_bars demix-program
	DEMIX_FULL=1 build/tests/test_bars | grep -E 'FIGURE|NOTE|FAILED|PASSED'
	DEMIX_FULL=1 DEMIX=$(CURDIR)/build/demix /usr/bin/python3 tests/program/stream_state_test.py

coverage: scripts/.installed-build scripts/.installed-test scripts/.installed-coverage
	cmake --preset coverage > /dev/null
	cmake --build build-coverage -j $(JOBS)
	ctest --test-dir build-coverage -j $(JOBS) --output-on-failure
	gcovr --root . --filter src/ --filter include/ --filter cli/ build-coverage

install: build/.configured
	cmake --build build -j $(JOBS)
	cmake --install build

bench: scripts/.installed-build scripts/.installed-bench
	cmake --preset bench > /dev/null
	cmake --build build-bench -j $(JOBS)
	bench/compare-step build-bench/bench/step_time
	bench/compare-orica build-bench/bench/step_time
	bench/compare-files build-bench/demix build-bench/bench/step_time

bench-peers: scripts/.installed-build scripts/.installed-peers
	cmake --preset bench > /dev/null
	cmake --build build-bench -j $(JOBS) --target batch_time
	bench/compare-peers build-bench/bench/batch_time -o build-bench/peers

bench-eeg: scripts/.installed-build scripts/.installed-peers
	cmake --preset bench > /dev/null
	cmake --build build-bench -j $(JOBS) --target demix-program
	bench/eeg-desk build-bench/demix
	bench/compare-desk build-bench/demix

bench-page: scripts/.installed-build scripts/.installed-bench scripts/.installed-test
	cmake --preset bench > /dev/null
	cmake --build build-bench -j $(JOBS) --target demix-program page_time
	bench/compare-page build-bench/demix build-bench/bench/page_time

bench-python: build/.with-tests
	cmake --build build -j $(JOBS) --target demix_python
	PYTHONPATH=build/python bench/compare-python
	PYTHONPATH=build/python bench/compare-dask

test-mpi: build/.configured scripts/.installed-mpi
	cmake --preset release -DDEMIX_BUILD_MPI=ON > /dev/null
	cmake --build build -j $(JOBS) --target demix-program demix-mpi
	DEMIX=$(CURDIR)/build/demix DEMIX_MPI=$(CURDIR)/build/demix-mpi PYTHONDONTWRITEBYTECODE=1 \
	  /usr/bin/python3 tests/mpi/mpi_test.py

bench-mpi: build/.configured scripts/.installed-mpi
	cmake --preset release -DDEMIX_BUILD_MPI=ON > /dev/null
	cmake --build build -j $(JOBS) --target demix-mpi
	bench/compare-ranks build/demix-mpi
	bench/predict-ranks build/demix-mpi

soak: scripts/.installed-build scripts/.installed-bench
	cmake --preset bench > /dev/null
	cmake --build build-bench -j $(JOBS) --target soak
	build-bench/bench/soak

fuzz: scripts/.installed-build scripts/.installed-clang
	cmake --preset fuzz > /dev/null
	cmake --build build-fuzz -j $(JOBS) --target demix_fuzzers
	fuzz/run $(SECONDS)

# The program of build-asan reads the mutated corpus, if it is there.
hostile: build/.with-tests
	cmake --build build -j $(JOBS) --target demix-program forge_states
	DEMIX=$(CURDIR)/build/demix PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 tests/hostile/run.py

# No line over 120 characters, no source file over 450 lines.
check-lines:
	scripts/check-lines

check-format: scripts/.installed-lint check-lines
	git ls-files '*.cpp' '*.hpp' | xargs clang-format --dry-run --Werror

# In a folder of its own, file by file: clang-tidy cannot read headers that GCC precompiled.
lint: check-format scripts/.installed-build scripts/.installed-mpi
	cmake --preset release -B build-lint -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON -DDEMIX_UNITY=OFF \
	  -DDEMIX_BUILD_TESTS=OFF -DDEMIX_BUILD_MPI=ON > /dev/null
	git ls-files 'src/*.cpp' 'cli/*.cpp' | xargs -P $(JOBS) -n 1 clang-tidy -p build-lint --quiet 2> build-lint/errors \
	  || { cat build-lint/errors; exit 1; }

format:
	git ls-files '*.cpp' '*.hpp' | xargs clang-format -i

# Without the tests, so that the program can be built where only what it needs is installed; with them to test.
build/.configured: CMakePresets.json | scripts/.installed-build
	cmake --preset release -DDEMIX_BUILD_TESTS=OFF
	touch $@

build/.with-tests: build/.configured | scripts/.installed-test scripts/.installed-python scripts/.installed-python-test
	cmake --preset release -DDEMIX_BUILD_TESTS=ON -DDEMIX_BUILD_PYTHON=ON
	touch $@

# One stamp for each group of packages in scripts/install-deps.
scripts/.installed-%: scripts/install-deps
	scripts/install-deps $*
	touch $@

clean:
	rm -rf build build-* scripts/.installed-* demo
