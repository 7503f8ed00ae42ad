# Everything a fresh machine with git, make and Python needs: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
TOOLS_READY := $(VENV)/.tools
# Exact versions for what is installed, and for what builds it in an environment of its own.
INSTALL := PIP_CONSTRAINT=constraints.txt $(BIN)/python -m pip install --quiet --disable-pip-version-check

# Idle OpenMP threads that spin slow everything else down on few cores.
export GOMP_SPINCOUNT := 0
export HF_HUB_OFFLINE := 1
# Every process that is started would compile the sources again, and pytest rewrite its tests.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test test-published test-processors test-engines test-minima lint bench bench-frames bench-ray bench-search bench-search-transport bench-serve soak table \
	methods-table check-results docs wheel-test clean

demo: $(READY)
	$(BIN)/python examples/demo.py

# Kernels are compiled first, if they were changed: several tests at once would each compile theirs.
test: $(TOOLS_READY)
	$(BIN)/movers warm-up
	$(BIN)/python -m pytest -n 2 --dist loadfile

# What takes minutes: whole tables of published numbers, every place to be killed at, the site.
test-published: $(TOOLS_READY)
	$(BIN)/movers warm-up
	$(BIN)/python -m pytest -n 2 --dist loadfile -m published tests research

# The tests of numbers once more, as an older processor would run them. Every process compiles its
# kernels, as no library is built for settings of numba's.
OLDER_PROCESSOR := OPENBLAS_CORETYPE=Haswell MKL_ENABLE_INSTRUCTIONS=AVX2 MKL_CBWR=AVX2 \
	ONEDNN_MAX_CPU_ISA=AVX2 ATEN_CPU_CAPABILITY=avx2 NUMBA_CPU_NAME=haswell \
	NPY_DISABLE_CPU_FEATURES="X86_V4 AVX512_ICL AVX512_SPR" \
	NUMBA_CACHE_DIR=$(VENV)/older-processor
NUMBERS := tests/encode/test_kernels.py tests/encode/test_whiten.py \
	tests/encode/test_transformer.py tests/solve/test_batch.py tests/solve/test_linear.py \
	tests/measures/parts/test_costs.py tests/measures/test_pooled.py tests/test_doctor.py
test-processors: $(TOOLS_READY)
	$(OLDER_PROCESSOR) $(BIN)/python -m pytest -q -n 2 --dist loadfile $(NUMBERS)

# The core with the lowest versions that pyproject.toml allows, in an environment of its own.
MINIMA := build/minima
CORE := tests/encode/test_transformer.py tests/encode/test_tokens.py \
	tests/encode/test_families.py tests/runtime/test_kernel_library.py tests/solve/test_batch.py \
	tests/solve/test_bounds.py tests/search/test_index.py \
	tests/cli/test_commands.py tests/cli/test_search_commands.py
test-minima:
	rm -rf $(MINIMA)
	$(PYTHON) -m venv $(MINIMA)
	$(MINIMA)/bin/python -m pip install --quiet --disable-pip-version-check \
		-c constraints-minima.txt -e '.[compile,frames,frequencies,tables,torch]' -e ./research hypothesis POT pytest pytest-timeout pytest-xdist scipy
	MOVERS_CACHE=$(MINIMA)/cache $(MINIMA)/bin/movers warm-up
	MOVERS_CACHE=$(MINIMA)/cache $(MINIMA)/bin/python -m pytest -q -n 2 --dist loadfile \
		-W ignore::DeprecationWarning $(CORE)  # transformers 5.0 under a newer torch

lint: $(TOOLS_READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(TOOLS_READY)
	$(BIN)/python bench/run.py

# Two minutes of load on loopback, and the library on the same pairs.
bench-serve: $(TOOLS_READY)
	$(BIN)/python bench/serve.py --report results/serve.md

# Half an hour of mixed use on loopback, every answer checked; `make soak MINUTES=5` is shorter.
soak: $(TOOLS_READY)
	$(BIN)/python bench/soak.py --minutes $(or $(MINUTES),30) --report results/soak.md

# Peak memory of scoring five million rows.
bench-frames: $(TOOLS_READY)
	$(BIN)/python bench/frames.py

# Starts two Ray nodes on this machine and stops them again; a quarter of an hour on two cores.
bench-ray: $(TOOLS_READY)
	$(BIN)/python bench/ray_cluster.py

# Needs evaluation data: MOVERS_DATA, or the folder beside the checkout; half an hour and 5 GB.
bench-search: $(TOOLS_READY)
	$(BIN)/python bench/default_search.py

# The same for measures of transport.
bench-search-transport: $(TOOLS_READY)
	$(BIN)/python bench/search.py

# Needs evaluation data: MOVERS_DATA, or the folder beside the checkout.
table: $(TOOLS_READY)
	$(BIN)/python scripts/paws_table.py $(or $(MOVERS_DATA),../shared/data)

methods-table: $(TOOLS_READY)
	$(BIN)/python scripts/method_table.py $(or $(MOVERS_DATA),../shared/data)

# Every table of results/ once more, row by row; an hour. MPNET names a folder of all-mpnet-base-v2.
check-results: $(TOOLS_READY)
	$(BIN)/python scripts/check_results.py $(if $(MPNET),--mpnet $(MPNET))

# The site, from the pages under docs/ and results/; any warning is an error.
docs: $(TOOLS_READY)
	$(BIN)/python -m sphinx -b html -c docs -d docs/_build/doctrees -W --keep-going . docs/_build/html

# The suite's core once more with the embedded model run by torch; what works without torch and
# other extras is among the usual tests (tests/test_light_install.py).
test-engines: $(TOOLS_READY)
	MOVERS_TEST_ENGINE=torch $(BIN)/python -m pytest -q -n 2 --dist loadfile tests/encode/test_tokens.py \
		tests/encode/test_transformer.py tests/search/test_index.py tests/solve/test_batch.py

# The wheel alone, with pinned dependencies, in a fresh environment away from the checkout.
wheel-test: $(TOOLS_READY)
	rm -rf build/wheel && mkdir -p build/wheel
	PIP_CONSTRAINT=constraints.txt $(BIN)/python -m build --outdir build/wheel
	$(PYTHON) -m venv build/wheel/venv
	PIP_CONSTRAINT=constraints.txt build/wheel/venv/bin/python -m pip install --quiet --disable-pip-version-check build/wheel/*.whl
	cd build/wheel && env -u PYTHONPATH venv/bin/movers --version
	cd build/wheel && env -u PYTHONPATH venv/bin/movers compare "a dog bites a man" "a man bites a dog"

# What a user would install: enough for the demo. Python compiles the modules it imports itself.
$(READY): pyproject.toml constraints.txt hatch_build.py
	$(PYTHON) -m venv $(VENV)
	$(INSTALL) --no-compile -e .
	touch $@

# Everything else: research, tests, linters, plug-ins, cluster, documentation.
$(TOOLS_READY): $(READY) research/pyproject.toml
	$(INSTALL) -e ".[dev]" -e ./research
	touch $@

clean:
	rm -rf $(VENV) build dist docs/_build .mypy_cache .pytest_cache .ruff_cache .hypothesis
