// The calculator: predictRisk, calculatorItems, calculatorFamilies, calculatorVariables (empty
// where items are asked for) and calculatorShift are defined above.
(function () {
  "use strict";
  const form = document.getElementById("calculator");
  const inputs = calculatorItems.map((_, k) => document.getElementById("item-" + k));
  // 3 times 0.1 is shown as 0.3, not with the error of its last digit.
  const digits = (number) => (Number.isInteger(number) ? number : Number(number.toPrecision(12)));
  const shown = (number) => String(digits(number)).replace(/-/g, "\u2212");

  const choices = calculatorVariables.map((_, v) => document.getElementById("variable-" + v));

  // The band that was chosen of a variable; undefined where none was.
  function bandOf(v) {
    const choice = choices[v];
    return choice && choice.value !== "" ? calculatorVariables[v].bands[choice.value] : undefined;
  }

  // The value of an item; NaN where there is none yet.
  function valueOf(k) {
    const input = inputs[k];
    if (!input) {
      const v = calculatorVariables.findIndex((one) => one.items.includes(k));
      const band = bandOf(v);
      return band ? band.values[calculatorVariables[v].items.indexOf(k)] : NaN;
    }
    if (calculatorItems[k].isCondition) {
      return input.checked !== calculatorItems[k].isTurned ? 1 : 0;
    }
    return input.value === "" ? NaN : Number(input.value);
  }

  // As in the risk table: beyond 0.1% and 99.9% a bound.
  function percent(risk) {
    if (risk < 0.001) {
      return "<0.1%";
    }
    return risk > 0.999 ? ">99.9%" : (100 * risk).toFixed(1) + "%";
  }

  function noteOn(values) {
    const open = calculatorVariables.filter((one) => Number.isNaN(values[one.items[0]]));
    const items = calculatorItems.filter((_, k) => inputs[k] && Number.isNaN(values[k]));
    const missing = calculatorVariables.length ? open : items;
    if (missing.length) {
      return "Still to be entered: " + missing.map((one) => one.label).join(", ") + ".";
    }
    const outside = calculatorItems.filter(
      (item, k) => values[k] < item.minimum || values[k] > item.maximum
    );
    if (outside.length) {
      const names = outside.map((item) => item.label + " (" + item.range + ")");
      return "Beyond the values that the score was learned on: " + names.join(", ") + ".";
    }
    return "";
  }

  function show(score, risk, note) {
    document.getElementById("calculator-score").textContent = score;
    document.getElementById("calculator-risk").textContent = risk;
    document.getElementById("calculator-note").textContent = note;
  }

  function update() {
    const values = inputs.map((_, k) => valueOf(k));
    calculatorItems.forEach((item, k) => {
      if (!inputs[k]) {
        return;
      }
      const points = item.points * (item.isTurned ? values[k] - 1 : values[k]);
      document.getElementById("points-" + k).textContent = Number.isNaN(points)
        ? "\u2026"
        : shown(points);
    });
    choices.forEach((choice, v) => {
      if (choice) {
        const band = bandOf(v);
        document.getElementById("worth-of-" + v).textContent = band ? shown(band.points) : "\u2026";
      }
    });
    const note = noteOn(values);
    if (values.some(Number.isNaN)) {
      delete form.dataset.risk;
      delete form.dataset.score;
      show("\u2026", "\u2026", note);
      return;
    }
    // Made of pairs, a name such as __proto__ becomes a property like any other.
    const record = Object.fromEntries(calculatorItems.map((item, k) => [item.name, values[k]]));
    try {
      const result = predictRisk(record);
      form.dataset.risk = String(result.risk);
      form.dataset.score = String(result.score);
      show(shown(result.score + calculatorShift), percent(result.risk), note);
    } catch (error) {
      show("\u2026", "\u2026", error.message);
    }
  }

  // What was ticked or unticked stays; of what can be true with it, the conditions on the same
  // variable take what changes the fewest of them.
  function settle(input) {
    const k = inputs.indexOf(input);
    const family = calculatorFamilies.find((one) => one.items.includes(k));
    if (!family) {
      return;
    }
    settleFamily(family, family.items.indexOf(k));
  }

  // Takes the conditions of a family to what can be true of them, with one of them as it is.
  function settleFamily(family, place) {
    const before = family.items.map(valueOf);
    const changes = (pattern) => pattern.filter((value, j) => value !== before[j]).length;
    const possible = family.patterns.filter(
      (pattern) => place < 0 || pattern[place] === before[place]
    );
    if (!possible.length) {
      return; // a condition that never holds
    }
    const nearest = possible.reduce((best, one) => (changes(one) < changes(best) ? one : best));
    family.items.forEach((item, j) => {
      inputs[item].checked = (nearest[j] === 1) !== calculatorItems[item].isTurned;
    });
  }

  // Without ticks conditions that are turned round all hold, which may be a contradiction.
  function begin() {
    if (!calculatorVariables.length) {
      calculatorFamilies.forEach((family) => settleFamily(family, -1));
    }
    update();
  }

  form.addEventListener("input", (event) => {
    settle(event.target);
    update();
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  // The inputs are empty only after the event.
  form.addEventListener("reset", () => setTimeout(begin, 0));
  form.hidden = false;
  begin();
})();
