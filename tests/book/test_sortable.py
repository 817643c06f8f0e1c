"""The table of the errata: a press on a column's name sorts it, by keyboard and from disk too."""

import pytest

from browser import opened

ORDER = "() => [...document.querySelectorAll('table.sortable tbody tr')].map((r) => r.innerText)"


@pytest.mark.parametrize("address", ["http", "disk"], indirect=True)
def test_a_column_sorts_the_table(chromium, address):
    with opened(chromium, f"{address}/chapters/appendix/errata.html") as page:
        as_written = page.evaluate(ORDER)
        heading = page.locator("table.sortable th", has_text="source")
        button = heading.get_by_role("button")
        assert page.locator("table.sortable th[aria-sort]").count() == 1

        button.focus()
        page.keyboard.press("Enter")
        assert heading.get_attribute("aria-sort") == "ascending"
        rising = page.evaluate(ORDER)
        assert sorted(rising) == sorted(as_written)
        assert [row.split("\t")[1] for row in rising] == sorted(
            row.split("\t")[1] for row in as_written
        )

        button.click()
        assert heading.get_attribute("aria-sort") == "descending"
        assert page.evaluate(ORDER)[0].split("\t")[1] == rising[-1].split("\t")[1]
        assert page.locator("table.sortable th[aria-sort]").count() == 1
