// The search page: asks the index that was built beside the pages, and shows hits as text, never as markup of a feed.
(async () => {
  const form = document.querySelector("form.search");
  const input = form.querySelector("input");
  const list = document.querySelector("#hits");
  const count = document.querySelector("#count");
  const more = document.querySelector("#more");
  const PAGE = 10;
  let index = null;
  let asked = 0;

  // Pagefind gives an excerpt with <mark> around the hits and everything else escaped; only those two tags are believed.
  const plain = document.createElement("textarea"); // reads &amp; and the like; nothing in it is ever markup
  const marked = (html, into) => {
    html.split(/(<mark>|<\/mark>)/).reduce((inside, part) => {
      if (part === "<mark>") return true;
      if (part === "</mark>") return false;
      plain.innerHTML = part;
      const node = document.createElement(inside ? "mark" : "span");
      node.textContent = plain.value;
      into.append(node);
      return inside;
    }, false);
  };

  const show = async (results, from) => {
    const turn = asked;
    const found = await Promise.all(results.slice(from, from + PAGE).map((result) => result.data()));
    if (turn !== asked) return;
    for (const hit of found) {
      const item = document.createElement("li");
      item.className = "line";
      const heading = document.createElement("h2");
      heading.className = "headline";
      const link = document.createElement("a");
      link.href = hit.url;
      link.textContent = hit.meta.title;
      heading.append(link);
      const words = document.createElement("p");
      words.className = "blurb";
      marked(hit.excerpt, words);
      item.append(heading, words);
      list.append(item);
    }
    more.hidden = from + PAGE >= results.length;
    more.onclick = () => show(results, from + PAGE);
  };

  const search = async () => {
    const turn = (asked += 1);
    const query = input.value.trim();
    history.replaceState(null, "", query ? `?q=${encodeURIComponent(query)}` : location.pathname);
    const answer = query ? await index.search(query) : { results: [] };
    if (turn !== asked) return;
    list.replaceChildren();
    more.hidden = true;
    if (!query) count.textContent = "";
    else count.textContent = answer.results.length ? form.dataset.found.replace("{number}", answer.results.length) : form.dataset.none;
    await show(answer.results, 0);
  };

  try {
    index = await import(new URL(form.dataset.index, location.href).href);
    await index.options({ excerptLength: 60 });
    await index.init();
    form.hidden = false;
    form.addEventListener("submit", (event) => { event.preventDefault(); search(); });
    let waiting = 0;
    input.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(search, 150); });
    input.value = new URLSearchParams(location.search).get("q") || "";
    input.focus();
    if (input.value) search();
  } catch {
    count.textContent = form.dataset.broken;
  }
})();
