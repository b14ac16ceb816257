// What every page does: dark and light, search, filters, sorting, and loading the playground where there is one.
// A classic script, because pages that are opened as files may not load modules.
"use strict";

(() => {
  const root = document.documentElement;
  const up = root.dataset.up;

  // Dark or light: as chosen, otherwise as the system has it. Set before the page is drawn.
  const stored = () => {
    try {
      return localStorage.getItem("theme");
    } catch {
      return null;
    }
  };
  const system = matchMedia("(prefers-color-scheme: dark)");
  const apply = () => {
    root.dataset.theme = stored() ?? (system.matches ? "dark" : "light");
  };
  apply();
  system.addEventListener("change", apply);

  const escape = text => text.replace(/[&<>"']/g, c => `&#${c.charCodeAt(0)};`);

  // Loads a script of the site once.
  const scripts = new Map();
  const load = name => {
    if (!scripts.has(name)) {
      scripts.set(name, new Promise((resolve, reject) => {
        const script = document.createElement("script");
        script.src = `${up}assets/${name}`;
        script.onload = resolve;
        script.onerror = () => reject(new Error(`${script.src} cannot be loaded`));
        document.head.append(script);
      }));
    }
    return scripts.get(name);
  };

  // The place of an instruction in the playground, with values of a, b and c if they are known.
  const permalink = (text, inputs, more = "") => {
    const values = inputs ? ["a", "b", "c"].map((name, i) => `&${name}=${(inputs[i] >>> 0).toString(16)}`).join("") : "";
    return `${up}playground.html#i=${encodeURIComponent(text)}${values}${more}`;
  };

  self.vopSite = { up, load, permalink, escape };

  // Search.

  const MOST = 30;
  // A mnemonic with a modifier is an instruction, with or without operands.
  const isInstruction = text => /^(@!?[\w%$]+\s+)?v(add|sub|absdiff|avrg|min|max|shl|shr|mad|set)[24]?\.\w/.test(text);

  const rank = (row, words) => {
    const title = row[0].toLowerCase();
    let score = 0;
    for (const word of words) {
      const at = title.indexOf(word);
      if (at === 0) {
        // The thing itself stands before things that begin with its name.
        score += title.length === word.length || /[^\w]/.test(title[word.length]) ? 40 : 25;
      } else if (at > 0) {
        score += /\w/.test(title[at - 1]) ? 8 : 14;
      } else if (row[4].includes(word)) {
        score += 3;
      } else {
        return 0;
      }
    }
    const kinds = { instruction: 4, intrinsic: 4, diagnostic: 3, lint: 3, guide: 2, use: 0 };
    return score + (kinds[row[1]] ?? 0);
  };

  const excerpt = (row, words) => {
    const at = Math.max(0, row[4].indexOf(words[0]) - 30);
    return (at > 0 ? "… " : "") + row[3].slice(at, at + 140);
  };

  const find = text => {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    if (words.length === 0) {
      return [];
    }
    for (const row of self.vopIndex) {
      row[4] ??= row[3].toLowerCase();
    }
    return self.vopIndex.map(row => [rank(row, words), row])
      .filter(([score]) => score > 0)
      .sort((one, other) => other[0] - one[0])
      .slice(0, MOST)
      .map(([, row]) => ({ href: up + row[2], title: row[0], kind: row[1], text: excerpt(row, words) }));
  };

  const searching = () => {
    const input = document.getElementById("search");
    const found = document.getElementById("found");
    let chosen = -1;
    const links = () => [...found.querySelectorAll("a")];
    const choose = to => {
      const all = links();
      chosen = all.length === 0 ? -1 : (to + all.length) % all.length;
      all.forEach((link, i) => link.setAttribute("aria-selected", i === chosen));
      all[chosen]?.scrollIntoView({ block: "nearest" });
      if (chosen >= 0) {
        input.setAttribute("aria-activedescendant", all[chosen].id);
      } else {
        input.removeAttribute("aria-activedescendant");
      }
    };
    const close = () => {
      found.hidden = true;
      input.setAttribute("aria-expanded", "false");
    };
    const show = () => {
      const text = input.value.trim();
      if (text === "") {
        close();
        return;
      }
      const results = self.vopIndex ? find(text) : [];
      if (isInstruction(text)) {
        results.unshift({ href: permalink(text), title: text, kind: "playground", text: "Explain this instruction" });
      }
      found.innerHTML = results.length === 0 ? `<p>${self.vopIndex ? "Nothing has all of these words." : "Loading …"}</p>`
        : results.map((one, i) => `<a role="option" id="found-${i}" href="${escape(one.href)}">${escape(one.title)} <small>${escape(one.kind)}: ${escape(one.text)}</small></a>`).join("");
      found.hidden = false;
      input.setAttribute("aria-expanded", "true");
      choose(results.length > 0 ? 0 : -1);
    };
    const prepare = () => load("search-index.js").then(() => !found.hidden && show());
    input.addEventListener("focus", prepare, { once: true });
    input.addEventListener("input", show);
    input.addEventListener("keydown", event => {
      if (event.key === "ArrowDown" || event.key === "ArrowUp") {
        event.preventDefault();
        if (found.hidden) {
          show();
        } else {
          choose(chosen + (event.key === "ArrowDown" ? 1 : -1));
        }
      } else if (event.key === "Enter") {
        event.preventDefault();
        (links()[chosen] ?? links()[0])?.click();
      } else if (event.key === "Escape") {
        input.value = "";
        close();
        input.blur();
      }
    });
    found.addEventListener("click", event => event.target.closest("a") && close());
    document.addEventListener("click", event => event.target.closest(".tools") || close());
    document.addEventListener("keydown", event => {
      const typing = event.target.closest?.("input, textarea, select, [contenteditable]");
      if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
        event.preventDefault();
        input.focus();
        input.select();
      }
    });
  };

  // Tables: rows with a word, rows of a shape, order by a column.

  const filtering = () => {
    const shapes = [...document.querySelectorAll(".filters button[data-shape]")];
    let shape = "";
    const input = document.querySelector("input.filter");
    if (!input) {
      return;
    }
    const rows = [...document.querySelectorAll(`tr.${input.dataset.filters}`)].map(row => [row, row.textContent.toLowerCase()]);
    const apply = () => {
      const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      for (const [row, text] of rows) {
        row.hidden = (shape !== "" && row.dataset.shape !== shape) || !words.every(word => text.includes(word));
      }
      for (const group of document.querySelectorAll(".code-group")) {
        group.hidden = !group.querySelector("tbody tr:not([hidden])");
      }
    };
    input.addEventListener("input", apply);
    for (const button of shapes) {
      button.addEventListener("click", () => {
        shape = button.dataset.shape;
        shapes.forEach(one => one.setAttribute("aria-pressed", one === button));
        apply();
      });
    }
    apply();
  };

  const sorting = () => {
    for (const table of document.querySelectorAll("table.sorts")) {
      table.querySelectorAll("thead th").forEach((head, column) => {
        head.tabIndex = 0;
        const sort = () => {
          const descending = head.getAttribute("aria-sort") === "ascending";
          table.querySelectorAll("thead th").forEach(one => one.removeAttribute("aria-sort"));
          head.setAttribute("aria-sort", descending ? "descending" : "ascending");
          const key = row => row.cells[column].dataset.value === undefined ? row.cells[column].textContent : Number(row.cells[column].dataset.value);
          const body = table.tBodies[0];
          const rows = [...body.rows].map(row => [key(row), row]);
          rows.sort(([one], [other]) => (one < other ? -1 : one > other ? 1 : 0) * (descending ? -1 : 1));
          body.append(...rows.map(([, row]) => row));
        };
        head.addEventListener("click", sort);
        head.addEventListener("keydown", event => {
          if (event.key === "Enter" || event.key === " ") {
            event.preventDefault();
            sort();
          }
        });
      });
    }
  };

  document.addEventListener("DOMContentLoaded", () => {
    document.getElementById("theme").addEventListener("click", () => {
      try {
        localStorage.setItem("theme", root.dataset.theme === "dark" ? "light" : "dark");
      } catch {
        // A browser that keeps nothing: the choice lasts as long as the page.
        root.dataset.theme = root.dataset.theme === "dark" ? "light" : "dark";
        return;
      }
      apply();
    });
    searching();
    filtering();
    sorting();
    const ask = document.querySelector("form.ask");
    ask?.addEventListener("submit", event => {
      event.preventDefault();
      location.href = permalink(ask.elements.i.value);
    });
    // Where there is room, all pages of a part are listed; on a phone only their heads.
    if (matchMedia("(max-width: 60rem)").matches) {
      document.querySelectorAll(".aside details").forEach(details => { details.open = false; });
    }
    if (document.querySelector(".playground")) {
      load("playground.js");
    }
  });
})();
