// Keeps the question in the address, and the last questions of this tab in a list. The page works without it.
"use strict";
(() => {
  const page = document.getElementById("questions");
  if (!page) return;
  const key = `sottovoce.questions.${page.dataset.task}`;
  const most = 20;

  const stored = () => {
    try {
      const list = JSON.parse(sessionStorage.getItem(key) ?? "[]");
      return Array.isArray(list) ? list.filter((entry) => typeof entry === "string") : [];
    } catch {
      return [];
    }
  };

  const asked = page.dataset.address;
  let questions = stored();
  if (asked) {
    history.replaceState(null, "", asked + location.hash);
    questions = [asked, ...questions.filter((entry) => entry !== asked)].slice(0, most);
    try {
      sessionStorage.setItem(key, JSON.stringify(questions));
    } catch {
      // Without storage there is no history.
    }
  }

  const list = page.querySelector("ul");
  for (const address of questions) {
    const url = new URL(address, location.href);
    if (url.origin !== location.origin || url.pathname !== location.pathname) continue;
    const code = document.createElement("code");
    code.textContent = url.searchParams.get("sql") ?? "";
    const link = document.createElement("a");
    link.href = url.pathname + url.search;
    link.append(code);
    const item = document.createElement("li");
    item.append(link);
    list.append(item);
  }
  page.hidden = list.childElementCount === 0;
})();
