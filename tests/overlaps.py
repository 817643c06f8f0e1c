"""Texts of widgets that lie on one another, as a style sheet of Jupyter's can lay them."""

# Of each widget: pairs of texts of which a line lies on a line of the other.
# A drawing's own labels, formulas, and what is laid over something on purpose are not looked at.
OVERLAPS = """() => {
  const aside = "svg, canvas, .katex, [hidden], details:not([open]) > :not(summary)";
  const laid = (node, root) => {
    for (let one = node; one && one !== root; one = one.parentElement) {
      if (["absolute", "fixed", "sticky"].includes(getComputedStyle(one).position)) return true;
    }
    return false;
  };
  const lines = (text) => {
    const range = document.createRange();
    range.selectNodeContents(text);
    const boxes = [];
    for (let one = text.parentElement; one; one = one.parentElement) {
      if (getComputedStyle(one).overflow !== "visible") boxes.push(one.getBoundingClientRect());
    }
    // what is scrolled out of its box is not seen
    const seen = ({ top, bottom, left, right }) => boxes.every((box) => bottom > box.top + 2
      && top < box.bottom - 2 && right > box.left && left < box.right);
    return [...range.getClientRects()].filter((at) => at.width > 1 && at.height > 1 && seen(at));
  };
  const on = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 2
    && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 0.4 * Math.min(a.height, b.height);
  const both = (some, others) => some.some((a) => others.some((b) => on(a, b)));
  return [...document.querySelectorAll("div.pieces[role=group]")].flatMap((root) => {
    const walk = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    const texts = [];
    while (walk.nextNode()) {
      const { parentElement: parent, data } = walk.currentNode;
      const seen = !parent.closest(aside) && parent.checkVisibility() && !laid(parent, root);
      if (!data.trim() || !seen) continue;
      texts.push([data.trim().slice(0, 40), lines(walk.currentNode)]);
    }
    return texts.flatMap(([text, at], n) => texts.slice(n + 1)
      .filter(([, other]) => both(at, other))
      .map(([other]) => `${root.className}: ${text} | ${other}`));
  });
}"""

# What JupyterLab 4 and Notebook 7 say of lists in an output: @jupyterlab/outputarea, base.css.
JUPYTER = """.jp-OutputArea-output :is(dl, dt, dd) { display: block; }
.jp-OutputArea-output dl { width: 100%; overflow: hidden; padding: 0; margin: 0; }
.jp-OutputArea-output dt { font-weight: bold; float: left; width: 20%; padding: 0; margin: 0; }
.jp-OutputArea-output dd { float: left; width: 80%; padding: 0; margin: 0; }"""
