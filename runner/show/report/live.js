// Keeps the live page up to date: asks for the progress every second, and for the
// tables when they have changed.
"use strict";
(() => {
  const progress = document.getElementById("progress"), results = document.getElementById("results");
  const connection = document.getElementById("connection"), panel = document.getElementById("panel");
  let version = "";
  let latest = 0; // when the tables were last put in place

  // What the reader has opened and sorted stays so.
  const place = (e) => e.id || `${e.closest("[id]")?.id} ${[...e.closest("[id]").querySelectorAll("details")].indexOf(e)}`;
  function keep(root) {
    const open = new Set([...root.querySelectorAll("details[open]")].map(place));
    const closed = new Set([...root.querySelectorAll("details:not([open])")].map(place));
    const sorted = new Map([...root.querySelectorAll("th[aria-sort]")].map((th) => [th.closest("[id]").id, [th.cellIndex, th.getAttribute("aria-sort")]]));
    const scrolled = new Map([...root.querySelectorAll(".scroll")].map((e) => [e.getAttribute("aria-label"), e.scrollLeft]));
    const focused = root.contains(document.activeElement) ? document.activeElement : null;
    const label = focused?.getAttribute("href") ?? focused?.getAttribute("aria-label");
    return () => {
      for (const e of root.querySelectorAll("details")) {
        if (open.has(place(e))) e.open = true;
        if (closed.has(place(e))) e.open = false;
      }
      for (const e of root.querySelectorAll(".scroll")) e.scrollLeft = scrolled.get(e.getAttribute("aria-label")) ?? 0;
      return {
        sort() {
          for (const [id, [column, direction]] of sorted) {
            const head = document.getElementById(id)?.querySelector("table.data thead tr:last-child");
            const button = head?.cells[column]?.querySelector("button");
            button?.click();
            if (direction === "descending") button?.click();
          }
          if (label) [...root.querySelectorAll("[href], [aria-label]")].find((e) => e.getAttribute("href") === label || e.getAttribute("aria-label") === label)?.focus({ preventScroll: true });
        },
      };
    };
  }

  // Refusal is what the server answers where it cannot show the folder.
  class Refusal extends Error {}

  async function get(path) {
    const answer = await fetch(path, { cache: "no-store" });
    if (!answer.ok) throw new Refusal(await answer.text());
    return answer;
  }

  async function update() {
    const answer = await get("progress");
    const restore = keep(progress);
    progress.innerHTML = await answer.text();
    restore();
    const title = progress.querySelector("[data-title]").dataset.title;
    document.querySelector("h1").textContent = title;
    document.title = `${answer.headers.get("X-Done") ?? ""} ${title}`.trim();
    const now = answer.headers.get("X-Results");
    // A panel shows trials of the tables that are there: they stay until it is
    // closed.
    if (now !== version && !panel.open && Date.now() - latest > 2000) {
      const tables = await get("results");
      const back = keep(results);
      results.innerHTML = await tables.text();
      const after = back();
      privkern.enhance(results);
      after.sort();
      version = tables.headers.get("X-Results");
      latest = Date.now();
    }
  }

  async function loop() {
    if (!document.hidden) {
      try {
        await update();
        connection.hidden = true;
      } catch (error) {
        connection.textContent = error instanceof Refusal ? `The folder cannot be shown: ${error.message}` : "The server does not answer: it has ended, or this machine cannot be reached. What is shown is the last that it said.";
        connection.hidden = false;
      }
    }
    setTimeout(loop, 1000);
  }

  loop();
})();
