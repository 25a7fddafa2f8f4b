// Filters the list of runs by what is typed.
"use strict";
const field = document.getElementById("filter");
field.addEventListener("input", () => {
  const wanted = field.value.toLowerCase();
  for (const row of document.getElementById("runs").rows) {
    row.hidden = !row.textContent.toLowerCase().includes(wanted);
  }
});
