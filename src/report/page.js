// Pan, zoom, search, selection and sorting. The page shows all of its content without this script.
"use strict";
(() => {
  const byId = (id) => document.getElementById(id);
  const nodes = JSON.parse(byId("nodes").textContent);
  const graph = byId("graph"), details = byId("details"), table = byId("ops");
  const ops = nodes.map((node, i) => [node, i]).filter(([node]) => "row" in node);
  const nodeOfRow = new Map(ops.map(([node, i]) => [node.row, i]));

  // --- pan and zoom: the view box is the visible part of the graph
  const whole = graph.viewBox.baseVal;
  const all = { x: whole.x, y: whole.y, width: whole.width, height: whole.height };
  let view = { ...all };
  const show = () => graph.setAttribute("viewBox", `${view.x} ${view.y} ${view.width} ${view.height}`);
  const showAll = () => { view = { ...all }; show(); };
  const scale = () => {
    const box = graph.getBoundingClientRect();
    return Math.max(view.width / box.width, view.height / box.height);
  };
  /** Position in the graph of a position on the screen. */
  const toGraph = (x, y) => new DOMPoint(x, y).matrixTransform(graph.getScreenCTM().inverse());
  const pan = (dx, dy) => { view.x += dx; view.y += dy; show(); };
  const zoom = (factor, center) => {
    const at = center || { x: view.x + view.width / 2, y: view.y + view.height / 2 };
    const width = Math.min(Math.max(view.width * factor, 120), all.width * 3);
    const by = width / view.width;
    view = { x: at.x + (view.x - at.x) * by, y: at.y + (view.y - at.y) * by, width, height: view.height * by };
    show();
  };
  const centerOf = (index) => {
    const matrix = byId("n" + index).transform.baseVal[0].matrix, box = byId("n" + index).getBBox();
    return { x: matrix.e + box.width / 2, y: matrix.f + box.height / 2 };
  };
  /** Moves the view to a node that is outside of it; zooms in if its text would be too small. */
  const reveal = (index) => {
    const at = centerOf(index);
    const box = graph.getBoundingClientRect();
    if (scale() > 1.6) {
      view.width = box.width * 1.1;
      view.height = box.height * 1.1;
    }
    const inside = at.x > view.x && at.x < view.x + view.width && at.y > view.y && at.y < view.y + view.height;
    if (!inside || scale() > 1.05) { view.x = at.x - view.width / 2; view.y = at.y - view.height / 2; }
    show();
  };

  graph.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && document.activeElement !== graph) return; // the page scrolls
    event.preventDefault();
    zoom(Math.exp(Math.max(-60, Math.min(60, event.deltaY)) / 300), toGraph(event.clientX, event.clientY));
  }, { passive: false });
  const pointers = new Map();
  let moved = 0;
  graph.addEventListener("pointerdown", (event) => {
    pointers.set(event.pointerId, event);
    if (pointers.size === 1) moved = 0;
  });
  graph.addEventListener("pointermove", (event) => {
    const before = pointers.get(event.pointerId);
    if (!before) return;
    const other = [...pointers.values()].find((each) => each.pointerId !== event.pointerId);
    const from = toGraph(before.clientX, before.clientY), to = toGraph(event.clientX, event.clientY);
    if (other) {
      const distance = (a) => Math.hypot(a.clientX - other.clientX, a.clientY - other.clientY);
      zoom(distance(before) / Math.max(distance(event), 1), toGraph(other.clientX, other.clientY));
    } else {
      pan(from.x - to.x, from.y - to.y);
    }
    moved += Math.hypot(event.clientX - before.clientX, event.clientY - before.clientY);
    if (moved > 4) graph.setPointerCapture(event.pointerId);
    pointers.set(event.pointerId, event);
  });
  for (const end of ["pointerup", "pointercancel"]) {
    graph.addEventListener(end, (event) => pointers.delete(event.pointerId));
  }

  // --- selection: the node, its edges, its row of the table, its buffers
  let chosen = -1;
  const element = (tag, text, parent) => {
    const made = document.createElement(tag);
    if (text !== undefined) made.textContent = text;
    if (parent) parent.append(made);
    return made;
  };
  const count = (value) => (value === null || value === undefined ? "" : value.toLocaleString("en-US"));
  const describe = (index) => {
    const node = nodes[index];
    details.replaceChildren();
    element("h3", node.title, details);
    element("p", node.name, details);
    const list = element("dl", undefined, details);
    const row = (name, value) => {
      if (value === "" || value === null || value === undefined) return;
      element("dt", name, list);
      element("dd", value, list);
    };
    row("engine", node.engine);
    row("kernel", node.kernel);
    row("result", `${node.dtype} ${node.shape}`);
    row("types", node.types);
    row("operator", node.target);
    row("module", node.module);
    row("time", node.time_us == null ? "" : `${node.mark}${node.time_us.toFixed(2)} µs`);
    row("cycles", node.cycles == null ? "" : node.mark + count(node.cycles));
    row("instructions", count(node.instructions));
    row("MACs", count(node.macs || null));
    row("result, B", count(node.bytes));
    row("constants, B", count(node.constants || null));
    row("arena live, B", count(node.live || null));
    row("SQNR", node.sqnr == null ? "" : `${node.sqnr.toFixed(1)} dB`);
    row("reason", node.reason);
    if (node.where || node.text) {
      element("p", node.where, details);
      element("pre", node.text, details);
    }
    for (const [title, list] of [["reads", node.in], ["is read by", node.out]]) {
      if (!list.length) continue;
      element("p", title, details);
      for (const other of list) {
        const button = element("button", `${nodes[other].title} ${nodes[other].name}`, details);
        button.type = "button";
        button.addEventListener("click", () => select(other));
      }
    }
  };
  const mark = (selector, name, on) => {
    for (const each of document.querySelectorAll("." + name)) each.classList.remove(name);
    if (on) for (const each of document.querySelectorAll(selector)) each.classList.add(name);
  };
  const select = (index, move = true) => {
    chosen = index;
    const node = nodes[index];
    const row = "row" in node ? node.row : -1;
    mark(`#n${index}, tr[data-r="${row}"], .buffer[data-r="${row}"], ` +
      `#quality [data-node="${CSS.escape(node.name)}"]`, "chosen", true);
    mark(`.edges [data-f="${index}"], .edges [data-t="${index}"]`, "on", true);
    mark([...node.in, ...node.out].map((each) => "#n" + each).join() || "#none", "near", true);
    describe(index);
    if (move) reveal(index);
  };
  graph.addEventListener("click", (event) => {
    const node = event.target.closest(".node");
    if (node && moved <= 4) select(Number(node.dataset.n), false);
  });
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[data-n]");
    const buffer = event.target.closest(".buffer");
    const bar = event.target.closest("#quality [data-node]");
    if (link) {
      event.preventDefault();
      select(Number(link.dataset.n));
      byId("graph-section").scrollIntoView({ block: "start" });
    } else if (buffer && nodeOfRow.has(Number(buffer.dataset.r))) {
      select(nodeOfRow.get(Number(buffer.dataset.r)));
    } else if (bar) {
      const found = ops.find(([node]) => node.name === bar.dataset.node);
      if (found) select(found[1]);
    }
  });

  // --- keys of the graph, and its buttons
  const nearest = () => {
    const at = { x: view.x + view.width / 2, y: view.y + view.height / 2 };
    const distance = ([, i]) => { const c = centerOf(i); return Math.hypot(c.x - at.x, c.y - at.y); };
    return ops.reduce((best, each) => (distance(each) < distance(best) ? each : best))[1];
  };
  const step = (by) => {
    const at = ops.findIndex(([, i]) => i === chosen);
    const next = at < 0 ? (by > 0 ? 0 : ops.length - 1) : (at + by + ops.length) % ops.length;
    select(ops[next][1]);
  };
  const keys = {
    ArrowLeft: () => pan(-view.width / 12, 0), ArrowRight: () => pan(view.width / 12, 0),
    ArrowUp: () => pan(0, -view.height / 12), ArrowDown: () => pan(0, view.height / 12),
    "+": () => zoom(0.8), "=": () => zoom(0.8), "-": () => zoom(1.25), 0: showAll, Home: showAll,
    ".": () => step(1), ",": () => step(-1), Enter: () => select(nearest()), " ": () => select(nearest()),
  };
  graph.addEventListener("keydown", (event) => {
    if (!(event.key in keys) || event.ctrlKey || event.altKey || event.metaKey || !ops.length) return;
    event.preventDefault();
    keys[event.key]();
  });
  const buttons = { in: () => zoom(0.8), out: () => zoom(1.25), all: showAll };
  for (const button of document.querySelectorAll("[data-zoom]")) {
    button.addEventListener("click", () => buttons[button.dataset.zoom]());
  }

  // --- search: dims other nodes, hides other rows; Enter goes from match to match
  const search = byId("search"), found = byId("found");
  let hits = [], hit = -1;
  const textOf = (node) => [node.title, node.name, node.result, node.kernel, node.engine, node.where, node.text,
    node.module, node.target].join(" ").toLowerCase();
  const texts = nodes.map(textOf);
  search.addEventListener("input", () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    hits = nodes.map((_, i) => i).filter((i) => words.every((word) => texts[i].includes(word)));
    hit = -1;
    graph.classList.toggle("searching", words.length > 0);
    const matches = new Set(hits);
    nodes.forEach((_, i) => byId("n" + i).classList.toggle("hit", matches.has(i)));
    for (const row of table.tBodies[0].rows) row.hidden = !matches.has(nodeOfRow.get(Number(row.dataset.r)));
    found.textContent = words.length ? `${hits.length} found` : "";
  });
  search.addEventListener("keydown", (event) => {
    if (event.key === "Escape") { search.value = ""; search.dispatchEvent(new Event("input")); }
    if (event.key !== "Enter" || !hits.length || !search.value) return;
    hit = (hit + (event.shiftKey ? -1 : 1) + hits.length) % hits.length;
    select(hits[hit]);
    found.textContent = `${hit + 1} of ${hits.length}`;
  });

  // --- sorting: a column of numbers begins with the largest, except the first
  const headers = [...table.tHead.rows[0].cells];
  headers.forEach((header, column) => header.querySelector("button").addEventListener("click", () => {
    const number = header.classList.contains("num");
    const before = header.getAttribute("aria-sort");
    const up = before ? before === "descending" : !number || column === 0;
    for (const each of headers) each.removeAttribute("aria-sort");
    header.setAttribute("aria-sort", up ? "ascending" : "descending");
    const key = (row) => {
      const cell = row.cells[column];
      if (!number) return cell.textContent;
      return cell.dataset.v === undefined ? -Infinity : Number(cell.dataset.v);
    };
    const compare = (a, b) => (number ? key(a) - key(b) : key(a).localeCompare(key(b)));
    const rows = [...table.tBodies[0].rows].sort((a, b) => (up ? 1 : -1) * compare(a, b));
    table.tBodies[0].append(...rows);
  }));
})();
