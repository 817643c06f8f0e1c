"""The bytes of a model's file, from the site's script to the page."""

import numpy
import pytest
from twins import bundle

import bulk_weights

GIVEN = {
    "int8": numpy.random.default_rng(0).normal(0, 20, 9999).astype("<i1").tobytes(),
    "fp16": numpy.random.default_rng(1).normal(0, 1, 4999).astype("<f2").tobytes() + b"!",
    "nothing": b"",
}
ASKED = """async ([source, models, file]) => {
  window.pieces = { models };
  const address = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
  const { weightsOf } = await import(address);
  const get = (name) => ({ weights_file: file })[name];
  return [...await weightsOf({ get })].join(); }"""


@pytest.mark.parametrize("name", GIVEN)
def test_what_the_site_packs_the_page_unpacks(chromium, tmp_path, name):
    bulk_weights.write_weights(tmp_path, name, GIVEN[name])
    models = tmp_path / "_static" / "pieces" / "models"
    (tmp_path / "page.html").write_text("<!doctype html>")
    page = chromium.new_page()
    page.goto((tmp_path / "page.html").as_uri())
    read = page.evaluate(ASKED, [bundle("twin/weights"), f"{models.as_uri()}/", name])
    page.close()
    assert read == ",".join(map(str, GIVEN[name]))
