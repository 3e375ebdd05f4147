# make demo    install what is missing, build, and see it work
# make test    install what is missing, build, and run every test: of program and kernels optimised, of all rooms under
#              ASan and UBSan
# make build   leaves the program at build/demix
# make bars    what the library promises, measured; make bench: speed beside NumPy
# make bench-peers  batch methods beside scikit-learn, MNE and NumPy: table, JSON and chart in build-bench/peers
# make soak    a billion frames, or ten minutes of them
# make fuzz    readers, states, arguments, commands fed with damaged bytes, SECONDS (60) for each kind; docs/fuzzing.md
# make hostile bad files, forged states, kills, full disks, closed descriptors against the program, in ten minutes
# make lint, make asan, make tsan, make coverage: for those who change the code
JOBS ?= $(shell nproc)
SECONDS ?= 60

# The sanitizers leave out the bars: the same code, at sizes that take them long.
.PHONY: demo test build install bench bench-peers bars soak lint format coverage asan tsan fuzz hostile clean

build: build/.configured
	cmake --build build -j $(JOBS) --target demix-program

demo: build
	build/demix demo -o demo

test: build/.configured
	cmake --build build -j $(JOBS) --target demix_optimised
	ctest --test-dir build -j $(JOBS) --output-on-failure -E NOT_BUILT
	$(MAKE) asan

# Presets other than release: make asan, make tsan build and test under them. (clang compiles Eigen under sanitizers in
# half the time of GCC 12, and is a second opinion.)
asan tsan: scripts/.installed
	scripts/install-deps clang libclang-rt-dev
	cmake --preset $@ > /dev/null
	cmake --build build-$@ -j $(JOBS) --target demix_tests demix-program
	ctest --test-dir build-$@ -j $(JOBS) --output-on-failure -LE 'release-only|bars' -E NOT_BUILT

# The bars with all their runs and figures (test runs them too, some with fewer mixings).
bars: build/.configured
	cmake --build build -j $(JOBS) --target test_bars
	DEMIX_FULL=1 build/tests/test_bars | grep -E 'FIGURE|NOTE|FAILED|PASSED'

coverage: scripts/.installed
	scripts/install-deps gcovr
	cmake --preset coverage > /dev/null
	cmake --build build-coverage -j $(JOBS)
	ctest --test-dir build-coverage -j $(JOBS) --output-on-failure
	gcovr --root . --filter src/ --filter include/ --filter cli/ build-coverage

install: build/.configured
	cmake --build build -j $(JOBS)
	cmake --install build

bench: scripts/.installed
	scripts/install-deps libbenchmark-dev python3-numpy libblas3 liblapack3 libopenblas0-pthread
	cmake --preset bench > /dev/null
	cmake --build build-bench -j $(JOBS)
	bench/compare-step build-bench/bench/step_time
	bench/compare-orica build-bench/bench/step_time
	bench/compare-files build-bench/demix build-bench/bench/step_time

bench-peers: scripts/.installed
	scripts/install-deps libbenchmark-dev python3-numpy python3-sklearn python3-mne libopenblas0-pthread gnuplot-nox
	cmake --preset bench > /dev/null
	cmake --build build-bench -j $(JOBS) --target batch_time
	bench/compare-peers build-bench/bench/batch_time -o build-bench/peers

soak: scripts/.installed
	scripts/install-deps libbenchmark-dev
	cmake --preset bench > /dev/null
	cmake --build build-bench -j $(JOBS) --target soak
	build-bench/bench/soak

fuzz: scripts/.installed
	scripts/install-deps clang libclang-rt-dev
	cmake --preset fuzz > /dev/null
	cmake --build build-fuzz -j $(JOBS) --target demix_fuzzers
	fuzz/run $(SECONDS)

# The program of build-asan reads the mutated corpus, if it is there.
hostile: build/.configured
	cmake --build build -j $(JOBS) --target demix-program forge_states
	DEMIX=$(CURDIR)/build/demix PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 tests/hostile/run.py

# In a folder of its own, file by file: clang-tidy cannot read headers that GCC precompiled.
lint: scripts/.installed
	scripts/install-deps clang-format clang-tidy
	git ls-files '*.cpp' '*.hpp' | xargs clang-format --dry-run --Werror
	cmake --preset release -B build-lint -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON -DDEMIX_UNITY=OFF > /dev/null
	git ls-files 'src/*.cpp' 'cli/*.cpp' | xargs -P $(JOBS) -n 1 clang-tidy -p build-lint --quiet

format:
	git ls-files '*.cpp' '*.hpp' | xargs clang-format -i

build/.configured: scripts/.installed CMakePresets.json
	cmake --preset release
	touch $@

scripts/.installed: scripts/install-deps
	scripts/install-deps
	touch $@

clean:
	rm -rf build build-* scripts/.installed demo
