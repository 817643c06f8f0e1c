"""axe-core on a page: what keeps a person with a screen reader or weak eyes out."""

from pathlib import Path

import axe_playwright_python

SOURCE = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text(encoding="utf-8")
RUN = """async (within) => {
  const place = (node) => node.target.join(" ") + " " + node.failureSummary.split("\\n")[1];
  const { violations } = await axe.run(within ?? document, { resultTypes: ["violations"] });
  return violations.map((v) => `${v.id} (${v.impact}): ${v.help}: `
    + v.nodes.slice(0, 4).map(place).join(" | "));
}"""


def violations(page, within: str | None = None) -> list[str]:
    """Return every violation axe-core finds, in words: on the page, or in what a selector names."""
    if not page.evaluate("() => 'axe' in window"):
        page.evaluate(f"() => {{ {SOURCE} }}")
    return page.evaluate(RUN, within)
