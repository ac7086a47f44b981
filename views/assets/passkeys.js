// Shows the buttons for passkeys where the browser has WebAuthn. Pages work without it, with passwords and codes.
const ADDRESS = /^[\d.]+$|^\[/;
const CODECS = ['parseCreationOptionsFromJSON', 'parseRequestOptionsFromJSON'];
/** Passkeys belong to domain names, never to IP addresses. */
const isSupported =
  typeof PublicKeyCredential === 'function' &&
  CODECS.every((name) => name in PublicKeyCredential) &&
  !ADDRESS.test(location.hostname);

const MESSAGES = {
  NotAllowedError: 'Canceled, or no matching passkey was found. Try again, or use another method.',
  InvalidStateError: 'This device already has a passkey for your account.',
  SecurityError: 'Passkeys do not work at this address. Open the site at its public address.',
};
const FAILED = 'The passkey could not be used. Reload the page and try again.';

class Refused extends Error {}

async function optionsOf({ dataset, form }) {
  const body = new URLSearchParams({ _csrf: form.elements._csrf.value });
  const response = await fetch(dataset.passkey, { method: 'POST', body, headers: { accept: 'application/json' } });
  const isJson = response.headers.get('content-type')?.startsWith('application/json');
  const options = isJson ? await response.json() : {};
  if (!response.ok || !options.challenge) throw new Refused(options.message ?? FAILED);
  return options;
}

function ask(options) {
  if (options.user)
    return navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options) });
  return navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options) });
}

// Sends the button's form, with the response as one more field.
async function run(button) {
  const problem = button.parentElement.querySelector('[data-passkey-problem]');
  problem.parentElement.hidden = true;
  button.disabled = true;
  try {
    const credential = await ask(await optionsOf(button));
    const field = document.createElement('input');
    Object.assign(field, { type: 'hidden', name: 'passkey', value: JSON.stringify(credential) });
    button.form.append(field);
    button.disabled = false;
    button.form.requestSubmit(button);
    field.remove();
  } catch (error) {
    button.disabled = false;
    problem.textContent = error instanceof Refused ? error.message : (MESSAGES[error.name] ?? FAILED);
    problem.parentElement.hidden = false;
  }
}

if (isSupported) {
  for (const button of document.querySelectorAll('[data-passkey]')) {
    button.parentElement.hidden = false;
    button.addEventListener('click', (event) => {
      event.preventDefault();
      void run(button);
    });
  }
  for (const text of document.querySelectorAll('[data-passkey-missing]')) text.hidden = true;
}
