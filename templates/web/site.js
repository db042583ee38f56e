// Remembers the language that a reader chose, for the pages that exist in all of them. Nothing here is needed to read.
(() => {
  const key = "reading";
  const kept = () => { try { return localStorage.getItem(key); } catch { return null; } };
  document.querySelectorAll("[data-reading]").forEach((link) => {
    link.addEventListener("click", () => { try { localStorage.setItem(key, link.dataset.reading); } catch { /* private window */ } });
    if (link.getAttribute("aria-current") && link.dataset.reading === "both") {
      const wanted = kept();
      const other = wanted && wanted !== "both" && document.querySelector(`[data-reading="${CSS.escape(wanted)}"]`);
      if (other && !location.hash) location.replace(other.href);
    }
  });
})();
