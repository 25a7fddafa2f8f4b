(function () {
  "use strict";
  // Sorting: a click on a column's title orders the rows of its table; groups stay together.
  document.querySelectorAll("table.sortable thead th").forEach(function (th) {
    th.setAttribute("aria-sort", "none");
    th.tabIndex = 0;
    function sort() {
      var index = Array.prototype.indexOf.call(th.parentNode.children, th);
      var up = th.getAttribute("aria-sort") !== "ascending";
      th.parentNode.querySelectorAll("th").forEach(function (other) { other.setAttribute("aria-sort", "none"); });
      th.setAttribute("aria-sort", up ? "ascending" : "descending");
      th.closest("table").querySelectorAll("tbody").forEach(function (body) {
        var rows = Array.prototype.slice.call(body.rows).filter(function (row) { return row.cells.length > 1; });
        function key(row) { return row.cells[index].dataset.v || row.cells[index].textContent.trim(); }
        rows.sort(function (a, b) {
          var x = key(a), y = key(b), p = parseFloat(x.replace(/,/g, "")), q = parseFloat(y.replace(/,/g, ""));
          var order = isNaN(p) || isNaN(q) ? (isNaN(p) - isNaN(q)) || x.localeCompare(y) : p - q;
          return up ? order : -order;
        });
        rows.forEach(function (row) { body.appendChild(row); });
      });
    }
    th.addEventListener("click", sort);
    th.addEventListener("keydown", function (event) { if (event.key === "Enter") { sort(); } });
  });
  // Tooltips at once instead of after the browser's pause.
  var tip = document.createElement("div");
  tip.id = "tip";
  tip.hidden = true;
  document.body.appendChild(tip);
  document.querySelectorAll(".mark > title").forEach(function (title) {
    var mark = title.parentNode, text = title.textContent;
    mark.addEventListener("mousemove", function (event) {
      title.textContent = "";
      tip.textContent = text;
      tip.hidden = false;
      tip.style.left = Math.min(event.clientX + 14, innerWidth - 330) + "px";
      tip.style.top = event.clientY + 14 + "px";
    });
    mark.addEventListener("mouseleave", function () { title.textContent = text; tip.hidden = true; });
  });
  // What a link points into is opened; on paper everything but the deepest details is.
  function open() {
    var target = location.hash.length > 1 && document.getElementById(location.hash.slice(1));
    for (var at = target; at; at = at.parentElement) { if (at.tagName === "DETAILS") { at.open = true; } }
  }
  addEventListener("hashchange", open);
  open();
  addEventListener("beforeprint", function () {
    document.querySelectorAll("details:not(.deep)").forEach(function (d) { d.open = true; });
  });
})();
