"""What a reader's hands do with a text: a word becomes another of the same length by one key."""

from browser import PAINTED

# As a mouse does: the one letter that has so many others behind it.
SELECT = """(field, behind) => field.setSelectionRange(
  field.value.length - behind - 1, field.value.length - behind)"""


def field_of(page):
    """Return the field for text; it may stand in a fold."""
    page.evaluate("document.querySelectorAll('.p-details').forEach((one) => { one.open = true; })")
    return page.locator("textarea.p-typed")


def type_letter(letter: str, before_end: int):
    """Return hands that type a letter over the one that stands so many places before the end.

    The text is as long as it was, in letters and in words, and another: what is kept by its length
    is stale then.
    """

    def hands(page):
        field = field_of(page)
        field.focus()
        field.evaluate(SELECT, before_end)
        field.press_sequentially(letter)
        page.evaluate(PAINTED)

    return hands
