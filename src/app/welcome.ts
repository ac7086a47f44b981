import { DEMO_MODEL } from './demo/index.js';
import type { FirstRun } from '../keys/onboarding/index.js';
import { formatUsd } from '../platform/shared/index.js';

/**
 * The startup message; on the first run with everything needed for a first call.
 * @param demoAnswers whether the demo model is available
 * @param outbox the folder that mail is written to; undefined when a mail server is configured
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
      : `Email is written to ${outbox} until a mail server is configured (SMTP_URL or Settings).\n`;
  if (firstRun === undefined) return `\nSwitchboard is at ${address}\n${mail}\n`;
  const { email, password, keySecret, credit } = firstRun;
  return `
Switchboard is at ${address}

  Administrator   ${email}
  Password        ${password}   (shown once)
                  You must change it at first sign-in.
  First API key   ${keySecret}   (shown once, with $${formatUsd(credit)} of credit)

Base address: ${address}/v1 for OpenAI clients, ${address} for Anthropic clients.
${mail}${demoAnswers ? firstCalls(address, keySecret) : 'No models are available yet.'}

To connect a real model, sign in and add a model and a channel at ${address}/admin,
or apply a file: OPENAI_KEY=… npm start, then npm run -s switchboard -- catalog apply examples/openai.yaml

`;
}

/** A command line for each protocol. */
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

/** No value contains a single quote. */
const curl = (url: string, headers: readonly string[], body: object): string =>
  `curl -N ${url} ${[...headers, 'content-type: application/json'].map((header) => `-H '${header}'`).join(' ')} -d '${JSON.stringify(body)}'`;
