// The keyboard reaches code and tables that scroll, and the theme's buttons for copying code are no landmarks.
(function () {
  "use strict";

  function mend() {
    for (const box of document.querySelectorAll("pre > code, .md-typeset__scrollwrap")) {
      if (box.scrollWidth > box.clientWidth && !box.hasAttribute("tabindex")) box.tabIndex = 0;
    }
    for (const nav of document.querySelectorAll("nav.md-code__nav:not([role])")) nav.setAttribute("role", "none");
  }

  new MutationObserver(mend).observe(document.body, { childList: true, subtree: true });
  addEventListener("resize", mend);
  addEventListener("load", mend);
})();
