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
# Marks the first texts of each kind: all that their colours are judged by is the same, but for
# what may lie over one of them alone.
MARK = """([mark, most]) => {
  const [kinds, grounds] = [new Map(), new Map()];
  // What an element stands on: the colours behind it, up to one that nothing shines through.
  const ground = (node) => {
    if (!node) return "";
    if (grounds.has(node)) return grounds.get(node);
    const { backgroundColor, backgroundImage, opacity } = getComputedStyle(node);
    const own = [backgroundColor, backgroundImage, opacity].join();
    const whole = /^rgb\\(/.test(backgroundColor) && backgroundImage === "none" && opacity === "1";
    grounds.set(node, whole ? own : `${own} on ${ground(node.parentElement)}`);
    return grounds.get(node);
  };
  const speaks = (node) => node.matches("input, select, textarea")
    || [...node.childNodes].some((one) => one.nodeType === 3 && one.data.trim());
  for (const node of document.body.querySelectorAll("*")) {
    node.removeAttribute(mark);
    if (!speaks(node) || !node.checkVisibility({ visibilityProperty: true })) continue;
    const { color, fill, fontSize, fontWeight, textDecoration: line } = getComputedStyle(node);
    const around = node.matches("a") ? getComputedStyle(node.parentElement).color : "";
    const own = [node.localName, color, fill, fontSize, fontWeight, line];
    const kind = [...own, around, ground(node)].join();
    kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
    if (kinds.get(kind) <= most) node.setAttribute(mark, "");
  }
}"""
MARKED, MOST = "data-kind", 2


def violations(page, within: str | None = None, *, only=(), without=()) -> list[str]:
    """Return every violation axe-core finds, in words: on the page, or in what a selector names.

    `only` these rules are asked, or all but those `without`.
    """
    if not page.evaluate("() => 'axe' in window"):
        page.evaluate(f"() => {{ {SOURCE} }}")
    return page.evaluate(RUN, [within, list(only), list(without)])


def of_colour(page) -> list[str]:
    """Return the violations of the rules of colour among the first texts of each kind.

    Asked of each word on a page of code, these rules take a quarter of a minute.
    """
    page.evaluate(MARK, [MARKED, MOST])
    return violations(page, f"[{MARKED}]", only=OF_COLOUR)
