// The page /search as a dialog, with results while typing. Loaded when it is opened for the first time.
const TYPING_MS = 120;
/** API keys must not get into addresses. */
const SECRET = /^\s*sk-\S{20,}/;

async function searchPage(text) {
  const answer = await fetch(`/search?q=${encodeURIComponent(text)}`, { headers: { accept: 'text/html' } });
  return new DOMParser().parseFromString(await answer.text(), 'text/html');
}

const stops = (dialog) => [...dialog.querySelectorAll('input, #results a')];

function move(dialog, event) {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!step) return;
  const all = stops(dialog);
  event.preventDefault();
  all[(all.indexOf(document.activeElement) + step + all.length) % all.length].focus();
}

async function update(dialog, input) {
  const { value } = input;
  const fresh = (await searchPage(SECRET.test(value) ? '' : value)).getElementById('results');
  // Only the latest text counts.
  if (fresh && value === input.value) dialog.querySelector('#results').replaceWith(fresh);
}

export async function open() {
  if (document.querySelector('dialog[open]')) return;
  const content = (await searchPage('')).getElementById('search');
  if (!content) throw new Error('The search is not available.');
  const dialog = document.createElement('dialog');
  dialog.className = 'palette';
  dialog.setAttribute('aria-label', 'Search');
  dialog.append(content);
  document.body.append(dialog);
  const input = dialog.querySelector('input');
  let timer;
  input.addEventListener('input', () => {
    clearTimeout(timer);
    timer = setTimeout(() => void update(dialog, input), TYPING_MS);
  });
  // Enter opens the first result, once the results are those of the text.
  dialog.querySelector('form').addEventListener('submit', (event) => {
    event.preventDefault();
    clearTimeout(timer);
    void update(dialog, input).then(() => dialog.querySelector('#results a')?.click());
  });
  dialog.addEventListener('keydown', (event) => move(dialog, event));
  dialog.addEventListener('click', (event) => event.target === dialog && dialog.close());
  dialog.addEventListener('close', () => dialog.remove());
  dialog.showModal();
  input.focus();
}
