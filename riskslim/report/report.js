// The calculator: predictRisk, calculatorItems, calculatorFamilies, calculatorVariables (empty
// where items are asked for), calculatorNumbers (raw numbers that conditions are computed from),
// calculatorRisks (what was observed) and calculatorDecision (what positive is; null without a
// threshold) are defined above.
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
      return band ? band.patterns[0][calculatorVariables[v].items.indexOf(k)] : NaN;
    }
    if (calculatorItems[k].isCondition) {
      return input.checked !== calculatorItems[k].isTurned ? 1 : 0;
    }
    return input.value === "" ? NaN : Number(input.value);
  }

  const numbers = calculatorNumbers.map((_, n) => document.getElementById("number-" + n));
  const compare = {
    ">=": (x, value) => x >= value,
    "<=": (x, value) => x <= value,
    ">": (x, value) => x > value,
    "<": (x, value) => x < value,
  };

  // What a condition is for a number: 1 or 0. Special values meet no cut-off.
  function holds(test, x, special) {
    if (test.kind in compare) {
      return !special.includes(x) && compare[test.kind](x, test.values[0]) ? 1 : 0;
    }
    return test.values.includes(x) ? 1 : 0;
  }

  // Without its number a variable is as in the beginning: nothing of one record stays for the next.
  function clear(one) {
    if (calculatorVariables.length) {
      calculatorVariables.forEach((variable, v) => {
        if (variable.items.every((k) => one.items.includes(k))) {
          choices[v].value = "";
        }
      });
      return;
    }
    one.items.forEach((k) => {
      inputs[k].checked = false;
    });
    calculatorFamilies.forEach((family) => {
      if (family.items.some((k) => one.items.includes(k))) {
        settleFamily(family, -1);
      }
    });
  }

  // A raw number sets the conditions on it, or the band of its variable.
  function enter(n) {
    const one = calculatorNumbers[n];
    if (numbers[n].value === "") {
      clear(one);
      return;
    }
    const x = Number(numbers[n].value);
    const pattern = one.tests.map((test) => holds(test, x, one.special));
    if (!calculatorVariables.length) {
      one.items.forEach((k, j) => {
        inputs[k].checked = (pattern[j] === 1) !== calculatorItems[k].isTurned;
      });
      return;
    }
    calculatorVariables.forEach((variable, v) => {
      if (!variable.items.every((k) => one.items.includes(k))) {
        return;
      }
      const values = variable.items.map((k) => pattern[one.items.indexOf(k)]);
      const fits = (other) =>
        other.patterns.some((row) => row.every((value, j) => value === values[j]));
      // Special values have bands of their own, in words; as numbers they would fit others, too.
      const special = one.special.includes(x);
      let band = variable.bands.findIndex((other) => other.isText === special && fits(other));
      if (band < 0) {
        band = variable.bands.findIndex(fits);
      }
      choices[v].value = band < 0 ? "" : String(band);
    });
  }

  // What is ticked or chosen by hand is no longer what a number says.
  function forget(input) {
    const v = choices.indexOf(input);
    const items = v < 0 ? [inputs.indexOf(input)] : calculatorVariables[v].items;
    calculatorNumbers.forEach((one, n) => {
      if (one.items.some((k) => items.includes(k))) {
        numbers[n].value = "";
      }
    });
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
      const names = missing.slice(0, 3).map((one) => one.label).join(", ");
      const more = missing.length > 3 ? " and " + (missing.length - 3) + " more" : "";
      return "Still to be entered: " + names + more + ".";
    }
    const far = calculatorNumbers.filter((one, n) => {
      const x = numbers[n].value === "" ? NaN : Number(numbers[n].value);
      return one.minimum !== null && !one.special.includes(x) && (x < one.minimum || x > one.maximum);
    });
    const outside = calculatorItems.filter(
      (item, k) => values[k] < item.minimum || values[k] > item.maximum
    );
    if (outside.length || far.length) {
      const names = [...outside, ...far].map((one) => one.label + " (" + one.range + ")");
      return "Beyond the values that the score was learned on: " + names.join(", ") + ".";
    }
    return "";
  }

  // What was observed at a score, if the risk table has it.
  function observedAt(score) {
    const row = calculatorRisks.filter((one) => one.lowest <= score).pop();
    return row && (score <= row.highest || row === calculatorRisks[calculatorRisks.length - 1])
      ? row.text
      : "";
  }

  function show(score, risk, note, observed = "", decision = "") {
    document.getElementById("calculator-decision").textContent = decision;
    document.getElementById("calculator-observed").textContent = observed;
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
      const decision = calculatorDecision
        ? calculatorDecision[result.positive ? "positive" : "negative"]
        : "";
      show(shown(result.score), percent(result.risk), note, observedAt(result.score), decision);
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
    const n = numbers.indexOf(event.target);
    if (n >= 0) {
      enter(n);
    } else {
      settle(event.target);
      forget(event.target);
    }
    update();
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  // The inputs are empty only after the event.
  form.addEventListener("reset", () => setTimeout(begin, 0));
  form.hidden = false;
  begin();
})();
