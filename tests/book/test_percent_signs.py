"""A percent sign stays with its number."""

from docutils import nodes

import percent_signs


def test_a_percent_sign_stays_with_its_number():
    told = nodes.paragraph("", "", nodes.Text("From 33.6 to 39.4 % of it, 5 %, and a % alone; "))
    told += [nodes.strong("", "35 % of 64"), nodes.literal("", "f'{x} 7 %'")]
    code = nodes.literal_block("", "print(100 % 7, 3 % 2)")
    percent_signs.keep(None, nodes.section("", told, code), "page")
    assert told.astext() == (
        "From 33.6 to 39.4\u00a0% of it, 5\u00a0%, and a % alone; 35\u00a0% of 64f'{x} 7 %'"
    )
    assert code.astext() == "print(100 % 7, 3 % 2)"
