// Tables and pictures that are wider than the page: say so at their edge, and let the keyboard scroll them.
// Heads of columns say what they are the heads of, for those who listen to a page.
document.addEventListener("DOMContentLoaded", () => {
  for (const head of document.querySelectorAll(".bd-article thead th")) head.scope = "col";
  const boxes = ".pst-scrollable-table-container, .bd-article :has(> img.wide), div.highlight > pre, .cell_output div.highlight";
  for (const box of document.querySelectorAll(boxes)) {
    const look = () => {
      const hidden = box.scrollWidth - box.clientWidth;
      box.classList.toggle("scrolls", hidden > 1);
      box.classList.toggle("more-to-come", hidden - box.scrollLeft > 1);
      if (hidden > 1) box.tabIndex = 0;
    };
    box.addEventListener("scroll", look, { passive: true });
    new ResizeObserver(look).observe(box);
    box.querySelector("img")?.addEventListener("load", look);
    look();
  }
});
