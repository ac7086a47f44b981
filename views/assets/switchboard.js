// Only makes things easier: every page works without it.
const live = document.createElement('p');
live.className = 'sr';
live.setAttribute('aria-live', 'polite');
document.body.append(live);

const COPIED_MS = 2000;

// data-copy="id of the source", or the code beside the button.
async function copy(button) {
  const source = button.dataset.copy
    ? document.getElementById(button.dataset.copy)
    : button.parentElement.querySelector('code');
  if (!source || button.dataset.busy) return;
  try {
    await navigator.clipboard.writeText(source.textContent);
  } catch {
    getSelection().selectAllChildren(source);
    live.textContent = 'Press Ctrl+C to copy';
    return;
  }
  const before = [...button.childNodes];
  button.dataset.busy = '1';
  button.replaceChildren('Copied');
  button.classList.add('btn--copied');
  live.textContent = 'Copied';
  setTimeout(() => {
    button.replaceChildren(...before);
    button.classList.remove('btn--copied');
    delete button.dataset.busy;
    live.textContent = '';
  }, COPIED_MS);
}

const detailOf = (row) => (row.nextElementSibling?.matches('.detail') ? row.nextElementSibling : undefined);

// A row that opens: its link leads to the page with the row the other way, of which only the row is taken.
async function toggle(link) {
  const row = link.closest('tr');
  try {
    const answer = await fetch(link.href, { headers: { accept: 'text/html' } });
    const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
    const fresh = answer.ok && !answer.redirected && page.getElementById(row.id);
    if (!fresh) throw new Error('The row is not there.');
    const detail = detailOf(fresh);
    detailOf(row)?.remove();
    row.replaceWith(...[fresh, detail].filter(Boolean));
    history.replaceState(null, '', link.href);
    fresh.querySelector('[data-toggle]').focus();
  } catch {
    location.assign(link.href);
  }
}

const isPlain = (event) => !(event.ctrlKey || event.metaKey || event.shiftKey || event.button);

document.addEventListener('click', (event) => {
  const button = event.target.closest('[data-copy]');
  if (button) void copy(button);
  const link = event.target.closest('a[data-toggle]');
  if (!link || !isPlain(event)) return;
  event.preventDefault();
  void toggle(link);
});

// Escape closes the phone menu and goes back to its button.
document.addEventListener('keydown', (event) => {
  const menu = event.key === 'Escape' && document.querySelector('.bar__menu[open]');
  if (!menu) return;
  menu.open = false;
  menu.querySelector('summary').focus();
});

// A form with something to save keeps its buttons in sight.
document.addEventListener('input', ({ target }) => target.form?.setAttribute('data-changed', ''));

// The last form of a sign-up takes the browser's time zone with it.
const zone = document.querySelector('input[name="_timeZone"]');
if (zone) zone.value = Intl.DateTimeFormat().resolvedOptions().timeZone;

// A list of models: the filter applies while it is typed, and all that is shown is ticked at once.
const filter = document.getElementById('filter');
const named = [...document.querySelectorAll('[data-name]')];
filter?.addEventListener('input', () => {
  const text = filter.value.trim().toLowerCase();
  for (const row of named) row.hidden = !row.dataset.name.toLowerCase().includes(text);
  for (const list of document.querySelectorAll('details[data-list]')) list.open ||= text !== '';
  const count = new Set(named.filter((row) => !row.hidden).map((row) => row.dataset.name)).size;
  document.getElementById('shown').textContent = `${count} shown`;
});
document.addEventListener('click', (event) => {
  const button = event.target.closest('[data-select]');
  if (!button) return;
  event.preventDefault();
  const boxes = button.closest('[data-list]').querySelectorAll('[data-name]:not([hidden]) input[type="checkbox"]');
  for (const box of boxes) box.checked = button.dataset.select === 'all';
});

// Ctrl-K, or the link to it, opens the search as a dialog.
function openSearch(event) {
  const link = document.querySelector('a[data-palette]');
  if (!link) return;
  event.preventDefault();
  import(link.dataset.palette).then(({ open }) => open()).catch(() => location.assign(link.href));
}

document.addEventListener('keydown', (event) => {
  if ((event.ctrlKey || event.metaKey) && event.key === 'k') openSearch(event);
});
document.addEventListener('click', (event) => {
  if (event.target.closest('a[data-palette]') && isPlain(event)) openSearch(event);
});

// After a refused form, start at its summary.
const summary = document.querySelector('.flash--bad[role="alert"]');
if (summary && document.title.startsWith('Error:')) {
  summary.tabIndex = -1;
  summary.focus();
}
