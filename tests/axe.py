"""axe-core on a page: what keeps a person with a screen reader or weak eyes out."""

from pathlib import Path

import axe_playwright_python

SOURCE = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text(encoding="utf-8")
# What a theme can change: three quarters of the time that all rules take.
OF_COLOUR = ["color-contrast", "link-in-text-block"]
RUN = """async ([within, only, without]) => {
  const place = (node) => node.target.join(" ") + " " + node.failureSummary.split("\\n")[1];
  const rules = Object.fromEntries(without.map((rule) => [rule, { enabled: false }]));
  const { violations } = await axe.run(within ?? document,
    { resultTypes: ["violations"], rules, ...(only.length ? { runOnly: only } : {}) });
  return violations.map((v) => `${v.id} (${v.impact}): ${v.help}: `
    + v.nodes.slice(0, 4).map(place).join(" | "));
}"""


def violations(page, within: str | None = None, *, only=(), without=()) -> list[str]:
    """Return every violation axe-core finds, in words: on the page, or in what a selector names.

    `only` these rules are asked, or all but those `without`.
    """
    if not page.evaluate("() => 'axe' in window"):
        page.evaluate(f"() => {{ {SOURCE} }}")
    return page.evaluate(RUN, [within, list(only), list(without)])
