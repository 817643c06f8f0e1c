"""WholeModel: pictures that its oracle must take, on which faults are tried."""

from hands import type_letter

from pieces.widgets import WholeModel


def say(page):
    """Let the model say a word, and its column rise to the end."""
    page.get_by_role("button", name="Say the next word").click()
    page.locator(".p-player input").press("End")


def cell(name, *keys):
    """Go to a cell of one of the opened head's maps, by the keys."""

    def go(page):
        board = page.locator(f".w-map-{name} .p-board")
        for key in ("Home", *keys):
            board.press(key)

    return go


def tried(page):
    """Wait until it is known what is lost without each part."""
    page.wait_for_function(
        "[...document.querySelectorAll('.w-part small')].some((one) => one.textContent)"
    )


SHORT = "Lily had a red ball . She took the"
BRIEF = {"text": "Lily had a"}
TYPED = "One sunny day, Lily found a red ball. She"  # "bell" is a word as well
# What may be told as a power of ten, by where it stands: products; a weight among them has its role.
NO_CHANCE = r"The parts|logit|w-products"
# A widget, and what a reader does with it.
PICTURES = {
    "whole": (lambda: WholeModel(), None),
    "whole, short": (lambda: WholeModel(text=SHORT), None),
    "whole, pulled": (lambda: WholeModel(off=["layer.2.head.4"], target="red"), None),
    "whole head": (lambda: WholeModel(part="layer.2.head.4"), None),
    "whole units": (lambda: WholeModel(part="layer.3.feed_forward"), None),
    "whole experts": (lambda: WholeModel(model_name="stories_moe", word=9), None),
    "whole expert": (lambda: WholeModel(model_name="stories_moe", part="layer.1.expert.2"), None),
    "whole router": (
        lambda: WholeModel(model_name="stories_moe", part="layer.2.feed_forward"),
        None,
    ),
    "whole query": (
        lambda: WholeModel(text=SHORT, part="layer.2.head.4"),
        cell("queries", "ArrowDown", "ArrowDown", "ArrowRight"),
    ),
    "whole query, turned": (
        lambda: WholeModel(text=SHORT, part="layer.2.head.4"),
        cell("queries", "ArrowDown", "ArrowDown", "ArrowDown", "End"),
    ),
    "whole key": (
        lambda: WholeModel(text=SHORT, part="layer.2.head.4", off=["layer.2.head.4"]),
        cell("keys", *["ArrowDown"] * 3, "ArrowRight", "ArrowRight"),
    ),
    "whole output": (
        lambda: WholeModel(text=SHORT, part="layer.2.head.4"),
        cell("outputs", *["ArrowDown"] * 7),
    ),
    "whole votes": (lambda: WholeModel(part="next word", off=["layer.2.head.4"]), None),
    "whole stream": (lambda: WholeModel(text=SHORT, part="layer.2.feed_forward.norm"), None),
    "whole, played": (lambda: WholeModel(text=SHORT, step=5), None),
    "whole, played on": (lambda: WholeModel(model_name="stories_moe", word=9, step=6), None),
    "whole, played without": (
        lambda: WholeModel(text=SHORT, step=5, off=["layer.2.attention"]),
        None,
    ),
    "whole skip, out": (
        lambda: WholeModel(
            text=SHORT, part="layer.2.attention.path", off=["layer.2.attention.path"]
        ),
        None,
    ),
    "whole losses": (lambda: WholeModel(text=SHORT, bars="cost"), tried),
    "whole, said": (lambda: WholeModel(text="This is the story of Lily. She had"), say),
    "another letter": (lambda: WholeModel(text=TYPED), type_letter("e", 7)),
}
