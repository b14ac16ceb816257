// The playground: an instruction with editable lanes, a file that is judged, a kernel that is run. What is computed, drawn and said comes
// from the library, compiled to WebAssembly (`vop-wasm.js`); this script shows it.
"use strict";

(() => {
  const { up, load, permalink, escape } = self.vopSite;
  const HEX = value => "0x" + (value >>> 0).toString(16).padStart(8, "0");

  const element = (name, attributes = {}, ...children) => {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
      if (key.startsWith("on")) {
        made.addEventListener(key.slice(2), value);
      } else if (value === true) {
        made.setAttribute(key, "");
      } else if (value !== false && value !== null && value !== undefined) {
        made.setAttribute(key, value);
      }
    }
    made.append(...children);
    return made;
  };

  // The library. The answer has the milliseconds that it took.
  const ready = () => load("vop-wasm.js").then(() => self.vop.ready);
  const ask = request => {
    const start = performance.now();
    const answer = self.vop.answer(request);
    answer.milliseconds = performance.now() - start;
    return answer;
  };

  // A text whose faults are underlined while it is typed: a field over a copy of its text.
  const marked = (textarea, tall) => {
    const under = element("pre", { class: "under", "aria-hidden": "true" });
    const box = element("div", { class: tall ? "marked tall" : "marked" }, under, textarea);
    const follow = () => {
      under.scrollTop = textarea.scrollTop;
      under.scrollLeft = textarea.scrollLeft;
    };
    textarea.addEventListener("scroll", follow);
    const mark = diagnostics => {
      const text = textarea.value;
      let html = "";
      let at = 0;
      for (const one of [...diagnostics].sort((a, b) => a.start - b.start)) {
        // At the end of a text a blank is underlined.
        const [start, end] = [Math.max(at, one.start), Math.max(one.end, one.start + 1)];
        if (start >= end) {
          continue;
        }
        html += escape(text.slice(at, start));
        html += `<span class="${escape(one.severity)}">${escape(text.slice(start, end)) || " "}</span>`;
        at = Math.min(Math.max(end, at), text.length);
      }
      under.innerHTML = `${html}${escape(text.slice(at))}\n`;
      follow();
    };
    return { box, mark };
  };

  // The columns of text that a drawing has, for each width of the window: to measure is to lay out the page.
  const columnsOf = new Map();
  const columns = () => {
    if (!columnsOf.has(innerWidth)) {
      const probe = element("pre", { class: "drawing", style: "position: absolute; visibility: hidden; padding: 0; border: 0" }, "0".repeat(100));
      document.body.append(probe);
      const width = probe.getBoundingClientRect().width / 100;
      probe.remove();
      // What margins, borders and the mark of a finding leave.
      const room = document.getElementById("main").clientWidth - 48;
      columnsOf.set(innerWidth, Math.max(26, Math.min(100, Math.floor(room / width))));
    }
    return columnsOf.get(innerWidth);
  };

  // Diagnostics, drawn, each with a link to its page and what mends it.
  const findings = (diagnostics, apply, canApply = () => true) => diagnostics.map(one => {
    const row = element("div", { class: "row" }, element("a", { href: `${up}diagnostics/${one.code}.html` }, `${one.code}: what it means`));
    if (one.edits?.length && apply && canApply(one.edits)) {
      row.append(element("button", { type: "button", onclick: () => apply(one.edits) }, "Apply the help"));
    }
    const drawing = element("pre", { class: "drawing" });
    drawing.innerHTML = one.drawing;
    return element("div", { class: `finding ${one.severity}` }, drawing, row);
  });

  // What readers of screens are told when typing pauses: no drawings, and not at each key.
  const announcer = () => {
    const region = element("p", { class: "unseen", role: "status" });
    let timer = 0;
    const announce = text => {
      clearTimeout(timer);
      timer = setTimeout(() => { region.textContent = text; }, 700);
    };
    return { region, announce };
  };
  const count = (number, one, many = `${one}s`) => `${number} ${number === 1 ? one : many}`;
  // A verdict in words, and the messages behind it.
  const verdict = diagnostics => {
    const of = severity => diagnostics.filter(one => one.severity === severity).length;
    if (of("error") > 0) {
      return `Illegal: ${count(of("error"), "error")}.`;
    }
    const found = [["warning", of("warning")], ["note", of("note")]].filter(([, number]) => number > 0).map(([name, number]) => count(number, name));
    return found.length > 0 ? `Legal, with ${found.join(" and ")}.` : "Legal.";
  };

  const edited = (text, edits) => [...edits].sort((a, b) => b.start - a.start)
    .reduce((text, edit) => text.slice(0, edit.start) + edit.text + text.slice(edit.end), text);

  // Numbers.

  const mask = bits => bits === 32 ? 0xffffffff : 2 ** bits - 1;
  const part = (value, { shift, bits }) => (value >>> shift) & mask(bits);
  const withPart = (value, { shift, bits }, given) => ((value & ~(mask(bits) << shift)) | ((given & mask(bits)) << shift)) >>> 0;
  const signed = (value, bits) => bits < 32 ? (value >= 2 ** (bits - 1) ? value - 2 ** bits : value) : value | 0;
  const shown = (value, one, isSigned) => isSigned ? signed(value >>> 0, one.bits) : value >>> 0;

  // A number as people write it, if it fits the bits with or without a sign.
  const number = (text, bits, isHex) => {
    const match = /^(-?)(0x)?([0-9a-f]+)$/i.exec(text.trim().replaceAll("_", ""));
    if (!match) {
      return null;
    }
    const digits = match[3];
    if (!isHex && !match[2] && /[^0-9]/.test(digits)) {
      return null;
    }
    const value = parseInt(digits, isHex || match[2] ? 16 : 10) * (match[1] ? -1 : 1);
    return value >= -(2 ** (bits - 1)) && value < 2 ** bits ? value >>> 0 : null;
  };

  // Editors of a, b and c: the word, and of each part hexadecimal digits, the number, and bits.
  const editors = change => {
    const box = element("div", { class: "registers" });
    let known = "";
    let registers = [];

    const field = (attributes, bits, isHex, current, set) => {
      const input = element("input", { type: "text", spellcheck: "false", autocomplete: "off", autocapitalize: "off", ...attributes });
      const take = value => {
        input.removeAttribute("aria-invalid");
        set(value);
      };
      input.addEventListener("input", () => {
        const value = number(input.value, bits, isHex);
        if (value === null) {
          input.setAttribute("aria-invalid", "true");
        } else {
          take(value);
        }
      });
      input.addEventListener("keydown", event => {
        const step = { ArrowUp: 1, ArrowDown: -1 }[event.key];
        if (step) {
          event.preventDefault();
          take((current() + step) & mask(bits));
          refresh(true);
        }
      });
      input.addEventListener("blur", () => refresh(true));
      return input;
    };

    const build = operands => {
      registers = operands.map((operand, index) => {
        const register = { operand, index, updates: [] };
        const update = (input, text) => register.updates.push(force => {
          if (force || document.activeElement !== input) {
            input.value = text();
            input.removeAttribute("aria-invalid");
          }
        });
        const set = value => {
          register.operand.value = value >>> 0;
          change(index, register.operand.value);
        };
        const fixed = Boolean(operand.fixed);
        const word = field({ size: 11, "aria-label": `${operand.name}, hexadecimal`, disabled: fixed, class: "hex" }, 32, true, () => register.operand.value, set);
        update(word, () => HEX(register.operand.value));
        const parts = operand.parts.map(one => {
          const name = one.name ? `${operand.name}.${one.name}` : operand.name;
          const current = () => part(register.operand.value, one);
          const put = value => set(withPart(register.operand.value, one, value));
          const digits = field({ size: one.bits / 4 + 1, "aria-label": `${name}, hexadecimal`, disabled: fixed }, one.bits, true, current, put);
          update(digits, () => (current() >>> 0).toString(16).padStart(one.bits / 4, "0"));
          const value = field({ size: { 8: 5, 16: 7, 32: 12 }[one.bits], "aria-label": `${name}, ${operand.signed ? "signed" : "unsigned"}`, disabled: fixed }, one.bits, false, current, put);
          update(value, () => String(shown(current(), one, operand.signed)));
          const bits = element("div", { class: "bits", role: "group", "aria-label": `bits of ${name}; arrows move` });
          for (let bit = one.bits - 1; bit >= 0; bit--) {
            const button = element("button", {
              type: "button", tabindex: bit === one.bits - 1 ? "0" : "-1", disabled: fixed, "aria-label": `bit ${bit}`,
              onclick: () => {
                put(current() ^ (1 << bit));
                refresh(true);
              },
              onkeydown: event => {
                const to = { ArrowLeft: button.previousSibling, ArrowRight: button.nextSibling }[event.key];
                if (to) {
                  event.preventDefault();
                  button.tabIndex = -1;
                  to.tabIndex = 0;
                  to.focus();
                }
              },
            });
            register.updates.push(() => {
              const on = (current() >>> bit) & 1;
              button.textContent = String(on);
              button.setAttribute("aria-pressed", on === 1);
            });
            bits.append(button);
          }
          // The digits of the whole word stand before it already.
          return element("div", { class: "part" }, element("span", {}, one.name), ...(one.bits < 32 ? [digits] : []), value, bits);
        });
        register.box = element("div", { class: "register", "data-name": operand.name },
          element("label", { class: "word" }, element("b", {}, operand.name), word), element("div", { class: "parts" }, ...parts));
        if (operand.fixed) {
          register.box.append(element("span", { class: "why" }, operand.fixed));
        }
        return register;
      });
      box.replaceChildren(...registers.map(register => register.box));
    };

    const refresh = force => registers.forEach(register => register.updates.forEach(update => update(force)));

    const show = operands => {
      const shape = JSON.stringify(operands.map(({ value, ...rest }) => rest));
      if (shape !== known) {
        known = shape;
        build(operands);
        refresh(true);
      } else {
        operands.forEach((operand, i) => { registers[i].operand.value = operand.value; });
        refresh(false);
      }
    };
    return { box, show };
  };

  const whose = one => one.releases ? `ptxas ${one.releases}` : "The manual";

  // The stages by each semantics that differs from the one before, side by side.
  const sides = (answer, setInputs) => {
    const box = element("div", { class: "sides", tabindex: "-1" });
    const groups = [];
    for (const one of answer.semantics) {
      const same = groups.find(group => group[0].stages === one.stages);
      if (same) {
        same.push(one);
      } else {
        groups.push([one]);
      }
    }
    for (const group of groups) {
      const figure = element("figure", { class: group[0].differs ? "differs" : "", "data-semantics": group[0].name },
        element("figcaption", {}, element("b", {}, group.map(whose).join(", ")), ": d = ", element("code", { class: "d" }, HEX(group[0].d))));
      const table = element("div", { class: "scrolls" });
      table.innerHTML = group[0].stages;
      figure.append(table);
      if (group[0].differs) {
        for (const deviation of group[0].deviations) {
          figure.append(element("p", {}, `${deviation.words} `, element("a", { href: `${up}guide/ptxas.html#${deviation.name}` }, "More")));
        }
      }
      box.append(figure);
    }
    const notes = [];
    const hidden = answer.semantics.filter(one => !one.differs && one.witness);
    if (hidden.length > 0) {
      const { witness } = hidden[0];
      notes.push(element("p", { class: "row differs-note" }, `The code of ${hidden.map(whose).join(" and of ")} computes the same here, but not for all values.`,
        element("button", { type: "button", onclick: () => setInputs(witness.inputs) }, "Show values for which it differs")));
    }
    return [box, ...notes];
  };

  const costs = answer => {
    const head = element("tr", {}, element("th", { scope: "col" }, "GPU"), ...answer.costs.map(one => element("th", { scope: "col" }, one.target)));
    const cell = one => {
      const made = element("td", {}, String(one.cost));
      if (one.lowered !== null && one.lowered < one.cost) {
        made.append(" → ", element("b", {}, String(one.lowered)));
      }
      return made;
    };
    const row = element("tr", {}, element("th", { scope: "row" }, "machine instructions"), ...answer.costs.map(cell));
    return element("div", { class: "scrolls" }, element("table", { class: "plain costs" }, element("thead", {}, head), element("tbody", {}, row)));
  };

  const code = text => element("pre", { class: "code" }, element("code", {}, text));

  const select = (label, options, value, change) => {
    const made = element("select", { onchange: () => change(made.value) }, ...options.map(([name, text]) => element("option", { value: name, selected: name === value }, text)));
    return element("label", {}, label, made);
  };

  // One instruction. On its own page it is all that is to be seen, and the address holds it; elsewhere it takes the place of a drawing.
  const instruction = panel => {
    const large = panel.classList.contains("large");
    const [TARGET, PORT] = ["sm_90", large ? "hip" : null];
    const state = { text: panel.dataset.text, inputs: null, target: TARGET, port: PORT, open: large };
    const targets = panel.dataset.targets?.split(" ") ?? [];
    const languages = panel.dataset.languages?.split(" ") ?? [];
    const fromAddress = () => {
      const given = new URLSearchParams(location.hash.slice(1));
      if (!given.has("i")) {
        return false;
      }
      state.text = given.get("i");
      const values = ["a", "b", "c"].map(name => number(given.get(name) ?? "", 32, true));
      state.inputs = values.some(value => value !== null) ? values : null;
      // Names that nobody knows are as if they were not there.
      const among = (names, name, other) => names.includes(name) ? name : other;
      state.target = among(targets, given.get("target"), TARGET);
      state.port = among(languages, given.get("to"), PORT);
      return true;
    };
    // The address of what is shown.
    const address = () => {
      const more = (state.target === TARGET ? "" : `&target=${encodeURIComponent(state.target)}`)
        + (state.port === PORT || !state.port ? "" : `&to=${encodeURIComponent(state.port)}`);
      // Values that nobody chose are those of the instruction, and those of a text that is wrong are kept.
      return permalink(state.text, state.inputs?.map(value => value ?? 0), more);
    };
    if (large) {
      fromAddress();
    } else if (panel.dataset.inputs) {
      state.inputs = panel.dataset.inputs.split(",").map(Number);
    }
    const textarea = element("textarea", { rows: "2", spellcheck: "false", autocomplete: "off", autocapitalize: "off", "aria-label": "PTX instruction" });
    textarea.value = state.text;
    const text = marked(textarea, false);
    const status = element("p", { class: "status" });
    const { region, announce } = announcer();
    const said = element("div", {});
    const drawn = panel.querySelector(".static");
    const choices = element("div", { class: "choices" });
    let loading = null;

    const registers = editors((index, value) => {
      state.inputs ??= [0, 1, 2].map(i => last.operands[i]?.value ?? null);
      state.inputs[index] = value;
      update();
    });
    // What is shown of an instruction, around the editors: these stay in the page, so that typing in them goes on.
    const [before, after] = [element("div", {}), element("div", {})];
    const setInputs = inputs => {
      state.inputs = [...inputs];
      update();
      after.querySelector(".sides")?.focus();
    };
    let last = null;
    let timer = 0;

    const remember = () => {
      if (!large) {
        return;
      }
      clearTimeout(timer);
      timer = setTimeout(() => {
        // The address of another tab is not overwritten.
        if (!panel.hidden) {
          history.replaceState(null, "", address().replace(/^[^#]*/, ""));
        }
      }, 300);
    };

    const about = answer => {
      if (answer.mnemonic) {
        return [element("p", {}, element("a", { href: `${up}instructions/${answer.mnemonic}.html` }, element("code", {}, answer.mnemonic)), `: ${answer.summary}. Add types to see what it computes.`)];
      }
      if (answer.intrinsic) {
        const parts = [element("p", {}, element("code", {}, answer.intrinsic), `: ${answer.meaning}`)];
        if (answer.form) {
          parts.push(element("p", { class: "row" }, element("button", {
            type: "button", onclick: () => {
              textarea.value = answer.form;
              typed();
            },
          }, "Show the instruction"), element("code", {}, answer.instruction), answer.difference ?? ""));
        }
        return parts;
      }
      return [];
    };

    const show = answer => {
      last = answer;
      const diagnostics = answer.diagnostics ?? [];
      text.mark(diagnostics);
      said.replaceChildren(...findings(diagnostics, edits => {
        textarea.value = edited(textarea.value, edits);
        typed();
        textarea.focus();
        // A block of other instructions is none that can be explained here.
      }, edits => edits.every(edit => !edit.text.includes("\n"))));
      const words = answer.operands || diagnostics.length > 0 ? verdict(diagnostics) : "";
      status.textContent = answer.error ?? `${words} Answered in ${answer.milliseconds.toFixed(1)} ms.`;
      announce([answer.error ?? words, ...diagnostics.map(one => one.message)].join(" "));
      registers.box.hidden = !answer.operands;
      if (!answer.operands) {
        before.replaceChildren(...about(answer));
        after.replaceChildren();
        return;
      }
      registers.show(answer.operands);
      const head = [element("p", { class: "meaning" }, answer.meaning)];
      if (large) {
        const row = element("p", { class: "facts" }, element("span", {}, `PTX ISA ${answer.section}`),
          element("span", {}, element("a", { href: `${up}instructions/${answer.mnemonic}.html` }, `All about ${answer.mnemonic}`)));
        head.push(row);
      }
      before.replaceChildren(...head);
      showAfter(answer);
    };

    let shownRest = { key: "", parts: [] };
    const showAfter = answer => {
      const parts = sides(answer, setInputs);
      if (answer.lowering) {
        // It stays as it is while values change.
        const key = JSON.stringify([answer.costs, answer.lowering, answer.port]);
        if (key !== shownRest.key) {
          shownRest = { key, parts: rest(answer) };
        }
        parts.push(...shownRest.parts);
      }
      if (answer.intrinsics.length > 0) {
        const names = answer.intrinsics.flatMap((one, i) => [i > 0 ? ", " : "", element("code", {}, one.name), one.difference ? ` (${one.difference.replaceAll("`", "")})` : ""]);
        parts.push(element("p", {}, "In CUDA C: ", ...names));
      }
      after.replaceChildren(...parts);
    };

    // What takes longest to find out, and is told when typing pauses: costs, the lowered block, the port.
    const rest = answer => {
      const parts = [costs(answer)];
      const { lowering } = answer;
      const needs = lowering.needs ? ` It needs ${lowering.needs}.` : "";
      const sentence = lowering.changed
        ? `Lowered for ${lowering.target}, by the rule “${lowering.rule}”: ${count(lowering.cost, "machine instruction")} instead of ${lowering.before}.${needs} The result is as the manual says.`
        : `On ${lowering.target} it takes ${count(lowering.before, "machine instruction")}, and vop knows nothing cheaper.`;
      const lowered = element("details", { open: state.open, ontoggle: () => { state.open = lowered.open; } }, element("summary", {}, sentence));
      if (lowering.changed) {
        lowered.append(code(lowering.block));
      }
      parts.push(lowered);
      if (answer.port) {
        parts.push(element("h3", {}, `Ported to ${answer.port.language}`));
        parts.push(answer.port.error ? element("p", {}, answer.port.error) : code(answer.port.text));
      }
      return parts;
    };

    let pause = 0;
    const update = () => {
      drawn?.remove();
      const { text, inputs, target, port } = state;
      const request = { ask: "instruction", text, inputs, target, port, columns: columns() };
      show(ask({ ...request, quick: true }));
      clearTimeout(pause);
      if (last.operands && !last.lowering) {
        pause = setTimeout(() => {
          last = ask(request);
          showAfter(last);
        }, 100);
      }
      remember();
      syncSlots();
    };
    const start = () => {
      loading ??= ready().then(() => {
        status.textContent = "";
        update();
      }, error => {
        status.textContent = `The playground cannot start: ${error.message}`;
      });
      return loading;
    };
    const typed = () => {
      // Values that were chosen for another instruction stay; those that nobody chose follow the instruction.
      state.text = textarea.value;
      if (self.vop?.answer && last) {
        update();
      } else {
        start();
      }
    };
    textarea.addEventListener("input", typed);

    // The modifiers of the page's mnemonic, one list each.
    let syncSlots = () => {};
    if (panel.dataset.slots) {
      const slots = JSON.parse(panel.dataset.slots);
      const OPCODE = /^(\s*(?:@!?\s*[\w%$]+\s+)?)([\w.:]*)/;
      const lists = slots.map((slot, i) => {
        const options = (slot.optional ? [["", "—"]] : []).concat(slot.values.map(value => [value, value]));
        const label = select(slot.name, options, "", () => {
          const words = lists.map(list => list.value).join("");
          textarea.value = textarea.value.replace(OPCODE, (_, guard) => guard + panel.dataset.mnemonic + words);
          state.inputs = null;
          typed();
        });
        choices.append(label);
        return label.querySelector("select");
      });
      // The lists say what the text says: each takes the first modifier that it has.
      syncSlots = () => {
        let [mnemonic, ...words] = OPCODE.exec(textarea.value)[2].split(/(?=\.)/);
        slots.forEach((slot, i) => {
          const at = words.findIndex(word => slot.values.includes(word));
          lists[i].value = at >= 0 ? words[at] : "";
          // They are those of one mnemonic.
          lists[i].disabled = mnemonic !== panel.dataset.mnemonic;
          if (at >= 0) {
            words = words.slice(at + 1);
          }
        });
      };
      syncSlots();
    }
    if (large) {
      const chosen = [["lowered for", targets, "target"], ["ported to", languages, "port"]].map(([label, names, member]) =>
        select(label, names.map(name => [name, name]), state[member], value => {
          state[member] = value;
          update();
        }));
      choices.append(...chosen);
      addEventListener("hashchange", () => {
        if (fromAddress()) {
          textarea.value = state.text;
          chosen[0].querySelector("select").value = state.target;
          chosen[1].querySelector("select").value = state.port;
          start().then(update);
        }
      });
      panel.addEventListener("shown", remember);
    }
    const buttons = element("p", { class: "row" },
      element("button", {
        type: "button", onclick: () => start().then(() => {
          state.inputs = null;
          update();
        }),
      }, "Values that show every stage"));
    if (large) {
      const copy = element("button", {
        type: "button", onclick: () => {
          // The values that are shown belong to the link.
          state.inputs ??= last?.operands ? [0, 1, 2].map(i => last.operands[i]?.value ?? null) : null;
          const link = new URL(address(), location.href).href;
          const done = () => {
            copy.textContent = "Copied";
            setTimeout(() => { copy.textContent = "Copy the link"; }, 1500);
          };
          navigator.clipboard ? navigator.clipboard.writeText(link).then(done, () => prompt("The link", link)) : prompt("The link", link);
          remember();
        },
      }, "Copy the link");
      buttons.append(copy);
    } else {
      buttons.append(element("button", {
        type: "button", onclick: () => {
          location.href = address();
        },
      }, "Open in the playground"));
    }
    const head = panel.querySelector("h2");
    const parts = [text.box, choices, buttons, status, region, said, before, registers.box, after];
    if (head) {
      head.after(...parts);
    } else {
      panel.replaceChildren(...parts);
    }
    if (large) {
      start();
    } else {
      textarea.addEventListener("focus", start, { once: true });
    }
  };

  // A file.

  const FILES = [["", "guessed: PTX or CUDA C++"], ["cuda", "CUDA C++"], ["ptx", "PTX"], ["opencl", "OpenCL C"], ["python", "Python"], ["rust", "Rust"], ["llvm", "LLVM IR"], ["markdown", "Markdown"]];
  const SAMPLE = `// The sum of absolute differences of four bytes, and a clamped sum that is wrong.
__device__ unsigned sad(unsigned a, unsigned b, unsigned sum) {
    asm("vabsdiff4.u32.u32.u32.add %0, %1, %2, %3;" : "=r"(sum) : "r"(a), "r"(b), "r"(sum));
    return sum;
}

__device__ unsigned brighten(unsigned pixels, unsigned by) {
    unsigned d;
    asm("vadd4.u32.u32.u32.sat.add %0, %1, %2, %3;" : "=r"(d) : "r"(pixels), "r"(by), "r"(0));
    return d;
}
`;

  // Runs what a key asks for at once, or a little later if the last answer took long.
  const paced = run => {
    let timer = 0;
    let took = 0;
    return () => {
      clearTimeout(timer);
      const go = () => {
        const start = performance.now();
        run();
        took = performance.now() - start;
      };
      if (took < 50) {
        go();
      } else {
        timer = setTimeout(go, 250);
      }
    };
  };

  const file = panel => {
    const state = { language: "cuda" };
    const textarea = element("textarea", { spellcheck: "false", autocomplete: "off", autocapitalize: "off", wrap: "off", "aria-label": "Source file" });
    textarea.value = SAMPLE;
    const text = marked(textarea, true);
    const status = element("p", { class: "status" });
    const { region, announce } = announcer();
    const result = element("div", {});
    const show = () => {
      const answer = ask({ ask: "file", text: textarea.value, language: state.language || undefined, level: "note", columns: columns() });
      if (answer.error) {
        status.textContent = answer.error;
        result.replaceChildren();
        text.mark([]);
        return;
      }
      text.mark(answer.diagnostics);
      const { instructions, legal, illegal, unjudged } = answer.summary;
      const words = `${count(instructions, "video instruction")}: ${legal} legal, ${illegal} illegal, ${unjudged} not judged.`;
      status.textContent = `${words} Answered in ${answer.milliseconds.toFixed(1)} ms.`;
      announce(words);
      const row = one => {
        const link = one.form ? element("a", { href: permalink(one.form) }, element("code", {}, one.text)) : element("code", {}, one.text);
        const cost = element("td", { class: "number" }, one.cost === null ? "" : String(one.cost));
        if (one.lowered !== null) {
          cost.append(" → ", element("b", {}, String(one.lowered)));
        }
        return element("tr", {}, element("td", { class: "number" }, String(one.line)), element("td", {}, link),
          element("td", { class: one.verdict === "illegal" ? "severity error" : "" }, one.verdict), element("td", {}, one.meaning ?? ""), cost);
      };
      const heads = ["line", "instruction", "verdict", "what it does", `cost on ${answer.target}`];
      const table = element("table", { class: "plain" }, element("thead", {}, element("tr", {}, ...heads.map(name => element("th", { scope: "col" }, name)))),
        element("tbody", {}, ...answer.uses.map(row)));
      result.replaceChildren(...findings(answer.diagnostics, edits => {
        textarea.value = edited(textarea.value, edits);
        show();
        textarea.focus();
      }), ...(answer.uses.length > 0 ? [element("div", { class: "scrolls" }, table)] : []));
    };
    const read = chosen => chosen?.text().then(content => {
      const ends = { cu: "cuda", cuh: "cuda", cpp: "cuda", h: "cuda", hpp: "cuda", ptx: "ptx", cl: "opencl", py: "python", rs: "rust", ll: "llvm", md: "markdown" };
      state.language = ends[chosen.name.split(".").pop().toLowerCase()] ?? "";
      language.querySelector("select").value = state.language;
      textarea.value = content;
      show();
    });
    const language = select("language", FILES, state.language, value => {
      state.language = value;
      show();
    });
    const picker = element("label", {}, "or open a file", element("input", { type: "file", onchange: event => read(event.target.files[0]) }));
    textarea.addEventListener("input", paced(show));
    textarea.addEventListener("dragover", event => event.preventDefault());
    textarea.addEventListener("drop", event => {
      if (event.dataTransfer.files.length > 0) {
        event.preventDefault();
        read(event.dataTransfer.files[0]);
      }
    });
    panel.replaceChildren(element("p", {}, "Paste a source file. Every video instruction in it is judged as ptxas judges it. The file stays in this browser."),
      element("div", { class: "choices" }, language, picker), text.box, status, region, result);
    return show;
  };

  // A kernel.

  const KERNEL = `.version 7.0
.target sm_75
.address_size 64

// Adds \`by\` to each byte of each word, and clamps the sums to 255.
.visible .entry brighten(.param .u64 pixels, .param .u32 by, .param .u32 count)
{
    .reg .pred %p<2>;
    .reg .b32 %r<8>;
    .reg .b64 %rd<4>;
    mov.u32 %r1, %tid.x;
    ld.param.u32 %r2, [count];
    setp.ge.u32 %p1, %r1, %r2;
    @%p1 bra $done;
    ld.param.u64 %rd1, [pixels];
    mul.wide.u32 %rd2, %r1, 4;
    add.u64 %rd3, %rd1, %rd2;
    ld.global.u32 %r3, [%rd3];
    ld.param.u32 %r4, [by];
    vadd4.u32.u32.u32.sat %r5, %r3, %r4, %r3;
    st.global.u32 [%rd3], %r5;
$done:
    ret;
}
`;
  const SAMPLE_ARGUMENTS = [["pixels", { type: "u32[8]", fill: "random" }], ["by", { type: "u32", value: "0x40404040" }], ["count", { type: "u32", value: "6" }]];
  const FILLS = [["index", "0, 1, 2 …"], ["random", "random"], ["zero", "zeros"], ["values", "these values"]];

  const kernel = panel => {
    const state = { grid: "1", block: "8", entry: null, given: new Map(SAMPLE_ARGUMENTS), entries: [] };
    const textarea = element("textarea", { spellcheck: "false", autocomplete: "off", autocapitalize: "off", wrap: "off", "aria-label": "PTX module" });
    textarea.value = KERNEL;
    const text = marked(textarea, true);
    const status = element("p", { class: "status", role: "status" });
    const said = element("div", {});
    const choices = element("div", { class: "choices" });
    const result = element("div", {});

    const three = text => {
      const sizes = text.split(/[x,\s]+/).filter(Boolean).map(Number);
      return sizes.length >= 1 && sizes.length <= 3 && sizes.every(size => Number.isInteger(size) && size >= 0 && size < 2 ** 31)
        ? [...sizes, 1, 1].slice(0, 3) : null;
    };
    const shape = name => element("label", {}, name, element("input", { size: 8, value: state[name], "aria-label": `${name}, as 8 or 8x8x1`, oninput: event => { state[name] = event.target.value; } }));

    // What a parameter gets: as it was given before, otherwise as its type suggests.
    const argument = parameter => {
      const known = state.given.get(parameter.name);
      if (known && known.type.includes("[") === parameter.pointer) {
        return parameter.pointer ? known : { ...known, type: parameter.type };
      }
      return parameter.pointer ? { type: "u32[32]", fill: "index" } : { type: parameter.type, value: "1" };
    };
    const argumentFields = parameter => {
      const one = argument(parameter);
      state.given.set(parameter.name, one);
      const name = parameter.name;
      const type = element("input", { size: 9, value: one.type, "aria-label": `type of ${name}`, oninput: event => { one.type = event.target.value; } });
      if (!parameter.pointer) {
        return element("label", {}, `${name} (${parameter.type})`, element("input", { size: 12, value: one.value, oninput: event => { one.value = event.target.value; } }));
      }
      const values = element("input", {
        size: 16, value: one.values?.join(" ") ?? "", placeholder: "1 2 0x7f", "aria-label": `values of ${name}`, hidden: !one.values,
        oninput: event => { one.values = event.target.value.split(/[\s,]+/).filter(Boolean); },
      });
      const fill = element("select", {
        "aria-label": `content of ${name}`,
        onchange: event => {
          values.hidden = event.target.value !== "values";
          if (event.target.value === "values") {
            one.values = values.value.split(/[\s,]+/).filter(Boolean);
            delete one.fill;
          } else {
            one.fill = event.target.value;
            delete one.values;
          }
        },
      }, ...FILLS.map(([value, words]) => element("option", { value, selected: value === (one.values ? "values" : one.fill) }, words)));
      return element("div", {}, element("label", {}, `${name} (memory)`, type), fill, values);
    };
    const entry = () => state.entries.find(one => one.name === state.entry) ?? state.entries[0];
    const fields = () => {
      const current = entry();
      state.entry = current?.name ?? null;
      choices.replaceChildren();
      if (!current) {
        return;
      }
      if (state.entries.length > 1) {
        choices.append(select("kernel", state.entries.map(one => [one.name, one.demangled ?? one.name]), state.entry, value => {
          state.entry = value;
          fields();
        }));
      }
      choices.append(shape("grid"), shape("block"), ...current.parameters.map(argumentFields));
    };
    let known = "";
    const read = () => {
      const answer = ask({ ask: "kernel", text: textarea.value, columns: columns() });
      state.entries = answer.entries ?? [];
      const current = entry();
      const diagnostics = answer.diagnostics ?? current?.diagnostics ?? [];
      text.mark(diagnostics);
      said.replaceChildren(...findings(diagnostics));
      if (state.entries.length === 0) {
        status.textContent = answer.error ?? "The text has no kernel: `.entry name(…) { … }`.";
      } else if (diagnostics.length === 0) {
        status.textContent = "";
      }
      // Fields stay as they are while the parameters do.
      const shape = JSON.stringify(state.entries.map(one => [one.name, one.parameters]));
      if (shape !== known) {
        known = shape;
        fields();
      }
    };

    const shownMemory = one => {
      const changed = new Set(one.changed);
      const values = one.values.map((value, i) => element("span", { class: changed.has(i) ? "changed" : "", title: `element ${i}` }, value));
      const more = one.elements > one.values.length ? [`… ${one.elements - one.values.length} more`] : [];
      return element("div", {}, element("h4", {}, element("code", {}, `${one.name}: ${one.type}`), ` — ${one.changes} of ${one.elements} changed`),
        element("div", { class: "memory" }, ...values, ...more));
    };
    const shownSteps = answer => {
      const count = Math.max(0, ...answer.steps.map(step => step.values.length));
      const head = element("tr", {}, element("th", { scope: "col" }, "line"), element("th", { scope: "col" }, "statement"), element("th", { scope: "col" }, "writes"),
        ...Array.from({ length: count }, (_, i) => element("th", { scope: "col" }, `thread ${i}`)));
      const rows = answer.steps.map(step => element("tr", {}, element("td", {}, String(step.line)),
        element("th", { scope: "row" }, step.text), element("td", {}, step.register ?? ""),
        ...step.values.map(value => element("td", value === null ? { class: "off", title: "not active" } : {}, value === null ? "·" : value))));
      return element("div", { class: "scrolls" }, element("table", { class: "threads" }, element("thead", {}, head), element("tbody", {}, ...rows)));
    };
    // The kernel runs in a worker, which can be ended.
    let worker = null;
    const stop = element("button", { type: "button", hidden: true, onclick: () => end("Stopped.") }, "Stop");
    const end = words => {
      worker?.terminate();
      worker = null;
      stop.hidden = true;
      status.textContent = words;
    };
    const run = () => {
      if (!stop.hidden) {
        end("");
      }
      const [grid, block] = [three(state.grid), three(state.block)];
      said.replaceChildren();
      result.replaceChildren();
      if (!grid || !block) {
        status.textContent = "Grid and block are one to three sizes, such as 8 or 8x8x1.";
        return;
      }
      const current = entry();
      if (!current) {
        return;
      }
      status.textContent = "Running …";
      const began = performance.now();
      worker ??= self.vop.worker();
      stop.hidden = false;
      worker.onmessage = event => {
        stop.hidden = true;
        show(JSON.parse(event.data), performance.now() - began, block);
      };
      worker.onerror = event => {
        end(`It cannot run: ${event.message}`);
      };
      worker.postMessage(JSON.stringify({ ask: "run", text: textarea.value, entry: current.name, grid, block, arguments: current.parameters.map(parameter => state.given.get(parameter.name)), columns: columns() }));
    };
    const show = (answer, milliseconds, block) => {
      const failures = [answer.fault, ...(answer.findings ?? []), ...(answer.diagnostics ?? [])].filter(Boolean);
      text.mark(failures.filter(one => one.start !== undefined && one.start !== null));
      said.replaceChildren(...findings(failures));
      if (answer.error || answer.diagnostics) {
        status.textContent = answer.error ?? "It cannot run.";
        result.replaceChildren();
        return;
      }
      const done = answer.counts ? `${Number(answer.counts.instructions).toLocaleString("en")} thread-instructions, ${answer.counts.video} of them video` : answer.limited ? "Stopped at the limit of work" : "Stopped by a fault";
      status.textContent = `${done}, in ${milliseconds.toFixed(1)} ms.`;
      const parts = answer.arguments.filter(one => one.buffer).map(shownMemory);
      if (answer.printed) {
        parts.push(element("h3", {}, "Printed"), code(answer.printed));
      }
      if (answer.steps.length > 0) {
        const [all, shown] = [block.reduce((product, axis) => product * axis), answer.steps[0].values.length];
        const threads = all > shown ? `the first ${shown} of ${all} threads` : `${count(all, "thread")}`;
        parts.push(element("h3", {}, `What ${threads} of block 0 did`), shownSteps(answer));
        if (answer.steps_left_out > 0) {
          parts.push(element("p", {}, `${answer.steps_left_out} more steps are not shown.`));
        }
      }
      result.replaceChildren(...parts);
    };
    textarea.addEventListener("input", paced(read));
    panel.addEventListener("keydown", event => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
        event.preventDefault();
        run();
      }
    });
    panel.replaceChildren(element("p", {}, "A PTX module. The kernel runs in this browser, with every access to memory checked."), text.box, choices,
      element("p", { class: "row" }, element("button", { type: "button", id: "run", onclick: run }, "Run (Ctrl + Enter)"), stop), status, said, result);
    return () => {
      read();
      run();
    };
  };

  const tabs = () => {
    const all = [...document.querySelectorAll("[role=tab]")];
    if (all.length === 0) {
      return;
    }
    const starts = { "panel-file": file, "panel-kernel": kernel };
    const wanted = { "#file": "tab-file", "#kernel": "tab-kernel" };
    const open = tab => {
      for (const one of all) {
        const current = one === tab;
        one.setAttribute("aria-selected", current);
        one.tabIndex = current ? 0 : -1;
        const panel = document.getElementById(one.getAttribute("aria-controls"));
        panel.hidden = !current;
        if (current && panel.id === "panel-instruction") {
          panel.dispatchEvent(new Event("shown"));
        }
        if (current && starts[panel.id] && !panel.hasChildNodes()) {
          panel.textContent = "Loading …";
          ready().then(() => starts[panel.id](panel)(), error => { panel.textContent = `It cannot start: ${error.message}`; });
        }
      }
    };
    all.forEach((tab, i) => {
      const choose = tab => {
        open(tab);
        const address = Object.entries(wanted).find(([, id]) => id === tab.id);
        if (address) {
          history.replaceState(null, "", address[0]);
        }
      };
      tab.addEventListener("click", () => choose(tab));
      tab.addEventListener("keydown", event => {
        const to = { ArrowRight: i + 1, ArrowLeft: i - 1, Home: 0, End: all.length - 1 }[event.key];
        if (to !== undefined) {
          event.preventDefault();
          const tab = all[(to + all.length) % all.length];
          choose(tab);
          tab.focus();
        }
      });
    });
    const follow = () => {
      const tab = wanted[location.hash] ?? (location.hash.startsWith("#i=") ? "tab-instruction" : null);
      if (tab) {
        open(document.getElementById(tab));
      }
    };
    addEventListener("hashchange", follow);
    follow();
  };

  // The tabs first: an instruction that is not shown does not change the address.
  tabs();
  document.querySelectorAll(".playground").forEach(instruction);
})();
