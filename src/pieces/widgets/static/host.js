/**
 * Brings the book's widgets alive on a static page, with no kernel and no server.
 *
 * A classic script, because browsers refuse module scripts from a file system.
 * Every module of the widgets comes as a classic script too, that leaves its source in piecesModules.
 * All load while the page is parsed, in any order; a place is drawn as soon as it and its modules are there.
 * A widget stands in the page as
 *   <div class="pieces-live" data-model="id"><script type="application/json">state</script>…</div>
 * and is drawn by the same render({ model, el }) that a notebook calls.
 */
(() => {
  "use strict";
  const sources = (window.piecesModules ??= {});
  const urls = new Map();
  const models = new Map();
  const DEPENDENCY = /(\bfrom\s+)"\.\/(\w+)\.js"/g;

  /** The address of a module, its imports included; each is made once. */
  function address(name) {
    if (!urls.has(name)) {
      if (!(name in sources)) throw new Error(`The module ${name} is not on this page.`);
      const text = sources[name].replace(DEPENDENCY, (_, head, other) => `${head}"${address(other)}"`);
      urls.set(name, URL.createObjectURL(new Blob([text], { type: "text/javascript" })));
    }
    return urls.get(name);
  }

  /** Whether a module and all that it imports have arrived. */
  const arrived = (name) => name in sources
    && [...sources[name].matchAll(DEPENDENCY)].every(([, , other]) => arrived(other));

  /** Put binary traits back: a list of { path, data (base64) } into the state. */
  function restore(state, buffers) {
    for (const { path, data } of buffers) {
      const bytes = Uint8Array.from(atob(data), (c) => c.charCodeAt(0));
      const last = path[path.length - 1];
      path.slice(0, -1).reduce((place, key) => place[key], state)[last] = new DataView(bytes.buffer);
    }
    return state;
  }

  /** What a widget sees of its traits: the model of the anywidget front-end module. */
  function createModel(state) {
    const listeners = new Map();
    const fire = (event, ...args) => [...(listeners.get(event) ?? [])].forEach((f) => f(...args));
    const model = {
      get: (name) => state[name],
      set(name, value) {
        const values = typeof name === "object" ? name : { [name]: value };
        let changed = false;
        for (const [key, next] of Object.entries(values)) {
          if (Object.is(state[key], next)) continue;
          state[key] = next;
          changed = true;
          fire(`change:${key}`, model, next);
        }
        if (changed) fire("change", model);
      },
      save_changes() {},
      on(event, callback) {
        for (const one of event.split(" ")) {
          if (!listeners.has(one)) listeners.set(one, new Set());
          listeners.get(one).add(callback);
        }
      },
      off(event, callback) {
        if (event === undefined || event === null) return listeners.clear();
        for (const one of event.split(" ")) {
          if (callback) listeners.get(one)?.delete(callback);
          else listeners.delete(one);
        }
      },
      send() {},
    };
    return model;
  }

  /** The model of one place in the page; two views of a widget share theirs. */
  function modelOf(place) {
    const id = place.dataset.model;
    if (!models.has(id)) {
      const script = place.querySelector('script[type="application/json"]');
      if (!script) throw new Error("The page holds no state for this widget.");
      const { state, buffers } = JSON.parse(script.textContent);
      models.set(id, createModel(restore(state, buffers ?? [])));
    }
    return models.get(id);
  }

  /** Say what happened, where the picture would have been. */
  function apologise(place, error) {
    const note = document.createElement("p");
    note.className = "pieces-sorry";
    note.textContent = "This picture could not be brought to life here. The text stands without it; "
      + "the downloaded notebook has it too.";
    place.querySelector(".pieces-stage")?.remove();
    place.append(note);
    mark(place, "failed", error);
  }

  /** How a place stands, for tests and for the style sheet. */
  function mark(place, state, error) {
    place.dataset.state = state;
    if (error === undefined) delete place.dataset.error;
    else place.dataset.error = String(error?.message ?? error);
  }

  /** From now on a place is as high as its widget. While a control moves it only grows, so that the page
   *  below stays where it is; what is left over goes when the control has come to rest. */
  function hold(place, stage) {
    let high = 0;
    let rest = 0;
    const fit = () => { place.style.minHeight = `${(high = stage.offsetHeight)}px`; };
    new ResizeObserver(() => {
      clearTimeout(rest);
      if (stage.offsetHeight >= high) fit();
      else rest = setTimeout(fit, 400);
    }).observe(stage);
    stage.addEventListener("toggle", fit, true);
    fit();
    place.dataset.settled = "";
  }

  async function enliven(place) {
    if (place.dataset.state) return;
    place.dataset.state = "loading";
    try {
      const model = modelOf(place);
      const { default: widget } = await import(address(place.dataset.widget));
      const stage = document.createElement("div");
      stage.className = "pieces-stage";
      place.append(stage);
      stage.addEventListener("pieces-failed",
        (event) => mark(place, "stale", /** @type {CustomEvent} */ (event).detail));
      stage.addEventListener("pieces-recovered", () => mark(place, "live"));
      const drawn = await (typeof widget === "function" ? await widget()
        : widget).render({ model, el: stage });
      place.dataset.state = "live";
      place.querySelector(".pieces-wait")?.remove(); // its words and its still have been replaced
      place.cleanUp = drawn;
      // Its canvases have their heights a frame from now; until then the space kept for it must stand.
      requestAnimationFrame(() => requestAnimationFrame(() => hold(place, stage)));
      if (!window.pieces.firstLive) window.pieces.firstLive = performance.now();
    } catch (error) {
      apologise(place, error);
      console.error(error);
    }
  }

  /** Draw every place that can be; after the last script has had its chance, every place. */
  function look(late = false) {
    for (const place of /** @type {HTMLCollectionOf<HTMLElement>} */ (
      document.getElementsByClassName("pieces-live"))) {
      if (place.dataset.state || !place.dataset.widget) continue;
      const parsed = place.querySelector(".pieces-wait") !== null;
      if (late || (parsed && arrived(place.dataset.widget))) enliven(place);
    }
  }

  window.pieces = {
    /** Where the trained models' files lie. */
    models: new URL("models/", /** @type {HTMLScriptElement} */ (document.currentScript)?.src
      || document.baseURI).href,
    /** Called by each module's file when its source is there. */
    arrived: () => look(),
    /** The live model of a widget, for tests and for the curious. */
    model: (id) => models.get(id),
  };
  if (document.readyState === "complete") {
    look(true);
  } else {
    const parsing = new MutationObserver(() => look());
    parsing.observe(document, { childList: true, subtree: true });
    window.addEventListener("load", () => {
      parsing.disconnect();
      look(true);
    });
    look();
  }
})();
