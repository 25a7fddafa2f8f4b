(function () {
  "use strict";
  function all(selector, within) { return Array.prototype.slice.call((within || document).querySelectorAll(selector)); }
  // Sorting: a column's title orders all rows of its table. The heading over a group goes into each of its rows, which then may part.
  function ungroup(table) {
    var bodies = all("tbody", table);
    bodies.forEach(function (body) {
      var name = "";
      all("tr", body).forEach(function (row) {
        if (row.cells.length === 1 && bodies.length > 1) { name += row.textContent + ", "; row.remove(); return; }
        row.cells[0].prepend(name);
        bodies[0].appendChild(row);
      });
    });
  }
  all("table.sortable thead th").forEach(function (th) {
    th.setAttribute("aria-sort", "none");
    th.tabIndex = 0;
    function sort() {
      var index = all("th", th.parentNode).indexOf(th), table = th.closest("table");
      var up = th.getAttribute("aria-sort") !== "ascending";
      all("th", th.parentNode).forEach(function (other) { other.setAttribute("aria-sort", "none"); });
      th.setAttribute("aria-sort", up ? "ascending" : "descending");
      if (!table.dataset.flat) { table.dataset.flat = "yes"; ungroup(table); }
      var body = table.querySelector("tbody");
      function key(row) { return row.cells[index].textContent.trim(); }
      function number(text) { return parseFloat(text.replace(/,/g, "").replace(/^[^\d.-]+/, "")); }
      all("tr", body).sort(function (a, b) {
        var x = key(a), y = key(b), p = number(x), q = number(y);
        // A column of names is one of words even where names have digits.
        var words = index === 0 || isNaN(p) && isNaN(q);
        var order = words ? x.localeCompare(y, undefined, { numeric: true }) : isNaN(p) || isNaN(q) ? isNaN(p) - isNaN(q) : p - q;
        return up ? order : -order;
      }).forEach(function (row) { body.appendChild(row); });
    }
    th.addEventListener("click", sort);
    th.addEventListener("keydown", function (event) {
      if (event.key === "Enter" || event.key === " ") { event.preventDefault(); sort(); }
    });
  });
  // Tooltips at once instead of after the browser's pause; with the arrow keys too, once a chart has the focus.
  var tip = document.createElement("div");
  tip.id = "tip";
  tip.hidden = true;
  tip.setAttribute("role", "status");
  document.body.appendChild(tip);
  function show(text, x, y) {
    tip.textContent = text;
    tip.hidden = false;
    tip.style.left = Math.max(4, Math.min(x + 14, innerWidth - 330)) + "px";
    tip.style.top = y + 14 + "px";
  }
  all("svg.chart").forEach(function (chart) {
    var marks = all(".mark > title", chart).map(function (title) {
      var mark = title.parentNode, text = title.textContent;
      title.remove();
      mark.addEventListener("mousemove", function (event) { show(text, event.clientX, event.clientY); });
      mark.addEventListener("mouseleave", function () { tip.hidden = true; });
      return { mark: mark, text: text };
    });
    var at = -1;
    function leave() { if (at >= 0) { marks[at].mark.classList.remove("here"); } tip.hidden = true; }
    if (!marks.length) { return; }
    chart.setAttribute("tabindex", "0");
    chart.addEventListener("blur", leave);
    chart.addEventListener("keydown", function (event) {
      var step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      if (event.key === "Escape") { leave(); }
      if (!step) { return; }
      event.preventDefault();
      leave();
      at = (Math.max(at, step < 0 ? 0 : -1) + step + marks.length) % marks.length;
      marks[at].mark.classList.add("here");
      var box = marks[at].mark.getBoundingClientRect();
      show(marks[at].text, box.right, box.bottom);
    });
  });
  // What a link points into is opened. What is closed is not printed, so there is a button that opens everything.
  function open() {
    var target = location.hash.length > 1 && document.getElementById(location.hash.slice(1));
    for (var at = target; at; at = at.parentElement) { if (at.tagName === "DETAILS") { at.open = true; } }
  }
  addEventListener("hashchange", open);
  open();
  var button = document.getElementById("open-all");
  button.hidden = false;
  button.addEventListener("click", function () { all("details").forEach(function (it) { it.open = true; }); });
})();
