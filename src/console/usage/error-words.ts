import { count } from '../../platform/format/index.js';
import type { RecordedCall, UpstreamReport } from '../../usage/index.js';

/** What somebody can do about a call that ended with this reason; the reasons are those of the log. */
const ADVICE: Readonly<Record<string, string>> = {
  'Invalid token': 'Check that your client sends a key of yours that is enabled and has not expired, as it was shown.',
  'insufficient quota':
    'Look at the balance of your wallet, and at the quota and budgets of the key; raise what is used up.',
  'context canceled': 'Your client closed the connection before the answer was complete. Look at its time limit.',
  permission_denied: 'The key may not do this. Look at its models, its networks and its group.',
  invalid_request: 'Change what the message names, then send the request again. As it is it will be refused again.',
  context_length_exceeded: 'Send a shorter prompt or conversation, or use a model with a larger context window.',
  model_not_found: 'Use a model name as it stands on the pricing page, and one that the key’s group may call.',
  request_too_large: 'Send a smaller request.',
  rate_limit_exceeded: 'Wait a moment, then send the request again; fewer at once are less likely to be refused.',
  server_is_overloaded: 'The upstream was busy. Send the request again in a moment.',
  unavailable: 'Send the request again in a moment.',
  shutting_down: 'The relay was being restarted. Send the request again.',
  upstream_error: 'The upstream failed. Send the request again; if it stays like this, try another model.',
  upstream_auth: 'The upstream did not accept the relay’s own credentials. Only the operator can mend that.',
  upstream_truncated: 'The upstream broke off its answer. Send the request again.',
  timeout: 'The upstream was too slow. Send the request again, ask for less output, or use a faster model.',
  request_timeout: 'The request did not arrive completely in time. Look at the connection of your client.',
  internal: 'The relay failed. Send the request again; if it stays like this, tell the operator the request ID.',
};

export const adviceFor = (reason: string): string => ADVICE[reason] ?? '';

/** Messages begin with the reason that stands before them already. */
export const messageWithoutReason = ({
  errorReason,
  errorMessage,
}: Pick<RecordedCall, 'errorReason' | 'errorMessage'>): string =>
  errorMessage.startsWith(`${errorReason}: `) ? errorMessage.slice(errorReason.length + 2) : errorMessage;

/** Why a call was charged what it was. */
export function billingWords({
  result,
  billingBasis,
  upstreamReport: report,
}: Pick<RecordedCall, 'result' | 'billingBasis' | 'upstreamReport'>): string {
  if (result === 'open') return 'Charged when the call has ended.';
  switch (billingBasis) {
    case 'reported':
      return 'Tokens as the upstream reported them.';
    case 'estimated':
      return report === null
        ? 'The upstream reported no tokens, so they were counted here.'
        : `The upstream reported only a part of the tokens (${totalsIn(report)}). The rest was counted here.`;
    case 'corrected':
      return report === null
        ? 'The upstream reported a usage that cannot be right, so it was corrected.'
        : `Corrected: the upstream reported ${totalsIn(report)}, which cannot be right: ${reasonsIn(report)}. Charged is what was counted here instead.`;
    case 'partial':
      return 'The answer was not completed: charged is the prompt and what had been written of the answer.';
    default:
      return 'Nothing was charged.';
  }
}

const REASONS: Readonly<Record<string, string>> = {
  prompt_zero: 'the prompt was not empty',
  completion_zero: 'the answer was not empty',
  prompt_too_large: 'the prompt cannot have so many tokens',
  completion_too_large: 'the answer cannot have so many tokens',
  tool_uses_too_large: 'the request does not allow so many uses of tools',
  passes_too_large: 'the request does not allow so much work beside the answer',
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
