// The filters of the alternatives: alternativeSets (items of each score by number),
// alternativeVariables (the variable of each item), alternativeAbove and alternativeTexts (how far
// each score is above the best) and alternativeKnown (up to where the page has every set; null where
// it has all) are defined above.
(function () {
  "use strict";
  const form = document.getElementById("alternatives-filters");
  const at = (kind, n) => Array.from({ length: n }, (_, k) => document.getElementById(kind + k));
  const rows = [...document.querySelectorAll("#alternatives-list tbody tr")];
  const columns = [...document.querySelectorAll("#alternatives-picture .score")];
  const nVariables = alternativeVariables.length ? Math.max(...alternativeVariables) + 1 : 0;
  const ofVariables = at("alternatives-variable-", nVariables);
  const ofItems = at("alternatives-item-", alternativeVariables.length);
  const variables = alternativeSets.map((items) => new Set(items.map((k) => alternativeVariables[k])));
  const sets = alternativeSets.map((items) => new Set(items));

  // True if a score has what is asked for and lacks what is not wanted.
  function fits(controls, has) {
    return controls.every((one, k) => !one || !one.value || (one.value === "with") === has.has(k));
  }

  // The largest number that an input allows; without one, or with what is no number, any.
  function limit(id) {
    const value = document.getElementById(id).value;
    return value === "" || Number.isNaN(Number(value)) ? Infinity : Number(value);
  }

  function best(rank) {
    return rank === 0
      ? "The best score of all, of rank 0, is among them."
      : "The best of them has rank " + rank + ", " + alternativeTexts[rank] + " above the best.";
  }

  // What is known of all scores where none is left: none with an objective below both limits.
  function nothing(above) {
    const known = alternativeKnown === null ? Infinity : 100 * alternativeKnown;
    const least = Math.min(above, known);
    if (least === Infinity) {
      return "None is left: no score that meets the requirements has what you ask for.";
    }
    if (!(least > 0)) {
      return "None is left.";
    }
    const text = String(Number(least.toPrecision(12)));
    return "None is left: no score less than " + text + "% above the best has what you ask for.";
  }

  function update() {
    const size = limit("alternatives-size");
    const above = limit("alternatives-above");
    const left = sets.map(
      (items, k) =>
        variables[k].size <= size &&
        100 * alternativeAbove[k] <= above + 1e-9 &&
        fits(ofVariables, variables[k]) &&
        fits(ofItems, items)
    );
    rows.forEach((row, k) => {
      row.hidden = !left[k];
    });
    columns.forEach((column, k) => {
      column.classList.toggle("off", !left[k]);
    });
    const count = left.filter(Boolean).length;
    const first = left.indexOf(true);
    document.getElementById("alternatives-count").textContent =
      count + " of " + sets.length + (sets.length === 1 ? " score" : " scores");
    document.getElementById("alternatives-best").textContent = count ? best(first) : nothing(above);
  }

  form.addEventListener("input", update);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(update, 0));
  form.hidden = false;
  update();
})();
