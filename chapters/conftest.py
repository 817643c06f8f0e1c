"""nbval compares every printed text; a figure is compared by its words, not by its drawing."""

DRAWINGS = ("text/html", "image/svg+xml")  # the committed notebooks keep neither


def pytest_collectstart(collector):
    """Let nbval pass over outputs that are not committed."""
    if hasattr(collector, "skip_compare"):
        collector.skip_compare += DRAWINGS


def pytest_collection_modifyitems(items):
    """Have every cell compared, but those that draw into an Output widget.

    nbval passes over cells without an execution count, and the committed form has none. What a
    callback of `interactive_output` draws belongs to its widget; nbval, which is no front end,
    takes it for an output of the cell.
    """
    for item in items:
        if hasattr(item, "cell"):
            item.cell.execution_count = 1
            item.options["check"] &= "interactive_output" not in item.cell.source
