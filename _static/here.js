/* "You are here": a press opens the whole model alive over the page, at the chapter's own part and with its
   text. Until then nothing of it is loaded: its scripts and weights are asked for by that press. */
"use strict";

(() => {
  const WORDS = {
    close: "Close", waits: "The model is on its way …",
    sorry: "The model could not be brought to life here.",
    front: "On the front page it stands as well.",
  };
  const ROOT = new URL("./", document.currentScript.src); // of _static
  const asked = new Map();

  /** A classic script of the site, asked for once: it works from disk too. */
  function load(name) {
    if (!asked.has(name)) {
      asked.set(name, new Promise((done, fail) => {
        const script = document.createElement("script");
        script.src = new URL(`pieces/${name}.js`, ROOT).href;
        script.onload = done;
        script.onerror = () => {
          asked.delete(name);
          fail(new Error(`${name} did not come`));
        };
        document.head.append(script);
      }));
    }
    return asked.get(name);
  }

  function made(tag, className, ...children) {
    const node = document.createElement(tag);
    node.className = className;
    node.append(...children);
    return node;
  }

  /** What the page's own widgets have brought is not asked for again. */
  const missing = (name) => (["host", "links"].includes(name)
    ? !(name === "host" ? window.pieces : window.piecesLinks) : !(name in (window.piecesModules ?? {})));

  /** The place of the living model, as a page would hold it. */
  function placeOf(link, { module, rows, state }) {
    const place = made("div", "pieces-live");
    const [widget] = module.split("/");
    Object.assign(place.dataset, { widget, module, model: `here-${link.dataset.model}` });
    place.style.setProperty("--rows", rows);
    const own = { ...state, part: link.dataset.part, text: link.dataset.text };
    const data = document.createElement("script");
    data.type = "application/json";
    data.textContent = JSON.stringify({ state: own, buffers: [] });
    place.append(data, made("div", "pieces-wait", made("p", "", WORDS.waits)));
    return place;
  }

  async function fill(dialog, body, link) {
    const { model } = link.dataset;
    try {
      await load(`here/${model}`);
      const here = window.piecesHere[model];
      await Promise.all(here.modules.filter(missing).map(load));
      if (!dialog.open) return;
      body.replaceChildren(placeOf(link, here));
      window.pieces.arrived();
      body.addEventListener("pieces-live", () => dialog.focus({ preventScroll: true }), { once: true });
    } catch {
      const front = made("a", "", WORDS.front);
      front.href = link.href;
      body.replaceChildren(made("p", "", `${WORDS.sorry} `, front));
    }
  }

  function open(link) {
    const title = made("h2", "", link.querySelector(".here-words").textContent);
    const close = made("button", "here-close", "×");
    const body = made("div", "here-body", made("p", "", WORDS.waits));
    const dialog = made("dialog", "here-dialog", made("div", "here-head", title, close), body);
    title.id = "here-title";
    close.type = "button";
    close.setAttribute("aria-label", WORDS.close);
    dialog.setAttribute("aria-labelledby", title.id);
    dialog.tabIndex = -1;
    close.onclick = () => dialog.close();
    dialog.onclick = (event) => { if (event.target === dialog) dialog.close(); }; // beside it
    // The theme takes this key for its search, and with it what the browser would do.
    dialog.onkeydown = (event) => {
      if (event.key !== "Escape" || event.defaultPrevented) return;
      event.preventDefault();
      dialog.close();
    };
    dialog.onclose = () => {
      body.querySelector(".pieces-live")?.cleanUp?.();
      dialog.remove();
      link.focus({ preventScroll: true });
    };
    (document.querySelector("article.bd-article") ?? document.body).append(dialog);
    dialog.showModal();
    fill(dialog, body, link);
  }

  addEventListener("click", (event) => {
    const link = event.target instanceof Element && event.target.closest("a.here");
    if (!link || event.button || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    open(link);
  });
})();
