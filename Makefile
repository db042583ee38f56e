# Everything runs in a virtual environment of its own; the first call makes it.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
DAY := 2026-11-24

.PHONY: demo digest preview test test-llm fuzz lint week bench clean

demo: $(VENV)/installed  ## the whole job on a small day of invented feeds, offline
	@$(BIN)/digest run --config examples/feeds.yaml --date $(DAY) || test $$? -eq 1
	@echo "The same as mails (open them in a mail program):"
	@MAIL_KEY=a-key-for-the-demo-and-nothing-else $(BIN)/digest send --config examples/feeds.yaml --date $(DAY) --spool out/demo-mail --samples
	@echo "One of the demo's feeds is broken on purpose. In the terminal: $(BIN)/digest show --config examples/feeds.yaml"

digest: $(VENV)/installed  ## the same with feeds.yaml and live feeds
	$(BIN)/digest run

preview: $(VENV)/installed  ## the editor's desk on the demo day, in the browser
	MAIL_KEY=a-key-for-the-demo-and-nothing-else $(BIN)/digest preview --demo

test: $(VENV)/tested  ## all tests, offline
	$(BIN)/pytest -n auto --dist worksteal

test-llm: $(VENV)/tested  ## the writer with a real small model (1.1 GB, once); not part of make test
	$(BIN)/python -m pip install --quiet --disable-pip-version-check xllamacpp
	$(BIN)/pytest -m real_model tests/real -s

fuzz: $(VENV)/tested  ## some minutes of hostile bytes for everything that reads from outside; not part of make test
	$(BIN)/python -m pip install --quiet --disable-pip-version-check atheris
	$(BIN)/python -m tests.fuzz

lint: $(VENV)/tested  ## style and types
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

week: $(VENV)/tested  ## five real days in a row, where captured feeds are at hand (CAPTURED_FEEDS)
	$(BIN)/python -m tests.week

bench: $(VENV)/tested  ## quality and speed, where gold items are at hand (GOLD)
	$(BIN)/python -m bench.quality
	$(BIN)/python -m bench.speed
	$(BIN)/python -m bench.writing
	$(BIN)/python -m bench.collecting
	$(BIN)/python -m bench.site
	$(BIN)/python -m bench.mail
	$(BIN)/python -m bench.desk

clean:
	rm -rf $(VENV) week out state

$(VENV)/installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e .[search]
	@touch $@

$(VENV)/tested: $(VENV)/installed requirements-dev.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -r requirements-dev.txt
	@touch $@
