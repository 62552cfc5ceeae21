/* Behind the script of a page of gradus theatre, for test_theatre.py: plays with it and leaves what was seen in a text. */
"use strict";
(() => {
  const text = id => document.getElementById(id).textContent, seen = [];
  const look = () => seen.push({
    step: text("step"), caption: text("caption"), lanes: document.querySelectorAll("#lanes .on").length,
    line: [...document.querySelectorAll("#lines tr.now")].map(row => row.cells[0].textContent).join(),
    drawn: document.querySelectorAll("#memory rect").length, overflow: document.documentElement.scrollWidth > innerWidth,
  });
  const press = (key, shiftKey = false) => document.dispatchEvent(new KeyboardEvent("keydown", {key, shiftKey, bubbles: true}));
  press("Home"), look();
  press("ArrowRight"), look();
  press("ArrowRight", true), look();
  press("End"), look();
  press("ArrowDown"), look();
  press("Home"), look();
  const slider = document.getElementById("slider");
  slider.value = 2, slider.dispatchEvent(new Event("input")), look();
  document.getElementById("play").click(), look();
  const probe = document.createElement("pre");
  probe.id = "probe";
  probe.textContent = JSON.stringify(seen);
  document.body.append(probe);
})();
