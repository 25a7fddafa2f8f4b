// Measures the layout of the page in the frame and writes problems into `faults`, one per line.
const frame = document.getElementById("page");
frame.addEventListener("load", () => {
  const page = frame.contentDocument, view = frame.contentWindow, found = new Set();
  const say = (kind, text) => found.add(kind + ": " + text.replace(/\s+/g, " ").trim().slice(0, 120));
  const isShown = (element) => element.getClientRects().length > 0;
  const shown = (selector, within) => [...(within || page).querySelectorAll(selector)].filter(isShown);
  const extent = (node, from, to) => {
    const range = page.createRange();
    if (from === undefined) { range.selectNodeContents(node); } else { range.setStart(node, from); range.setEnd(node, to); }
    return range.getBoundingClientRect();
  };
  const width = page.documentElement.clientWidth;
  // The first screen shows the tiles, and a wide one the beginning of the chart as well.
  for (const tiles of shown(".tiles")) {
    const box = tiles.getBoundingClientRect(), chart = shown("figure svg")[0];
    if (!isPaper && (box.top > 420 || width > 1000 && (box.bottom > 900 || chart && chart.getBoundingClientRect().top > 800))) { say("late", tiles.textContent); }
  }
  if (!isPaper) { page.querySelectorAll("details").forEach((it) => { it.open = true; }); }
  if (!isPaper && page.documentElement.scrollWidth > width) { say("wider than the page", page.documentElement.scrollWidth + " > " + width); }
  for (const part of shown(".scroll,.wide")) {
    if (!isPaper && part.scrollWidth > part.clientWidth + 1) { say("sideways", part.textContent); }
  }
  for (const heading of shown("th.group")) {
    if (extent(heading).right > heading.closest(".wide").getBoundingClientRect().right + 1) { say("group cut", heading.textContent); }
  }
  // Words of settings may be longer than a line; Japanese breaks between characters, and Korean before a unit.
  for (const element of shown("th,td.l,li,dd,dt,summary,h1,h2,h3,figcaption strong,p").filter((it) => !it.closest(".kv,pre"))) {
    const texts = page.createTreeWalker(element, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
      const text = texts.currentNode;
      for (const { 0: figure, index } of text.data.matchAll(/(?<![A-Za-z][\d.,]*)\d\s(?:%|(?:s|ms|µs|min|h|KB|MB|GB)(?![A-Za-z0-9]))/gu)) {
        const first = extent(text, index, index + 1), last = extent(text, index + figure.length - 1, index + figure.length);
        if (last.top > first.top + 4) { say("unit apart", text.data); }
      }
      for (const { 0: particle, index } of text.data.matchAll(/[%)]\u2060?\p{Script=Hangul}/gu)) {
        const sign = extent(text, index, index + 1), last = extent(text, index + particle.length - 1, index + particle.length);
        if (last.top > sign.top + 4) { say("particle apart", text.data); }
      }
      for (const { 0: word, index } of text.data.matchAll(/[\p{L}\p{N}_.,+]{3,}/gu)) {
        const first = extent(text, index, index + 1), last = extent(text, index + word.length - 1, index + word.length);
        if (last.top > first.top + 4 && !/[\u3040-\u30ff\u4e00-\u9fff]/.test(word)) { say("word broken", word); }
      }
    }
  }
  for (const chip of shown(".chip")) {
    const style = view.getComputedStyle(chip);
    if (style.color === style.backgroundColor) { say("unreadable", chip.textContent); }
  }
  const blocks = shown("main *").filter((it) => /^(H[23]|P|TABLE|FIGURE|UL|DL|PRE|DETAILS)$/.test(it.tagName) && it.getBoundingClientRect().height > 0);
  blocks.forEach((it, at) => {
    const next = blocks[at + 1], isHeading = /^H[23]$/.test(it.tagName);
    const isBare = isHeading && (!next || /^H[23]$/.test(next.tagName) && !(it.tagName === "H2" && next.tagName === "H3"));
    if (isBare) { say("bare heading", it.textContent); }
  });
  for (const chart of shown("svg")) {
    const all = chart.getBoundingClientRect(), scale = all.width / chart.viewBox.baseVal.width;
    const name = (chart.closest("figure") || {}).id + " ";
    // The line height of a font exceeds the height of its letters.
    const labels = shown("text", chart).filter((label) => label.textContent).map((label) => {
      const box = label.getBoundingClientRect(), size = parseFloat(view.getComputedStyle(label).fontSize) * scale;
      const middle = (box.top + box.bottom) / 2, isUpright = box.height > 1.5 * box.width;
      const high = isUpright ? box : { top: middle - 0.38 * size, bottom: middle + 0.38 * size };
      return { text: label.textContent, size, left: box.left, right: box.right, top: high.top, bottom: high.bottom };
    });
    labels.forEach((one, at) => {
      if (one.left < all.left - 4 || one.right > all.right + 4 || one.top < all.top - 4 || one.bottom > all.bottom + 4) { say("outside", name + one.text); }
      if (one.text.endsWith("…")) { say("cut", name + one.text); }
      if (one.size < 8) { say("small", name + one.size); }
      for (const other of labels.slice(at + 1)) {
        const across = Math.min(one.right, other.right) - Math.max(one.left, other.left);
        const down = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top);
        if (across > 1.5 && down > 1) { say("overlap", name + one.text + " | " + other.text); }
      }
    });
  }
  document.getElementById("faults").textContent = "measured\n" + [...found].join("\n");
});
