"""ModelTable: pictures that its oracle must take, on which faults are tried."""

from pieces.widgets import ModelTable


def sort_by_size(page):
    page.get_by_role("button", name="counted").press("Enter")


def look_for_rope(page):
    page.get_by_role("searchbox").press_sequentially("rope 2023")


def open_the_sources(page):
    page.locator("summary", has_text="Where these facts come from").click()


def look_for_nothing(page):
    page.get_by_role("searchbox").press_sequentially("gated")


# A widget, and what a reader does with it.
PICTURES = {
    "models": (lambda: ModelTable(one="T5", two="Gemma"), sort_by_size),
    "models by the sources": (lambda: ModelTable(ours=True, words="sources", one="Gemma-2",
                                                 two="LaMDA", by="norm"), open_the_sources),
    "models that are found": (lambda: ModelTable(activation="SwiGLU", by="year", falling=True),
                              look_for_rope),
    "no model that is found": (lambda: ModelTable(position="RoPE", norm="blank"), look_for_nothing),
    "models by year": (lambda: ModelTable(view="position", ours=True, one="PaLM"), None),
    "blanks by year": (lambda: ModelTable(view="norm", words="sources"), None),
}  # fmt: skip
