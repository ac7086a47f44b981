import { count } from '../../platform/format/index.js';
import type { RecordedCall, UpstreamReport } from '../../usage/index.js';

/** What somebody can do about a call that ended with this reason; the reasons are those of the log. */
const ADVICE: Readonly<Record<string, string>> = {
  'Invalid token': 'Check that your client sends one of your API keys, complete, enabled and not expired.',
  'insufficient quota':
    'Check the balance of your wallet and the quota and budgets of the key. Raise the one that is used up.',
  'context canceled': 'Your client closed the connection before the response was complete. Check its timeout.',
  permission_denied: 'The key is not allowed to do this. Check its models, networks and group.',
  invalid_request: 'Fix the field named in the message. Retrying without changes will fail.',
  context_length_exceeded: 'Send a shorter prompt or conversation, or use a model with a larger context window.',
  model_not_found: 'Use a model name from the pricing page that is available in the key’s group.',
  request_too_large: 'Send a smaller request.',
  rate_limit_exceeded: 'Retry after a moment, with fewer requests at once.',
  server_is_overloaded: 'The upstream was overloaded. Retry shortly.',
  unavailable: 'Retry shortly.',
  shutting_down: 'The relay was restarting. Retry.',
  upstream_error: 'The upstream failed. Retry; if it persists, use another model.',
  upstream_auth: 'The upstream rejected the relay’s credentials. Contact an administrator.',
  upstream_truncated: 'The upstream interrupted its response. Retry.',
  timeout: 'The upstream timed out. Retry, lower the output limit, or use a faster model.',
  request_timeout: 'The request did not arrive in time. Check your client’s connection.',
  internal: 'The relay failed. Retry; if it persists, send the request ID to an administrator.',
};

export const adviceFor = (reason: string): string => ADVICE[reason] ?? '';

/** Messages begin with the reason that stands before them already. */
export const messageWithoutReason = ({
  errorReason,
  errorMessage,
}: Pick<RecordedCall, 'errorReason' | 'errorMessage'>): string =>
  errorMessage.startsWith(`${errorReason}: `) ? errorMessage.slice(errorReason.length + 2) : errorMessage;

/** Why a call was charged what it was. */
export function billingText({
  result,
  billingBasis,
  upstreamReport: report,
}: Pick<RecordedCall, 'result' | 'billingBasis' | 'upstreamReport'>): string {
  if (result === 'open') return 'Charged when the call ends.';
  switch (billingBasis) {
    case 'reported':
      return 'Tokens as reported by the upstream.';
    case 'estimated':
      return report === null
        ? 'The upstream reported no usage; tokens were counted here.'
        : `The upstream reported only part of the usage (${totalsIn(report)}); the rest was counted here.`;
    case 'corrected':
      return report === null
        ? 'The upstream reported implausible usage, which was corrected.'
        : `Corrected: the upstream reported ${totalsIn(report)}, which is implausible: ${reasonsIn(report)}. The tokens counted here are charged instead.`;
    case 'partial':
      return 'The response was incomplete: the prompt and the output so far are charged.';
    default:
      return 'Nothing was charged.';
  }
}

const REASONS: Readonly<Record<string, string>> = {
  prompt_zero: 'the prompt was not empty',
  completion_zero: 'the response was not empty',
  prompt_too_large: 'the prompt cannot have that many tokens',
  completion_too_large: 'the response cannot have that many tokens',
  tool_uses_too_large: 'the request does not allow that many tool uses',
  passes_too_large: 'the request does not allow that much additional work',
};

const reasonsIn = ({ findings }: UpstreamReport): string =>
  findings
    .map((finding) => REASONS[finding])
    .filter((reason) => reason !== undefined)
    .join(', and ');

const totalsIn = ({ prompt_tokens: prompt, completion_tokens: completion }: UpstreamReport): string =>
  `prompt ${totalText(prompt)}, completion ${totalText(completion)}`;

const totalText = (total: number | string | null): string =>
  total === null ? 'not given' : typeof total === 'number' ? count(total) : total;
