// Tables that are wider than the page: say so at their edge, and let the keyboard scroll them.
document.addEventListener("DOMContentLoaded", () => {
  for (const box of document.querySelectorAll(".pst-scrollable-table-container, div.highlight > pre")) {
    const look = () => {
      const hidden = box.scrollWidth - box.clientWidth;
      box.classList.toggle("scrolls", hidden > 1);
      box.classList.toggle("more-to-come", hidden - box.scrollLeft > 1);
      if (hidden > 1) box.tabIndex = 0;
    };
    box.addEventListener("scroll", look, { passive: true });
    new ResizeObserver(look).observe(box);
    look();
  }
});
