import type { ProtocolId } from '../../../protocols/contract/index.js';
import { KEY_VARIABLE, quotedForShell } from './names.js';

const QUESTION = 'Say hello';

/** What is asked in each dialect, and where. */
const CALLS: Readonly<Record<string, { readonly path: string; readonly body: (model: string) => object }>> = {
  responses: { path: '/v1/responses', body: (model) => ({ model, input: QUESTION }) },
  'chat-completions': { path: '/v1/chat/completions', body: (model) => ({ model, messages: messages() }) },
  messages: { path: '/v1/messages', body: (model) => ({ model, max_tokens: 200, messages: messages() }) },
};

const messages = (): object[] => [{ role: 'user', content: QUESTION }];

/** One call by curl in a dialect; undefined for a dialect that this text does not know. */
export function sampleCall(protocol: ProtocolId, model: string, baseUrl: string): string | undefined {
  const call = CALLS[protocol];
  if (call === undefined) return undefined;
  // No --json: many machines have a curl that is too old for it, and here a body is JSON whatever it is called.
  return [
    `curl ${baseUrl}${call.path} \\`,
    `  -H "Authorization: Bearer $${KEY_VARIABLE}" \\`,
    `  -H "Content-Type: application/json" \\`,
    `  -d ${quotedForShell(onOneLine(call.body(model)))}`,
  ].join('\n');
}

/** JSON with blanks where people put them; a string never has a line break in it. */
const onOneLine = (value: object): string =>
  JSON.stringify(value, null, 1)
    .replaceAll(/\n */g, ' ')
    .replaceAll(/([[{]) | ([\]}])/g, '$1$2');
