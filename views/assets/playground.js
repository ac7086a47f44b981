// Streams calls of the playground, and keeps price and code up to date. Without it, the form does all of this.
const form = document.querySelector('[data-playground]');
const stop = document.querySelector('[data-stop]');
const at = (id) => document.getElementById(id);
const PREVIEW_MS = 500;
const MAX_POLLS = 10;

const fields = () => new URLSearchParams(new FormData(form));

async function pageAt(url, options) {
  const response = await fetch(url, { ...options, headers: { accept: 'text/html' } });
  return new DOMParser().parseFromString(await response.text(), 'text/html');
}

let previews;
async function preview() {
  previews?.abort();
  previews = new AbortController();
  const { signal } = previews;
  try {
    const page = await pageAt('/playground/preview', { method: 'POST', body: fields(), signal });
    for (const id of ['estimate', 'code']) {
      const fresh = page.getElementById(id);
      if (fresh) at(id).replaceChildren(...fresh.childNodes);
    }
    // Another key may have other models.
    const models = page.getElementById('model');
    const { value } = at('model');
    if (models) at('model').replaceChildren(...models.options);
    if ([...at('model').options].some((option) => option.value === value)) at('model').value = value;
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

// Text, and names and arguments of function calls, in any of the protocols.
function textOf({ type, delta, item, content_block: block, choices, candidates }) {
  const called = item?.type === 'function_call' ? item : block?.type === 'tool_use' ? block : undefined;
  if (called) return type.endsWith('added') || type.endsWith('start') ? `${called.name} ` : '';
  if (type === 'response.output_text.delta' || type === 'response.function_call_arguments.delta') return delta;
  const chat = choices?.[0]?.delta;
  const tools = (chat?.tool_calls ?? []).map(({ function: call = {} }) => [
    call.name ? `${call.name} ` : '',
    call.arguments ?? '',
  ]);
  // Gemini's reasoning looks like text.
  const parts = (candidates?.[0]?.content?.parts ?? []).filter(({ thought }) => !thought);
  const gemini = parts.map(({ text = '', functionCall: call }) =>
    call ? `${call.name} ${JSON.stringify(call.args ?? {})}` : text,
  );
  return [chat?.content ?? '', ...tools.flat(), delta?.text ?? '', delta?.partial_json ?? '', ...gemini].join('');
}

function fail(message) {
  at('problem').querySelector('p').textContent = message;
  at('problem').hidden = false;
}

function show(line) {
  if (!line.startsWith('data: {')) return;
  const event = JSON.parse(line.slice('data: '.length));
  const error = event.error ?? event.response?.error ?? (event.type === 'error' ? event : undefined);
  if (error) fail(error.message);
  at('output').append(textOf(event));
}

/** Of the call that streams. */
let running;
/** Request ID of the newest call. */
let newest;

// The conversation is in the page alone. A response that failed or was stopped is no turn.
const turns = form.elements.namedItem('turns');
function remember(message) {
  const content = at('output').textContent;
  if (content === '' || !at('problem').hidden) return;
  const added = [
    { role: 'user', content: message },
    { role: 'assistant', content },
  ];
  turns.value = JSON.stringify([...JSON.parse(turns.value || '[]'), ...added]);
  for (const turn of added) {
    const [item, name, text] = ['li', 'b', 'span'].map((tag) => document.createElement(tag));
    name.textContent = turn.role === 'user' ? 'You' : 'Model';
    text.textContent = turn.content;
    item.append(name, text);
    at('conversation').querySelector('ol').append(item);
  }
  at('conversation').hidden = false;
  // The next message may already be typed.
  if (at('message').value === message) at('message').value = '';
}
document.querySelector('[data-new]').addEventListener('click', (event) => {
  event.preventDefault();
  running?.abort();
  turns.value = '';
  at('conversation').querySelector('ol').replaceChildren();
  at('conversation').hidden = true;
  for (const id of ['output', 'raw', 'charge']) at(id).replaceChildren();
  at('message').focus();
  void preview();
});

async function receive(body) {
  let rest = '';
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    at('raw').append(part.value);
    const lines = (rest + part.value).split('\n');
    rest = lines.pop();
    lines.forEach(show);
  }
}

// The call is settled when its stream has ended, or shortly after it was stopped.
async function charge(id) {
  for (let polls = 0; polls < MAX_POLLS; polls += 1) {
    const fresh = (await pageAt(`/playground/calls/${id}`)).getElementById('charge');
    if (id !== newest) return;
    if (fresh) at('charge').replaceChildren(...fresh.childNodes);
    if (fresh && !('open' in fresh.dataset)) return;
    await new Promise((resolve) => setTimeout(resolve, PREVIEW_MS));
  }
}

stop.addEventListener('click', () => running.abort());

async function send(button) {
  running = new AbortController();
  newest = undefined;
  for (const id of ['output', 'raw', 'charge']) at(id).replaceChildren();
  at('problem').hidden = true;
  stop.hidden = false;
  at('output').scrollIntoView({ block: 'nearest' });
  button.disabled = true;
  const message = at('message').value;
  const { signal } = running;
  let id;
  try {
    const headers = { accept: 'text/event-stream' };
    const response = await fetch('/playground/stream', { method: 'POST', body: fields(), headers, signal });
    // Signed out meanwhile.
    if (response.redirected) return location.reload();
    id = response.headers.get('x-request-id');
    if (response.ok) {
      await receive(response.body);
      remember(message);
    } else fail((await response.json()).error.message);
  } catch {
    if (!signal.aborted) fail('The connection was lost. Check the usage logs for this call.');
  } finally {
    running = undefined;
    stop.hidden = true;
    button.disabled = false;
  }
  newest = id;
  if (id) await charge(id);
}

let timer;
form.addEventListener('input', () => {
  clearTimeout(timer);
  timer = setTimeout(() => void preview(), PREVIEW_MS);
});
form.addEventListener('keydown', (event) => {
  if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) form.requestSubmit();
});
form.addEventListener('submit', (event) => {
  event.preventDefault();
  const { submitter } = event;
  if (submitter && 'preview' in submitter.dataset) void preview();
  // Ctrl+Enter also submits while a call streams: the message stays in its field.
  else if (!running) void send(form.querySelector('.btn--primary'));
});
