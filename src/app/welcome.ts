import { DEMO_MODEL } from './demo/index.js';
import type { FirstRun } from '../keys/onboarding/index.js';
import { formatUsd } from '../platform/shared/index.js';

/**
 * What the terminal shows once the service listens; on the first run with everything that a first call needs.
 * @param demoAnswers whether the demo model is there to be called
 * @param outbox the folder that mail goes to; undefined: to a server
 */
export function welcome(
  address: string,
  firstRun: FirstRun | undefined,
  demoAnswers: boolean,
  outbox: string | undefined,
): string {
  const mail =
    outbox === undefined
      ? ''
      : `Email is written to ${outbox} and not sent until SMTP_URL or the settings name a server.\n`;
  if (firstRun === undefined) return `\nSwitchboard is at ${address}\n${mail}\n`;
  const { email, password, keySecret, credit } = firstRun;
  return `
Switchboard is at ${address}

  Administrator   ${email}
  Password        ${password}   (shown once)
                  Sign in with it, and choose your own.
  First API key   ${keySecret}   (shown once, with $${formatUsd(credit)} of credit)

Base address: ${address}/v1 for OpenAI clients, ${address} for Anthropic clients.
${mail}${demoAnswers ? firstCalls(address, keySecret) : 'No model answers yet.'}

Connect a real model: sign in, and add it and a channel at ${address}/admin
or by a file:  OPENAI_KEY=… npm start, then  npm run -s switchboard -- catalog apply examples/openai.yaml

`;
}

/** A call in each dialect, ready to be pasted. */
function firstCalls(address: string, key: string): string {
  const messages = [{ role: 'user', content: 'Hello' }];
  const usual = { model: DEMO_MODEL, stream: true };
  const bearer = [`Authorization: Bearer ${key}`];
  const lines = [
    curl(`${address}/v1/chat/completions`, bearer, { ...usual, messages }),
    curl(`${address}/v1/messages`, [`x-api-key: ${key}`, 'anthropic-version: 2023-06-01'], {
      ...usual,
      max_tokens: 256,
      messages,
    }),
    curl(`${address}/v1/responses`, bearer, { ...usual, input: 'Hello' }),
  ];
  return ['Try it: the built-in demo model responds until you add a channel.', ...lines].join('\n\n');
}

/** One line that can be pasted as it is: no text in it has a quote. */
const curl = (url: string, headers: readonly string[], body: object): string =>
  `curl -N ${url} ${[...headers, 'content-type: application/json'].map((header) => `-H '${header}'`).join(' ')} -d '${JSON.stringify(body)}'`;
