// Runs before the first paint, so that the chosen theme never flashes. The choice stays in this browser.
(() => {
  let theme = null;
  try { theme = localStorage.getItem("theme"); } catch { /* storage refused: the system's theme it is */ }
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
})();
