// What the page can do beyond being read: sort and filter its tables, and show
// the trials of a value in a panel. Everything that it shows without a script
// stays where it is.
"use strict";
(() => {
  const $ = (id) => document.getElementById(id);

  // element makes an element: attributes, then children, texts as texts.
  function element(name, attributes = {}, ...children) {
    const e = document.createElement(name);
    for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, v);
    e.append(...children.filter((c) => c !== null && c !== undefined));
    return e;
  }

  // --- colours ---------------------------------------------------------------
  function theme() {
    const select = $("theme"), root = document.documentElement;
    const apply = (value) => { if (value) root.dataset.theme = value; else delete root.dataset.theme; };
    let kept = "";
    try { kept = localStorage.getItem("privkern-theme") || ""; } catch { /* a page from disk may have no storage */ }
    select.value = kept;
    apply(select.value);
    select.addEventListener("change", () => {
      apply(select.value);
      try { localStorage.setItem("privkern-theme", select.value); } catch { /* as above */ }
    });
  }

  // --- sorting ---------------------------------------------------------------
  // The number at the beginning of a text, or null.
  function number(text) {
    const t = text.replace(/−/g, "-").replace(/(\d),(?=\d{3})/g, "$1").trim();
    if (/^[+]?(inf|∞)/i.test(t)) return Infinity;
    const m = /^[<>≤≥≈~\s]*([-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?)/i.exec(t);
    return m ? Number(m[1]) : null;
  }

  function compare(a, b) {
    const x = number(a), y = number(b);
    if (x !== null && y !== null) return x - y;
    return a.localeCompare(b, "en", { numeric: true });
  }

  function sortable(table) {
    const head = table.tHead.rows[table.tHead.rows.length - 1];
    const body = table.tBodies[0];
    [...body.rows].forEach((row, i) => { row.dataset.order = i; });
    [...head.cells].forEach((th, column) => {
      const button = element("button", { type: "button" });
      button.append(...th.childNodes);
      th.append(button);
      button.addEventListener("click", () => {
        const next = { ascending: "descending", descending: "" }[th.getAttribute("aria-sort")] ?? "ascending";
        for (const other of head.cells) other.removeAttribute("aria-sort");
        table.classList.toggle("sorted", next !== "");
        if (next) th.setAttribute("aria-sort", next);
        const rows = [...body.rows];
        const sign = next === "descending" ? -1 : 1;
        const text = new Map(rows.map((r) => [r, (r.cells[column]?.querySelector(".v") ?? r.cells[column])?.textContent.trim() ?? ""]));
        rows.sort((r, s) => {
          const back = r.dataset.order - s.dataset.order;
          if (!next) return back;
          const a = text.get(r), b = text.get(s);
          const none = (t) => t === "" || t === "–";
          // What is not there comes last, whichever the order.
          if (none(a) || none(b)) return none(a) - none(b) || back;
          return sign * compare(a, b) || back;
        });
        body.append(...rows);
      });
    });
  }

  // --- filtering -------------------------------------------------------------
  const pressed = new Set();

  function filter() {
    const wanted = $("filter").value.trim().toLowerCase();
    const words = wanted.split(/\s+/).filter(Boolean);
    if (words.length) find(words);
    let shown = 0, all = 0;
    for (const table of document.querySelectorAll("table.data")) {
      const judged = table.closest(".results") !== null;
      let here = 0;
      for (const row of table.tBodies[0].rows) {
        const text = row.textContent.toLowerCase();
        const verdicts = judged && pressed.size ? [...row.querySelectorAll(".v")].map((v) => v.textContent) : null;
        const hit = words.every((w) => text.includes(w)) && (!verdicts || verdicts.some((v) => pressed.has(v)));
        row.hidden = !hit;
        here += hit;
        all++;
      }
      shown += here;
      table.classList.toggle("sorted", table.querySelector("[aria-sort]") !== null || here < table.tBodies[0].rows.length);
      let none = table.nextElementSibling;
      if (!none) {
        none = element("p", { class: "small soft none" }, "No row matches the filter.");
        table.after(none);
      }
      none.hidden = here > 0 || !(words.length || (judged && pressed.size));
    }
    $("filtered").textContent = words.length || pressed.size ? `${shown} of ${all} rows` : "";
  }

  function verdicts() {
    const box = document.querySelector(".verdicts");
    const found = new Map();
    for (const v of document.querySelectorAll(".results tbody .v")) found.set(v.textContent, v.className);
    box.replaceChildren();
    for (const v of pressed) if (!found.has(v)) pressed.delete(v);
    if (found.size < 2) return;
    const order = ["match", "wide", "close", "differs", "faster", "slower", "unjudged", "fitted", "stand-in", "corrected", "unpublished", "quoted", "not run"];
    for (const [name, look] of [...found].sort(([a], [b]) => order.indexOf(a) - order.indexOf(b))) {
      const button = element("button", { type: "button", class: look, "aria-pressed": pressed.has(name) }, name);
      button.addEventListener("click", () => {
        if (!pressed.delete(name)) pressed.add(name);
        button.setAttribute("aria-pressed", pressed.has(name));
        filter();
      });
      box.append(button);
    }
  }

  // --- trials ----------------------------------------------------------------
  let block = null; // read when it is first asked for
  const names = ["experiment", "key", "seed", "status", "params", "metrics", "reason", "warnings", "privacy", "source", "wall", "cpu", "memory"];

  function data() {
    if (!block) block = JSON.parse($("trials-data").textContent);
    return block;
  }

  // Parameters that all trials share stand once, with the experiment.
  function trial(i) {
    const t = Object.fromEntries(data().trials[i].map((v, k) => [names[k], v]));
    let own = 0;
    const positions = data().experiments[t.experiment].params.map((p) => p.every ?? t.params[own++]);
    return { ...t, params: positions };
  }

  const record = (t) => element("a", { class: "trial", href: `trials/${t.key}.json` }, element("code", {}, t.key.slice(0, 12)));
  const badge = (text) => element("span", { class: "v v-" + text.replaceAll(" ", "-") }, text);

  // settings are pairs of name and value; others leaves defaults out.
  function settings(t, others) {
    const e = data().experiments[t.experiment];
    return e.params.map((p, k) => ({ p, at: t.params[k] })).filter(({ p, at }) => at >= 0 && !(others && at === p.default));
  }

  function line(t) {
    const d = data(), e = d.experiments[t.experiment];
    const remarks = [t.reason, ...t.warnings].filter((i) => i >= 0).map((i) => d.texts[i]).join("; ");
    const text = settings(t, true).map(({ p, at }) => `${p.name}=${p.values[at]}`).join(" ");
    const cell = (content, look = "") => element("td", look ? { class: look } : {}, content);
    return element("tr", {}, element("th", { scope: "row" }, record(t)), cell(e.name), cell(element("code", {}, text), "sentence"),
      cell(String(t.seed), "right"), cell(badge(t.status)), cell(t.wall.toFixed(3), "right"),
      cell(`machine ${d.sources[t.source].machine + 1}`, "whole"), cell(t.privacy < 0 ? "" : d.privacy[t.privacy].statement), cell(remarks));
  }

  // The table of trials grows from the data: by 300 at a time, or by what a
  // filter finds.
  const step = 300;
  let rest = []; // positions of the trials that are not in the table yet

  function grow(list) {
    const body = $("trial-list").tBodies[0];
    let order = body.rows.length;
    for (const i of list) {
      const row = line(trial(i));
      row.dataset.order = order++;
      body.append(row);
    }
    const added = new Set(list);
    rest = rest.filter((i) => !added.has(i));
    const button = $("more-trials");
    if (button) {
      button.hidden = rest.length === 0;
      button.textContent = `Show ${Math.min(step, rest.length)} more of ${rest.length}`;
    }
  }

  function find(words) {
    if (!rest.length) return;
    const found = [];
    for (const i of rest) {
      const text = line(trial(i)).textContent.toLowerCase();
      if (words.every((w) => text.includes(w)) && found.push(i) === step) break;
    }
    if (found.length) grow(found);
  }

  function more() {
    const note = $("trials-omitted");
    if (!note || !$("trials-data")) return;
    const { trials, listed } = data();
    rest = trials.map((_, i) => i).slice(listed);
    const button = element("button", { type: "button", id: "more-trials" });
    button.addEventListener("click", () => { grow(rest.slice(0, step)); filter(); });
    note.after(button);
    grow([]);
  }

  // --- the panel -------------------------------------------------------------
  const definition = (pairs) => {
    const dl = element("dl");
    for (const [name, ...values] of pairs) dl.append(element("dt", {}, name), element("dd", {}, ...values));
    return dl;
  };

  const scroll = (table, label) => element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label }, table);

  function table(label, head, rows) {
    const t = element("table", {}, element("caption", { class: "unseen" }, label));
    t.append(element("thead", {}, element("tr", {}, ...head.map((h) => element("th", { scope: "col" }, h)))));
    const body = element("tbody");
    for (const [first, ...others] of rows) body.append(element("tr", {}, element("th", { scope: "row" }, first), ...others.map((o) => element("td", {}, o))));
    t.append(body);
    return scroll(t, label);
  }

  const short = (v) => (v === null ? "" : String(v));
  const same = (list) => list.every((x) => x === list[0]);

  function show(content, title, trials, metric, further) {
    const d = data(), body = $("panel-body");
    $("panel-title").textContent = title;
    body.replaceChildren();
    if (content) body.append(content);
    if (further) body.append(element("p", { class: "small soft" }, `The first ${trials.length} trials; ${further} more are in their records only.`));
    for (const at of new Set(trials.map((t) => t.experiment))) {
      const e = d.experiments[at], here = trials.filter((t) => t.experiment === at);
      const varying = e.params.map((_, k) => k).filter((k) => !same(here.map((t) => t.params[k])));
      const m = e.metrics.indexOf(metric);
      body.append(element("h3", {}, `${e.name}: ${here.length} ${here.length === 1 ? "trial" : "trials"}`));
      body.append(table("Trials", ["seed", ...varying.map((k) => e.params[k].name), ...(m < 0 ? [] : [metric]), "outcome", "seconds", "record"],
        here.slice(0, step).map((t) => [String(t.seed), ...varying.map((k) => e.params[k].values[t.params[k]] ?? ""), ...(m < 0 ? [] : [short(t.metrics[m])]),
          badge(t.status), t.wall.toFixed(3), record(t)])));
      if (here.length > step) body.append(element("p", { class: "small soft" }, `and ${here.length - step} more`));
      const remarks = new Map();
      for (const t of here) for (const i of [t.reason, ...t.warnings]) if (i >= 0) remarks.set(i, [...(remarks.get(i) ?? []), t.seed]);
      if (remarks.size) {
        body.append(element("h3", {}, "Warnings and failures"), element("ul", { class: "errata" },
          ...[...remarks].map(([i, seeds]) => element("li", {}, `${d.texts[i]} `, element("span", { class: "soft" }, `(${seeds.length === 1 ? "seed" : "seeds"} ${seeds.join(", ")})`)))));
      }
      body.append(element("h3", {}, "Settings"), table("Settings", ["parameter", "value", "meaning"],
        e.params.map((p, k) => [p, k]).filter(([, k]) => !varying.includes(k) && here[0].params[k] >= 0).map(([p, k]) => {
          const at = here[0].params[k];
          return [element("code", {}, p.name), `${p.values[at]}${p.unit ? " " + p.unit : ""}${at === p.default ? " (default)" : ""}`, p.doc];
        })));
      for (const i of new Set(here.map((t) => t.privacy))) {
        if (i < 0) continue;
        const p = d.privacy[i];
        body.append(element("h3", {}, "Privacy"), definition([["Mechanism", `${p.statement}; ${p.mechanism}`], ["Unit", p.unit], ["Randomness", p.rng],
          ...p.notes.map((n) => ["Not covered", n])]));
      }
      body.append(element("h3", {}, "All metrics"));
      for (const t of here.slice(0, 50)) {
        const box = element("details", here.length === 1 ? { open: "" } : {}, element("summary", {}, `Seed ${t.seed}, ${t.key.slice(0, 12)}`));
        const fill = () => {
          if (box.children.length > 1) return;
          const rows = e.metrics.map((name, k) => [element("code", {}, name), short(t.metrics[k])]).filter(([, v]) => v !== "");
          box.append(rows.length ? table(`Metrics of seed ${t.seed}, ${t.key.slice(0, 12)}`, ["metric", "value"], rows) : element("p", {}, "none"),
            element("p", { class: "small soft" }, `${t.cpu.toFixed(3)} s of processor time, ${Math.round(t.memory / 1048576)} MiB at most` +
              (e.withheld ? `; ${e.withheld} further metrics are in the record` : "")));
        };
        if (here.length === 1) fill();
        box.addEventListener("toggle", fill);
        body.append(box);
      }
      body.append(element("h3", {}, "Provenance"), element("ul", { class: "errata" }, ...[...new Set(here.map((t) => t.source))].map((i) => {
        const s = d.sources[i];
        return element("li", {}, `Machine ${s.machine + 1}: ${d.machines[s.machine]}${s.datasets ? "; data: " + s.datasets : ""}`);
      })));
    }
  }

  let opened = null; // the link whose value the panel shows

  function open(link) {
    const id = link.dataset.cell ?? link.getAttribute("href").slice(1);
    const list = data().cells[id];
    if (!list || !list.length) return false;
    const row = link.closest("tr"), behind = $(id);
    let content = null, metric = "", title = "Trials of a setting";
    if (link.dataset.cell) {
      content = element("p", { class: "big" }, link.closest("details")?.querySelector("summary")?.firstChild.textContent ?? "");
    } else {
      const [place, ours, measure, , mechanism, remarks] = [...behind.cells].map((c) => c.textContent.trim());
      title = place || row.closest("section").getAttribute("aria-label");
      metric = measure;
      content = element("div", { class: "big" }, definition([["Published", behind.dataset.published || "no value"], ["Ours", ours],
        ...(behind.dataset.difference ? [["Difference", behind.dataset.difference]] : []), ["Verdict", badge(behind.dataset.verdict)],
        ["Measure", element("code", {}, measure)], ...(mechanism ? [["Mechanism", mechanism]] : []), ...(remarks ? [["Remarks", remarks]] : [])]));
    }
    show(content, title, list.map(trial), metric, data().more[id] ?? 0);
    opened = link;
    const panel = $("panel");
    if (!panel.open) panel.showModal();
    panel.scrollTop = 0;
    $("panel-title").focus();
    return true;
  }

  function stepTo(by) {
    const links = [...(opened?.closest("table")?.querySelectorAll("a.cell") ?? [])].filter((a) => !a.closest("tr").hidden);
    const next = links[links.indexOf(opened) + by];
    if (next) open(next);
  }

  function panel() {
    const box = $("panel");
    document.addEventListener("click", (event) => {
      const link = event.target.closest?.("a.cell");
      if (!link || event.ctrlKey || event.metaKey || event.shiftKey || !$("trials-data")) return;
      if (open(link)) event.preventDefault();
    });
    box.querySelector("[data-close]").addEventListener("click", () => box.close());
    for (const button of box.querySelectorAll("[data-step]")) button.addEventListener("click", () => stepTo(Number(button.dataset.step)));
    box.addEventListener("keydown", (event) => {
      if (event.target.closest(".scroll") || event.altKey || event.ctrlKey || event.metaKey) return;
      if (event.key === "ArrowLeft") stepTo(-1);
      if (event.key === "ArrowRight") stepTo(1);
    });
    box.addEventListener("click", (event) => { if (event.target === box) box.close(); });
    box.addEventListener("close", () => opened?.focus());
  }

  // A link into a closed part opens it.
  function reveal() {
    const target = location.hash.length > 1 ? $(decodeURIComponent(location.hash.slice(1))) : null;
    for (let e = target; e; e = e.parentElement) if (e.tagName === "DETAILS") e.open = true;
    target?.scrollIntoView();
  }

  function start() {
    theme();
    panel();
    let soon = 0;
    $("filter").addEventListener("input", () => { clearTimeout(soon); soon = setTimeout(filter, 120); });
    addEventListener("hashchange", reveal);
    for (const t of document.querySelectorAll("table.data")) sortable(t);
    verdicts();
    more();
    if (document.querySelector("table.data")) document.querySelector(".tools").hidden = false;
    filter();
    if (location.hash) reveal();
  }

  start();
})();
