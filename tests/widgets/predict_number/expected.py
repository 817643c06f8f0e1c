"""What PredictNumber has to show for its traits, by torch and `pieces`, never by the page."""

import re

from oracle import number, right


def predict_number(root, s):
    """The question, and a verdict on what stands in the field."""
    right(root.locator(".p-question").inner_text() == s["question"], "another question")
    verdict, said = root.get_attribute("data-verdict"), root.locator(".p-say").inner_text()
    typed = root.locator("input").input_value()
    if not verdict or s["correct"] is None:
        return
    value = float(typed.replace("−", "-"))
    right(s["typed"] == typed, "Python reads another text")
    is_right = abs(value - s["answer"]) <= s["tolerance"] + 1e-12
    if not is_right and s["correct"]:  # the answer, rounded to the digits that were typed
        decimals = len(typed.partition(".")[2])
        is_right = s["tolerance"] > 0 and value == round(s["answer"], decimals)
    right((verdict == "right") == is_right == s["correct"], f"{typed} is {verdict}")
    found = re.findall(r"(?:Right: |Not |said |it is )(−?[\d.,]*\d)", said)
    told = [number(text.replace(",", "")) for text in found]
    meant = (
        [value] if verdict == "wrong" else [value, s["answer"]] if len(told) == 2 else [s["answer"]]
    )
    right(len(told) == len(meant), said)
    for shown, one in zip(told, meant, strict=True):
        right(abs(shown - one) <= 1e-5 * abs(one), said)
