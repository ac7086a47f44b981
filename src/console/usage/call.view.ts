import { count, exactUsd, percent, UNKNOWN } from '../../platform/format/index.js';
import {
  type CallAttempt,
  type CallDetails,
  type RecordedCall,
  RESULT_LABELS,
  RESULT_TONES,
  TRANSPORT_LABELS,
  type UpstreamReport,
} from '../../usage/index.js';
import { protocolNames, shareBar, waterfall } from '../web/index.js';
import { callSteps, endOf, type TimedStep } from './call-steps.js';
import { costFormula, multiplierText } from './cost-formula.js';
import { logAddress, type LogPath, type UsageQuery, usageQuery } from './usage-query.js';

/** Data of an expanded row. @param path of the log */
export function openedCall({ call, attempts, key, member, team }: CallDetails, path: LogPath) {
  return {
    id: call.id,
    href: `${path}/${call.id}`,
    formula: costFormula(call),
    billing: billingText(call),
    running: call.result === 'open',
    held: call.held,
    createdAt: call.createdAt,
    firstTokenMs: call.firstTokenMs,
    durationMs: call.durationMs,
    speed: speedOf(call),
    tokenText: tokenText(call),
    group: describeGroup(call),
    protocol: protocolText(call),
    key: key?.name,
    member,
    team,
    keyPage: keyPageOf(call, key),
    // Only the owner can resolve it.
    outOfMoney: call.errorReason === 'insufficient quota' && path !== '/admin/calls',
    ip: call.ip,
    problem: problemOf(call, path),
    attempts: attemptText(attempts),
  };
}

interface CallReader {
  readonly timeZone: string;
  /** Whether to show channels and upstream responses. */
  readonly isAdmin: boolean;
  readonly path: LogPath;
}

export function callPage(details: CallDetails, now: Date, { timeZone, isAdmin, path }: CallReader) {
  const { call, attempts, key, prices } = details;
  const month: UsageQuery = { ...usageQuery({}, now, timeZone, path), range: '30d' };
  return {
    ...openedCall(details, path),
    log: path,
    model: call.model,
    modelHref: logAddress(month, { model: call.model }),
    keyHref: logAddress(month, { key: call.keyId }),
    badge: { tone: RESULT_TONES[call.result], label: RESULT_LABELS[call.result] },
    cost: call.cost,
    prompt: call.promptTokens,
    completion: call.completionTokens,
    tokens: call.promptTokens === null ? null : call.promptTokens + (call.completionTokens ?? 0),
    cacheWritten: call.cacheWriteTokens,
    facts: factsOf(call),
    keyHint: key?.hint,
    longContext: longContext(call),
    prices,
    split: split(call),
    ...timelineOf(details, now, isAdmin),
    lostMs: lostMs(attempts),
    attemptNumber: attempts.length,
    channel: isAdmin ? call.channel : '',
    upstream: isAdmin ? upstreamOf(details) : undefined,
  };
}

function timelineOf({ call, attempts }: CallDetails, now: Date, isAdmin: boolean) {
  // The process ended without recording the times.
  if (call.status === 'interrupted') return { lost: true };
  if (call.durationMs === null) {
    const elapsedMs = Math.max(0, now.getTime() - call.createdAt.getTime());
    const outcome = `${exactUsd(call.held)} on hold`;
    const running = { name: 'In progress', atMs: 0, tookMs: elapsedMs, tone: 'wait', outcome } as const;
    return { timeline: waterfall([running], elapsedMs) };
  }
  const steps = callSteps(call, attempts, isAdmin);
  return {
    timeline: waterfall(steps, endOf(call)),
    // Calls stored before this column existed lack some times.
    finding: call.settleWaitMs === null ? undefined : findingOf(steps, endOf(call)),
  };
}

/** Time before the last attempt; undefined if there was only one. */
function lostMs(attempts: readonly CallAttempt[]): number | undefined {
  const [first, last] = [attempts[0]?.begunMs, attempts.at(-1)?.begunMs];
  if (attempts.length < 2 || first === undefined || last === undefined || first === null || last === null)
    return undefined;
  return last - first;
}

/** Last upstream response, and the cost of all attempts; null if that of any is unknown. */
function upstreamOf({ call, attempts }: CallDetails) {
  const last = attempts.at(-1);
  if (last === undefined) return undefined;
  const cost = attempts.reduce<bigint | null>(
    (sum, { upstreamCost }) => (sum === null || upstreamCost === null ? null : sum + upstreamCost),
    0n,
  );
  const margin = cost === null || call.cost === null ? null : call.cost - cost;
  return { status: last.upstreamStatus, requestId: last.upstreamRequestId, cost, margin };
}

/** `7,992 in (1,500 cached), 292 out`. */
function tokenText(call: RecordedCall): string {
  const { promptTokens, cachedTokens, completionTokens, reasoningTokens, result } = call;
  if (promptTokens === null && completionTokens === null) return result === 'open' ? 'not counted yet' : 'not counted';
  const part = (tokens: number | null, name: string): string =>
    tokens === null || tokens === 0 ? '' : ` (${count(tokens)} ${name})`;
  const known = (tokens: number | null): string => (tokens === null ? UNKNOWN : count(tokens));
  return `${known(promptTokens)} in${part(cachedTokens, 'cached')}, ${known(completionTokens)} out${part(reasoningTokens, 'reasoning')}`;
}

const keyPageOf = ({ keyId }: RecordedCall, key: CallDetails['key']): string | undefined =>
  key?.changeable === true ? `/keys/${keyId}` : undefined;

const protocolText = ({ protocol, stream }: RecordedCall): string =>
  `${protocolNames(protocol).fullName}, ${stream ? 'streamed' : 'not streamed'}`;

interface Fact {
  readonly label: string;
  /** Absent or empty: not shown. */
  readonly text: string | undefined;
}

const factsOf = (call: RecordedCall): readonly Fact[] =>
  [
    { label: 'Protocol', text: protocolText(call) },
    { label: 'Translated to', text: translatedTo(call) },
    { label: 'Transport', text: call.transport === null ? '' : TRANSPORT_LABELS[call.transport] },
    { label: 'Group', text: describeGroup(call) },
    { label: 'Effort', text: call.effort },
    { label: 'Output limit', text: call.outputLimit === null ? '' : `${count(call.outputLimit)} tokens` },
    { label: 'Service tier', text: call.snapshot?.service_tier },
    { label: 'Served by', text: call.snapshot?.served_by },
    { label: 'IP address', text: call.ip },
  ].filter(({ text = '' }) => text !== '');

/** The upstream's protocol, if different from the client's. */
const translatedTo = ({ protocol, upstreamProtocol }: RecordedCall): string | undefined =>
  upstreamProtocol === '' || upstreamProtocol === protocol ? undefined : protocolNames(upstreamProtocol).fullName;

const describeGroup = ({ group, snapshot }: RecordedCall): string =>
  snapshot === null ? group : `${group}, ${multiplierText(snapshot.group_multiplier)}`;

/** Tokens per second after the first. */
function speedOf({ completionTokens, firstTokenMs, durationMs }: RecordedCall): number | undefined {
  if (completionTokens === null || firstTokenMs === null || durationMs === null) return undefined;
  const seconds = (durationMs - firstTokenMs) / 1000;
  return seconds >= 0.1 && completionTokens > 1 ? Math.round(completionTokens / seconds) : undefined;
}

function attemptText(attempts: readonly CallAttempt[]): string {
  const failed = attempts.slice(0, -1).map(({ outcome }) => outcome.replaceAll('_', ' '));
  if (attempts.length < 2) return attempts.length === 0 ? 'None' : '1';
  const earlier = attempts.length === 2 ? 'first attempt' : 'earlier attempts';
  return `${attempts.length} (${earlier}: ${failed.join(', ')})`;
}

const PROMPT_ITEM = /^(?:input|cache_(?:read|write_5m|write_1h|write_12h)|image_input|audio_input)$/;

/** Prompt length from which the applied price tier starts, if it is not the first. */
function longContext({ snapshot, promptTokens, lines }: RecordedCall): number | undefined {
  const ofPasses = lines.filter(({ pass, item }) => pass !== undefined && PROMPT_ITEM.test(item));
  const prompt = ofPasses.reduce((tokens, { quantity }) => tokens - quantity, promptTokens ?? 0);
  const from = snapshot?.tiers?.findLast((tier) => tier.from_prompt_tokens <= prompt)?.from_prompt_tokens;
  return from !== undefined && from > 0 ? from : undefined;
}

/** Shares of tokens, labeled as in the cost formula. */
function split({ promptTokens, cachedTokens, completionTokens }: RecordedCall) {
  if (promptTokens === null) return undefined;
  const cached = cachedTokens ?? 0;
  return shareBar('Share of tokens', [
    { name: cached > 0 ? 'Input, not cached' : 'Input', value: promptTokens - cached, class: 'f1' },
    { name: 'Input read from cache', value: cached, class: 'f4' },
    { name: 'Output', value: completionTokens ?? 0, class: 'f2' },
  ]);
}

const MIN_MS = 20;

/** A sentence about what took most of the time; undefined for short calls. */
export function findingOf(steps: readonly TimedStep[], totalMs: number): string | undefined {
  if (totalMs < MIN_MS) return undefined;
  const times = new Map<string, number>();
  for (const { spent, spentMs, tookMs } of steps)
    if (spent !== undefined) times.set(spent, (times.get(spent) ?? 0) + (spentMs ?? tookMs ?? 0));
  const [longest] = [...times].toSorted(([, one], [, other]) => other - one);
  if (longest === undefined || longest[1] === 0) return undefined;
  const [spent, ms] = longest;
  const most = ms > totalMs / 2 ? 'Most' : 'The largest share';
  return `${most} of the time (${percent(Math.min(ms, totalMs), totalMs)}) was spent ${spent}.`;
}

const ADVICE: Readonly<Record<string, string>> = {
  'Invalid token': 'Check that your client sends a complete API key that is enabled and not expired.',
  'insufficient quota':
    'Check the balance of your wallet and the quota and budgets of the key. Raise the one that is used up.',
  permission_denied: 'The key is not allowed to do this. Check its models, networks and group.',
  invalid_request: 'Fix the field named in the message. Retrying without changes will fail.',
  context_length_exceeded: 'Send a shorter prompt or conversation, or use a model with a larger context window.',
  model_not_found: 'Use a model name from the pricing page that is available in the key’s group.',
  request_too_large: 'Send a smaller request.',
  rate_limit_exceeded: 'Retry after a moment, with fewer requests at once.',
  server_is_overloaded: 'No upstream was available, or the service was overloaded. Retry shortly.',
  unavailable: 'Retry shortly.',
  shutting_down: 'The service was restarting. Retry.',
  upstream_error: 'The upstream failed. Retry; if it persists, use another model.',
  upstream_auth: 'The upstream rejected our credentials. Contact an administrator.',
  upstream_truncated: 'The upstream interrupted its response. Retry.',
  timeout: 'The upstream timed out. Retry, lower the output limit, or use a faster model.',
  request_timeout: 'The request did not arrive in time. Check your client’s connection.',
  internal: 'The service failed. Retry; if it persists, send the request ID to an administrator.',
};

interface CallProblem {
  readonly tone: 'warn' | 'bad' | '';
  readonly title: string;
  readonly text: string;
  readonly advice: string;
}

/** Undefined if nothing went wrong. */
function problemOf(call: RecordedCall, path: LogPath): CallProblem | undefined {
  const { errorReason, result } = call;
  if (errorReason === '') return undefined;
  if (errorReason === CANCELLED)
    return {
      tone: '',
      title: 'The client closed the connection',
      text: 'If this was not intended, check the client’s timeout.',
      advice: '',
    };
  const tone = RESULT_TONES[result];
  return {
    tone: tone === 'bad' ? 'bad' : 'warn',
    title: `${RESULT_LABELS[result]}: ${errorReason}`,
    text: capitalized(messageWithoutReason(call)),
    // Only the owner can follow it.
    advice: path === '/admin/calls' ? 'The client received this error.' : (ADVICE[errorReason] ?? ''),
  };
}

const CANCELLED = 'context canceled';

const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** Removes the leading reason, which is shown separately. */
export const messageWithoutReason = ({
  errorReason,
  errorMessage,
}: Pick<RecordedCall, 'errorReason' | 'errorMessage'>): string =>
  errorMessage.startsWith(`${errorReason}: `) ? errorMessage.slice(errorReason.length + 2) : errorMessage;

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
        ? 'The upstream reported no usage; we counted the tokens ourselves.'
        : `The upstream reported only part of the usage (${totalsIn(report)}); we counted the rest ourselves.`;
    case 'corrected':
      return report === null
        ? 'The upstream reported implausible usage. We counted the tokens ourselves and charged those.'
        : `The upstream reported ${reportedIn(report)}, which is implausible (${reasonsIn(report)}). We counted the tokens ourselves and charged those.`;
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
  passes_too_large: 'the request does not allow that many additional passes',
};

const reasonsIn = ({ findings }: UpstreamReport): string =>
  findings
    .map((finding) => REASONS[finding])
    .filter((reason) => reason !== undefined)
    .join(', and ');

/** `12 prompt and 0 completion tokens`. */
function reportedIn({ prompt_tokens: prompt, completion_tokens: completion }: UpstreamReport): string {
  const totals = [
    ...(prompt === null ? [] : [`${totalText(prompt)} prompt`]),
    ...(completion === null ? [] : [`${totalText(completion)} completion`]),
  ];
  return totals.length === 0 ? 'usage' : `${totals.join(' and ')} tokens`;
}

const totalsIn = ({ prompt_tokens: prompt, completion_tokens: completion }: UpstreamReport): string =>
  `prompt ${totalText(prompt)}, completion ${totalText(completion)}`;

const totalText = (total: number | string | null): string =>
  total === null ? 'not given' : typeof total === 'number' ? count(total) : total;
