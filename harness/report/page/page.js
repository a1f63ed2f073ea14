(function () {
  "use strict";
  var scenarios = Array.prototype.slice.call(document.querySelectorAll(".scenario"));
  var areas = Array.prototype.slice.call(document.querySelectorAll(".area"));
  var chips = Array.prototype.slice.call(document.querySelectorAll(".chip"));
  var area = document.getElementById("area"), need = document.getElementById("need");
  var words = document.getElementById("words"), shown = document.getElementById("shown"), none = document.getElementById("none");
  var text = scenarios.map(function (s) { return (s.id + " " + s.textContent).toLowerCase(); });

  function apply() {
    var verdicts = chips.filter(function (c) { return c.getAttribute("aria-pressed") === "true"; }).map(function (c) { return c.dataset.verdict; });
    var wanted = words.value.toLowerCase().split(/\s+/).filter(Boolean);
    var count = 0;
    scenarios.forEach(function (s, i) {
      var ok = (!verdicts.length || verdicts.indexOf(s.dataset.verdict) >= 0)
        && (!area.value || s.parentNode.dataset.area === area.value)
        && (!need.value || s.dataset.needs.split(" ").indexOf(need.value) >= 0)
        && wanted.every(function (w) { return text[i].indexOf(w) >= 0; });
      s.hidden = !ok;
      if (ok) { count++; }
    });
    areas.forEach(function (a) {
      var first = a.querySelector(".scenario:not([hidden])");
      a.hidden = !first;
      a.querySelectorAll(".first").forEach(function (s) { s.classList.remove("first"); });
      if (first) { first.classList.add("first"); }
    });
    shown.textContent = count === scenarios.length ? "" : count + " of " + scenarios.length;
    none.hidden = count > 0;
    var state = new URLSearchParams();
    if (verdicts.length) { state.set("verdict", verdicts.join(" ")); }
    if (area.value) { state.set("area", area.value); }
    if (need.value) { state.set("need", need.value); }
    if (words.value) { state.set("words", words.value); }
    try { history.replaceState(null, "", state.toString() ? "?" + state : location.pathname + location.hash); } catch (e) { /* a page opened from disk may not */ }
  }

  var state = new URLSearchParams(location.search);
  chips.forEach(function (c) {
    c.setAttribute("aria-pressed", String((state.get("verdict") || "").split(" ").indexOf(c.dataset.verdict) >= 0));
    c.addEventListener("click", function () {
      c.setAttribute("aria-pressed", String(c.getAttribute("aria-pressed") !== "true"));
      apply();
    });
  });
  area.value = state.get("area") || "";
  need.value = state.get("need") || "";
  words.value = state.get("words") || "";
  [area, need].forEach(function (e) { e.addEventListener("change", apply); });
  words.addEventListener("input", apply);
  apply();

  function reveal() {
    var s = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (s && s.classList.contains("scenario")) { s.hidden = false; s.open = true; s.scrollIntoView(); }
  }
  window.addEventListener("hashchange", reveal);
  reveal();

  document.addEventListener("click", function (e) {
    if (!e.target.classList.contains("copy")) { return; }
    var line = e.target.parentNode.querySelector("code").textContent;
    if (navigator.clipboard) {
      navigator.clipboard.writeText(line).then(function () { e.target.textContent = "copied"; }, function () { e.target.textContent = "not copied"; });
    }
  });
})();
