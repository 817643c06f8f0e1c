/**
 * Brings the book's widgets alive on a static page, with no kernel and no server.
 *
 * A classic script, because browsers refuse module scripts from a file system.
 * Every module of the widgets comes as a classic script too (_ext/classic_modules.py), which leaves in
 * piecesModules what it needs and the text of a function that makes it.
 * All load while the page is parsed, in any order; a place is drawn as soon as it and its modules are there.
 * A widget stands in the page as
 *   <div class="pieces-live" data-widget="name" data-module="name/name" data-model="id">
 *     <script type="application/json">state</script>…</div>
 * and is drawn by the same render({ model, el }) that a notebook calls.
 */
(() => {
  "use strict";
  const modules = (window.piecesModules ??= {});
  const made = new Map();
  const SLICE = 8; // ms of making modules between two breaths
  let rested = 0;
  const models = new Map();
  const records = new Map();
  const home = /** @type {HTMLScriptElement} */ (document.currentScript)?.src || document.baseURI;

  /** A module, what it imports included; each is made once. @param {string} name */
  function take(name) {
    if (!made.has(name)) {
      if (!(name in modules)) throw new Error(`The module ${name} is not on this page.`);
      const text = `${modules[name].text}\n//# sourceURL=pieces/${name}.js`; // how an error names it
      made.set(name, (0, eval)(text)(take));
    }
    return made.get(name);
  }

  /** What waits for the page comes first: an input, a picture. */
  const breath = () => new Promise((go) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = go;
    port2.postMessage(null);
  });

  /** Make a module, first those that it imports, for some milliseconds at a time: made in one go, they
   *  would block a page that loads for longer than a reader's hand waits.
   *  @param {string} name */
  async function gently(name, seen = new Set()) {
    if (made.has(name) || seen.has(name)) return;
    seen.add(name);
    for (const one of modules[name]?.needs ?? []) await gently(one, seen);
    if (performance.now() - rested > SLICE) {
      await breath();
      rested = performance.now();
    }
    take(name);
  }

  /** Whether a module and all that it imports have arrived. @param {string} name @returns {boolean} */
  const arrived = (name) => name in modules && modules[name].needs.every(arrived);

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

  /** What is long in a state lies in a file, which several widgets may share.
   *  @param {string|undefined} name @returns {Promise<object>} */
  function recorded(name) {
    if (!name) return Promise.resolve({});
    if (!records.has(name)) {
      records.set(name, new Promise((resolve, reject) => {
        const script = document.createElement("script");
        if (window.piecesRecords?.[name]) return resolve(window.piecesRecords[name]);
        script.src = new URL(`records/${name}.js`, home).href;
        script.onload = script.onerror = () => {
          const record = window.piecesRecords?.[name];
          if (record) resolve(record);
          else reject(new Error(`The record ${name} did not arrive.`));
        };
        document.head.append(script);
        script.remove();
      }));
    }
    return records.get(name);
  }

  /** The model of one place in the page; two views of a widget share theirs. */
  async function modelOf(place) {
    const id = place.dataset.model;
    const long = await recorded(place.dataset.record);
    if (!models.has(id)) {
      const script = place.querySelector('script[type="application/json"]');
      if (!script) throw new Error("The page holds no state for this widget.");
      const { state, buffers } = JSON.parse(script.textContent);
      models.set(id, createModel(restore(Object.assign(state, long), buffers ?? [])));
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
    const tall = () => Math.ceil(stage.getBoundingClientRect().height); // half a pixel moves the page too
    const fit = () => {
      place.style.minHeight = `${(high = tall())}px`;
      place.dispatchEvent(new CustomEvent("pieces-fitted", { bubbles: true }));
    };
    new ResizeObserver(() => {
      clearTimeout(rest);
      if (tall() >= high) fit();
      else rest = setTimeout(fit, 400);
    }).observe(stage);
    stage.addEventListener("toggle", fit, true);
    place.dataset.settled = "";
    fit();
  }

  /** Who came by a link into the page stays where it leads, while the widgets above it take the heights that
   *  they have; until a hand moves the page. (To a widget itself, links.js leads.) */
  function stay() {
    const target = document.querySelector(":target:not(.pieces-live)");
    const [way] = /** @type {PerformanceNavigationTiming[]} */ (performance.getEntriesByType("navigation"));
    if (!target || way?.type !== "navigate") return; // a page loaded again stands where it stood
    const watching = new ResizeObserver(() => target.scrollIntoView({ behavior: "instant" }));
    document.querySelectorAll(".pieces-live").forEach((place) => {
      if (place.compareDocumentPosition(target) & Node.DOCUMENT_POSITION_FOLLOWING) watching.observe(place);
    });
    for (const hand of ["wheel", "touchstart", "pointerdown", "keydown", "hashchange"]) {
      window.addEventListener(hand, () => watching.disconnect(), { once: true, passive: true });
    }
  }

  async function enliven(place) {
    if (place.dataset.state) return;
    place.dataset.state = "loading";
    try {
      const model = await modelOf(place);
      await gently(place.dataset.module);
      const { default: widget } = take(place.dataset.module);
      await breath();
      const stage = document.createElement("div");
      stage.className = "pieces-stage";
      place.append(stage);
      stage.addEventListener("pieces-failed",
        (event) => mark(place, "stale", /** @type {CustomEvent} */ (event).detail));
      stage.addEventListener("pieces-recovered", () => mark(place, "live"));
      const drawn = await (typeof widget === "function" ? await widget()
        : widget).render({ model, el: stage });
      place.dataset.state = "live";
      // What the page itself shows, for links that say what differs from it.
      const names = Object.keys(model.get("_limits") ?? {});
      place.first = Object.fromEntries(names.map((name) => [name, model.get(name)]));
      place.dispatchEvent(new CustomEvent("pieces-live", { bubbles: true }));
      place.querySelector(".pieces-wait")?.remove(); // its words and its still have been replaced
      place.cleanUp = drawn;
      // Its canvases have their heights a frame from now; until then the space kept for it must stand.
      requestAnimationFrame(() => requestAnimationFrame(() => hold(place, stage)));
      if (!window.pieces.firstLive) window.pieces.firstLive = performance.now();
    } catch (error) {
      apologise(place, error);
      console.error(error);
    }
    const others = () => { if (loaded) look(true); };
    if (document.hidden) others(); // no frame comes
    else requestAnimationFrame(() => setTimeout(others)); // what has just been drawn is painted first
  }

  /** Weights are most of a page's bytes. A widget far below the screen asks for its own when it comes near,
   *  or when the page rests: it has loaded, and its first widget is there, which no byte of them delays. */
  let loaded = false;
  const stands = (place) => !place || ["live", "stale", "failed"].includes(place.dataset.state);
  const near = new IntersectionObserver((seen) => {
    for (const { isIntersecting, target } of seen) {
      if (!isIntersecting) continue;
      /** @type {HTMLElement} */ (target).dataset.near = "";
      near.unobserve(target);
      look();
    }
  }, { rootMargin: "100%" });
  function waits(place, first) {
    const { weights, record, near: close } = place.dataset;
    if (place === first || (weights ?? record) === undefined || close !== undefined) return false;
    near.observe(place);
    return true;
  }

  /** Draw every place that can be; after the last script has had its chance, every place. */
  function look(late = false) {
    const first = document.querySelector(".pieces-live[data-module]");
    for (const place of /** @type {HTMLCollectionOf<HTMLElement>} */ (
      document.getElementsByClassName("pieces-live"))) {
      if (place.dataset.state || !place.dataset.module) continue;
      const parsed = place.querySelector(".pieces-wait") !== null;
      const ready = late || (parsed && arrived(place.dataset.module));
      if (ready && ((late && stands(first)) || !waits(place, first))) enliven(place);
    }
  }

  window.pieces = {
    /** Where the trained models' files lie. */
    models: new URL("models/", home).href,
    /** Called by each module's file when its source is there. */
    arrived: () => look(),
    /** The live model of a widget, for tests and for the curious. */
    model: (id) => models.get(id),
  };
  if (document.readyState === "complete") {
    loaded = true;
    stay();
    look(true);
  } else {
    const parsing = new MutationObserver(() => look());
    parsing.observe(document, { childList: true, subtree: true });
    window.addEventListener("load", () => {
      parsing.disconnect();
      look();
      stay();
      (window.requestIdleCallback ?? setTimeout)(() => { loaded = true; look(true); });
    });
    look();
  }
})();
