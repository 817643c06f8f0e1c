"""How weights reach a page: from Python in a notebook, in one file per model on the site."""

import base64
import json
import zlib

import pytest
import torch
from torch import nn
from twins import build, packed, vocabulary

from browser import PAINTED, SETTLED, opened, put, served, state, until
from pieces import trained
from pieces.models import llama
from pieces.tasks import Reverse
from pieces.trained.packing import restore
from pieces.widgets import AttentionHeatmap, MaskExplorer
from pieces.widgets.base import bundled
from pieces.widgets.trained_model import OWN, pack_own
from widgets.attention_heatmap.samples import example as reading

SORRY = "This picture could not be brought to life here."


@pytest.mark.usefixtures("unchecked")
class TestPython:
    @pytest.mark.parametrize("bad", ["stories", "translator", OWN, "", 3, None, "../secret"])
    def test_refuses_an_unknown_model(self, bad):
        with pytest.raises(ValueError, match=r"model_name.*'stories_llama'"):
            AttentionHeatmap(model_name=bad)

    def test_a_widget_of_an_own_model_refuses_other_names_too(self):
        widget = reading()
        assert widget.model_name == OWN
        with pytest.raises(ValueError, match="model_name"):
            widget.model_name = "mine"
        widget.model_name = OWN

    @pytest.mark.parametrize("bad", ["stories_llama", "mine", None, 3])
    def test_a_model_that_is_handed_over_has_no_other_name(self, bad):
        with pytest.raises(ValueError, match=r"model_name.*'own'.*leave it out"):
            reading(model_name=bad)
        assert reading(model_name=OWN).model_name == OWN

    def test_the_weights_are_those_of_the_model(self):
        from safetensors.torch import load

        _, model = build("two-key-heads")
        weights = restore(load(pack_own(model, vocabulary(37))))
        assert weights.keys() == model.state_dict().keys()
        assert all(torch.equal(weights[k], v) for k, v in model.state_dict().items())

    def test_a_task_is_a_vocabulary(self):
        task = Reverse()
        _, model = build("llama", vocab_size=task.vocab_size)
        assert pack_own(model, task) == pack_own(model, task.vocabulary)

    @pytest.mark.parametrize(
        ("words", "said"),
        [
            (["a"], "37 words, one for each id"),
            (vocabulary(38), "37 words"),
            ([*vocabulary(36), 7], "37 words"),
            (["a"] * 37, "name each word once"),
            (None, "list of words"),
        ],
        ids=["short", "long", "number", "twice", "none"],
    )
    def test_refuses_a_vocabulary_that_does_not_fit(self, words, said):
        _, model = build("llama")
        with pytest.raises((TypeError, ValueError), match=said):
            AttentionHeatmap.from_model(model, "a", vocabulary=words)

    def test_refuses_what_it_cannot_show(self):
        for model in (nn.Linear(2, 2), "model", None):
            with pytest.raises((TypeError, ValueError), match="model"):
                AttentionHeatmap.from_model(model, "a", vocabulary=["a"])
        with pytest.raises(ValueError, match="kind of the model = 'encoder_decoder'"):
            AttentionHeatmap.from_model(build("translator")[1], "a", vocabulary=vocabulary(37))
        large = llama.llama(llama.LlamaConfig(20, 512, 4, 4, 1024))
        with pytest.raises(ValueError, match="32,000,000"):
            AttentionHeatmap.from_model(large, "a", vocabulary=vocabulary(20))

    def test_weights_are_no_control(self):
        assert not any("weights" in name or name.startswith("_") for name in reading().controls())
        with pytest.raises(ValueError, match="_weights"):
            AttentionHeatmap(_weights=b"")

    def test_they_travel_as_bytes(self):
        given = reading().get_state()["_weights"]
        assert isinstance(given, memoryview)
        assert bytes(given) == pack_own(build("attention-only")[1], vocabulary(37))

    @pytest.mark.parametrize("name", AttentionHeatmap.models)
    def test_the_books_models_by_name(self, name):
        if not trained.path_of(name).exists():
            pytest.skip(f"{name} is not trained yet")
        widget = AttentionHeatmap(model_name=name)
        assert bytes(widget.get_state()["_weights"]) == trained.path_of(name).read_bytes()


def files(bench):
    """The models' files of the bench's site."""
    return {path.name for path in (bench.folder / "_static/pieces/models").glob("*.js")}


class TestSite:
    def test_the_weights_are_in_a_file_and_not_in_the_page(self, bench):
        widget = reading()
        url = bench.url(widget)
        html = (bench.folder / url.rsplit("/", 1)[1]).read_text(encoding="utf-8")
        text = base64.b64encode(bytes(widget.get_state()["_weights"])).decode()
        assert text[:60] not in html
        assert '"buffers":[]' in html
        name = json.loads(html.split('type="application/json">')[1].split("</script>")[0])
        file = bench.folder / "_static/pieces/models" / f"{name['state']['weights_file']}.js"
        written = json.loads(file.read_text(encoding="utf-8").split("] = ")[1].rstrip(";\n"))
        layers, packed = int(written[0]), base64.b64decode(written[1:])
        weights = bytes(widget.get_state()["_weights"])
        assert zlib.decompress(packed) == b"".join(weights[at::layers] for at in range(layers))

    @pytest.mark.parametrize("name", [None, 1e9, "", "../own", "mine", [], {"a": 1}], ids=str)
    def test_a_damaged_name_names_no_file(self, bench, name):
        def spoil(state):
            state["model_name"] = name

        before = files(bench)
        with bench.show(reading(), change=spoil) as page:
            assert page.locator(".pieces-live").get_attribute("data-state") == "live"
            assert page.record.errors == []
        assert all(file.startswith("own-") for file in files(bench) - before)

    def test_two_widgets_share_a_model_and_another_has_its_own(self, bench):
        first, again, other = reading(), reading(text="Tom"), reading("llama")
        before = files(bench)
        with bench.show(first, again, other) as page:
            asked = [url for url in page.record.requests if "/models/" in url]
            assert len(asked) == len(set(asked)) == 2
            assert page.locator('[data-state="live"]').count() == 3
            assert page.record.errors == []
        assert len(files(bench) - before) <= 2

    @pytest.mark.parametrize("scrolled", [False, True])
    def test_far_below_it_asks_for_its_weights_when_the_page_rests_or_it_comes_near(
        self, bench, scrolled
    ):
        """They are most of a page's bytes, and none of them delays the first widget."""
        near, far = MaskExplorer(), reading()
        url = bench.url(near, far)
        path = bench.folder / url.rsplit("/", 1)[1]
        html = path.read_text(encoding="utf-8")
        gap, at = '<div style="height: 6000px"></div>', html.rindex('<div class="pieces-live"')
        # The page has not loaded as long as its picture is on the way.
        picture = '<img src="http://127.0.0.1:9/never.png" alt="">'
        path.write_text(html[:at] + gap + html[at:] + picture, encoding="utf-8")
        context = bench.chromium.new_context()
        page, held = context.new_page(), []
        asked = []
        page.on("request", lambda one: asked.append(one.url) if "/models/" in one.url else None)
        page.route("**/never.png", lambda route: held.append(route))
        page.goto(url, wait_until="commit")
        page.wait_for_selector('.pieces-live[data-state="live"]')
        page.wait_for_timeout(300)
        assert asked == []
        assert page.locator(".pieces-live").last.get_attribute("data-state") is None
        if scrolled:
            page.evaluate("scrollTo(0, 6000)")
        else:
            held[0].abort()
        page.evaluate(until(SETTLED))
        assert page.locator('[data-state="live"]').count() == 2
        assert len(asked) == 1
        context.close()

    @pytest.mark.parametrize("how", ["disk", "server"])
    def test_alive_from_disk_and_from_a_server_and_offline_after_that(self, bench, how):
        widget = reading()
        url = bench.url(widget)
        with served(bench.folder) as home:
            address = url if how == "disk" else f"{home}/{url.rsplit('/', 1)[1]}"
            with opened(bench.chromium, address) as page:
                assert page.locator('[data-state="live"]').count() == 1
                page.context.set_offline(True)
                asked, before = len(page.record.requests), state(page, widget)["next_words"]
                put(page, widget, text="Tom the blue the blue", off=[[1, 1]])
                after = state(page, widget)["next_words"]
                assert after != before
                assert len(after) == 6
                assert len(page.record.requests) == asked
                assert "models" not in str(page.record.errors), "a server has no favicon"

    def broken(self, bench, widget, spoil):
        """The page of a widget whose model's file is spoilt."""
        url = bench.url(widget)
        html = (bench.folder / url.rsplit("/", 1)[1]).read_text(encoding="utf-8")
        data = json.loads(html.split('type="application/json">')[1].split("</script>")[0])
        name = data["state"]["weights_file"]
        file = bench.folder / "_static/pieces/models" / f"{name}.js"
        return (
            bench.write(html.replace(name, f"{name}x")),
            file.with_name(f"{name}x.js"),
            (spoil(file.read_text(encoding="utf-8").replace(name, f"{name}x"))),
        )

    @pytest.mark.parametrize(
        "spoil",
        [
            lambda text: None,
            lambda text: "",
            lambda text: text.replace('= "', '= "*'),
            lambda text: text[: len(text) // 2] + '";',
            lambda text: text.replace("llama", "x").replace('= "', '= "AAAA'),
            lambda text: "throw 1;",
        ],
        ids=["missing", "empty", "no-base64", "cut", "other", "throws"],
    )
    def test_a_model_that_fails_says_so_and_leaves_the_others_alive(self, bench, spoil):
        address, file, text = self.broken(bench, reading(), spoil)
        if text is not None:
            file.write_text(text, encoding="utf-8")
        with opened(bench.chromium, address) as page:
            box = page.locator(".pieces-live").first
            assert box.get_attribute("data-state") == "failed"
            assert SORRY in box.inner_text()
            assert box.locator("canvas").count() == 0


NOTEBOOK = """async ([esm, values, weights]) => {
  const state = { ...JSON.parse(values) };
  if (weights !== null) {
    state._weights = new DataView(Uint8Array.from(atob(weights), (c) => c.charCodeAt(0)).buffer);
  }
  const model = {
    get: (name) => state[name], save_changes() {}, on() {}, off() {},
    set(name, value) { Object.assign(state, typeof name === "object" ? name : { [name]: value }); },
  };
  const url = URL.createObjectURL(new Blob([esm], { type: "text/javascript" }));
  const { default: widget } = await import(url);
  const el = document.createElement("div");
  document.querySelector("main").append(el);
  let error = null;
  try { await widget.render({ model, el }); } catch (e) { error = e.message; }
  return { text: el.innerText, error, words: state.next_words ?? null };
}"""


class TestNotebook:
    def drawn(self, bench, widget, weights):
        values = {t: getattr(widget, t) for t in type(widget).controls()}
        with bench.show() as page:
            text = None if weights is None else base64.b64encode(weights).decode()
            esm = bundled(type(widget).module)
            got = page.evaluate(NOTEBOOK, [esm, json.dumps(values), text])
            page.evaluate(PAINTED)
            return got

    def test_the_weights_come_from_python(self, bench):
        widget = reading("llama", text="the blue book")
        got = self.drawn(bench, widget, bytes(widget.get_state()["_weights"]))
        assert got["error"] is None
        _, model = build("llama")
        with torch.no_grad():
            expected = model(torch.tensor([[3, 5, 6]]))[0, -1].softmax(-1)
        words = vocabulary(37)
        for word, now, before in got["words"]:
            assert now == before == pytest.approx(float(expected[words.index(word)]), abs=1e-5)

    @pytest.mark.parametrize("weights", [None, b"", b"no file"])
    def test_what_does_not_arrive_is_said(self, bench, weights):
        got = self.drawn(bench, reading(), weights)
        assert got["error"]
        assert SORRY in got["text"]

    def test_a_file_of_an_unknown_kind_is_said(self, bench):
        got = self.drawn(bench, reading(), packed(build("llama")[1], "rnn"))
        assert "kind = rnn" in got["error"]
        assert SORRY in got["text"]
