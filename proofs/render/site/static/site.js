// Nothing here is needed to read: a theme that is remembered, copy buttons, the search, the traced graph, what is folded on paper.
(() => {
  "use strict";
  const root = document.documentElement;
  const stored = (value) => {
    try {
      if (value === undefined) return localStorage.getItem("theme");
      localStorage.setItem("theme", value);
    } catch { /* a browser may keep nothing for files */ }
    return null;
  };
  const theme = stored();
  if (theme === "light" || theme === "dark") root.dataset.theme = theme;

  const shown = () => root.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");

  const startTheme = () => {
    const button = document.querySelector(".theme");
    button.hidden = false;
    const tell = () => button.setAttribute("aria-pressed", String(shown() === "dark"));
    button.addEventListener("click", () => {
      root.dataset.theme = shown() === "dark" ? "light" : "dark";
      stored(root.dataset.theme);
      tell();
    });
    tell();
  };

  let timer;
  const tell = (text) => {
    const place = document.querySelector(".told");
    place.textContent = text;
    place.classList.add("shown");
    clearTimeout(timer);
    timer = setTimeout(() => place.classList.remove("shown"), 1600);
  };

  const copied = async (text) => {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      const area = document.createElement("textarea");
      area.value = text;
      area.className = "hidden";
      document.body.append(area);
      area.select();
      const done = document.execCommand("copy");
      area.remove();
      return done;
    }
  };

  const startCopying = () => {
    const { copy, copied: done, copyFailed } = document.body.dataset;
    const hovers = matchMedia("(hover: hover)").matches;
    for (const math of document.querySelectorAll(".formula > math")) {
      const button = document.createElement("button");
      button.type = "button";
      button.className = "copy";
      button.title = copy;
      button.innerHTML = '<svg viewBox="0 0 16 16" aria-hidden="true"><rect x="5" y="5" width="8.5" height="8.5" rx="1.5"/><path d="M3 10.5V3.5A1 1 0 0 1 3.5 3H10.5"/></svg>';
      const step = math.closest(".step");
      button.setAttribute("aria-label", step ? `${copy}: ${step.querySelector(".number").getAttribute("aria-label")}` : copy);
      button.addEventListener("click", async () => tell((await copied(math.dataset.latex)) ? done : copyFailed));
      (step ? step.querySelector(".reason") : math.closest(hovers ? ".display" : ".formula")).append(button);
    }
  };

  const startSearch = () => {
    const data = document.querySelector("#site-index");
    if (!data) return;
    const rows = JSON.parse(data.textContent).map((row) => [...row, row.slice(0, 4).join(" ").toLowerCase().replaceAll("_", " ")]);
    const form = document.querySelector(".search");
    const input = form.querySelector("input");
    const results = document.querySelector(".results");
    const chapters = document.querySelector(".chapters");
    const rank = (row, words) => {
      const own = row[0].slice(row[0].indexOf(".") + 1).toLowerCase().replaceAll("_", " ");
      return own === words.join(" ") ? 0 : words.every((w) => own.includes(w)) ? 1 : words.every((w) => row[0].includes(w)) ? 2 : 3;
    };
    const look = () => {
      const words = input.value.toLowerCase().replaceAll("_", " ").split(/[\s.]+/).filter(Boolean);
      const found = words.length ? rows.filter((row) => words.every((w) => row[5].includes(w))) : [];
      found.sort((a, b) => rank(a, words) - rank(b, words));
      results.hidden = !words.length;
      chapters.hidden = found.length > 0;
      results.querySelector(".found").textContent = found.length ? results.dataset.found.replace("#", found.length) : results.dataset.none;
      results.querySelector("ol").replaceChildren(...found.map(([name, says, family, , href]) => {
        const item = document.createElement("li");
        const link = Object.assign(document.createElement("a"), { href, textContent: says });
        const from = Object.assign(document.createElement("span"), { className: "from", textContent: `${family} · ${name}` });
        item.append(link, from);
        return item;
      }));
      history.replaceState(null, "", words.length ? `#q=${encodeURIComponent(input.value)}` : location.pathname);
    };
    form.hidden = false;
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      results.querySelector("a")?.focus();
    });
    input.addEventListener("input", look);
    if (location.hash.startsWith("#q=")) {
      input.value = decodeURIComponent(location.hash.slice(3));
      look();
    }
    document.addEventListener("keydown", (event) => {
      if (event.key === "/" && !/^(INPUT|TEXTAREA)$/.test(document.activeElement.tagName)) {
        event.preventDefault();
        input.focus();
      }
    });
  };

  const startGraph = () => {
    const svg = document.querySelector("svg.graph");
    if (!svg) return;
    const edges = [...svg.querySelectorAll("path[data-from]")];
    const reached = (start, from, to) => {
      const nodes = new Set([start]);
      const ways = new Set();
      for (const node of nodes) for (const edge of edges) if (edge.dataset[from] === node) { nodes.add(edge.dataset[to]); ways.add(edge); }
      return [nodes, ways];
    };
    const trace = (node) => {
      svg.classList.toggle("traced", Boolean(node));
      for (const lit of svg.querySelectorAll(".lit")) lit.classList.remove("lit");
      if (!node) return;
      for (const [from, to] of [["from", "to"], ["to", "from"]]) {
        const [nodes, ways] = reached(node, from, to);
        for (const name of nodes) svg.querySelector(`[data-node="${name}"]`).classList.add("lit");
        for (const way of ways) way.classList.add("lit");
      }
    };
    for (const link of svg.querySelectorAll("a")) {
      for (const event of ["pointerenter", "focus"]) link.addEventListener(event, () => trace(link.dataset.node));
      for (const event of ["pointerleave", "blur"]) link.addEventListener(event, () => trace(null));
    }
  };

  const startLanguages = () => {
    const links = document.querySelectorAll(".language");
    const follow = () => { for (const link of links) link.hash = location.hash; };
    addEventListener("hashchange", follow);
    follow();
  };

  const unfold = () => {
    const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    for (let at = target; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
    if (target) target.scrollIntoView();
  };

  const startPaper = () => {
    let opened = [];
    addEventListener("beforeprint", () => {
      opened = [...document.querySelectorAll("details:not([open])")];
      for (const one of opened) one.open = true;
    });
    addEventListener("afterprint", () => { for (const one of opened) one.open = false; });
  };

  addEventListener("DOMContentLoaded", () => {
    const narrow = matchMedia("(max-width: 72rem)").matches;
    if (narrow) document.querySelector(".contents details")?.removeAttribute("open");
    startTheme();
    startCopying();
    startSearch();
    startGraph();
    startLanguages();
    startPaper();
    unfold();
    addEventListener("hashchange", unfold);
  });
})();
