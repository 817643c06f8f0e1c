"""The number that stands for a canvas: one point that is a shade off makes it another."""

from browser import POINTS, fresh

# Canvases of one size, each but the first with one point one shade off; then one that is empty,
# and one of the other size that has as many points.
NUMBERS = f"""() => {{
  const read = {POINTS};
  const drawn = (width, height, at) => {{
    const canvas = Object.assign(document.createElement("canvas"), {{ width, height }});
    const brush = canvas.getContext("2d");
    brush.fillStyle = "rgb(200, 100, 50)";
    if (at !== undefined) brush.fillRect(0, 0, width, height / 2);
    brush.fillStyle = "rgb(200, 101, 50)";
    if (at) brush.fillRect(...at, 1, 1);
    return read(canvas);
  }};
  const places = [[0, 0], [1, 0], [250, 75], [499, 149]];
  return [drawn(500, 300, null), ...places.map((at) => drawn(500, 300, at)),
    drawn(500, 300), drawn(300, 500)];
}}"""


def test_one_point_makes_another_number(chromium):
    page = fresh(chromium)
    numbers, again = page.evaluate(NUMBERS), page.evaluate(NUMBERS)
    page.context.close()
    assert len(set(numbers)) == len(numbers) == 7
    assert again == numbers
