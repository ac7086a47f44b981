import { exactUsd, percent } from '../../platform/format/index.js';
import {
  type CallAttempt,
  type CallDetails,
  type RecordedCall,
  RESULT_LABELS,
  RESULT_TONES,
} from '../../usage/index.js';
import { protocolNames, shareBar, waterfall } from '../web/index.js';
import { callSteps, endOf, type TimedStep } from './call-steps.js';
import { costFormula, multiplierText } from './cost-formula.js';
import { adviceFor, billingText, messageWithoutReason } from './error-text.js';
import { logAddress, type LogPath, type UsageQuery, usageQuery } from './usage-query.js';

/** What an opened row shows of its call. @param path of the log that it stands in */
export function openedCall({ call, attempts, key }: CallDetails, path: LogPath) {
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
    group: describeGroup(call),
    key: key?.name,
    keyPage: keyPageOf(call, key),
    // Only its owner can do something about it.
    outOfMoney: call.errorReason === 'insufficient quota' && path !== '/admin/calls',
    ip: call.ip,
    reason: call.errorReason,
    message: messageWithoutReason(call),
    advice: adviceFor(call.errorReason),
    attempts: attemptText(attempts),
  };
}

/** For whom the page of a call is. */
interface CallReader {
  readonly timeZone: string;
  /** Whether channels and what the upstream answered are shown too. */
  readonly operator: boolean;
  /** The log that it stands in. */
  readonly path: LogPath;
}

/** What the page of a call shows. */
export function callPage(details: CallDetails, now: Date, { timeZone, operator, path }: CallReader) {
  const { call, attempts, key, prices } = details;
  const month: UsageQuery = { ...usageQuery({}, now, timeZone, path), range: '30d' };
  return {
    ...openedCall(details, path),
    log: path,
    model: call.model,
    modelHref: logAddress(month, { model: call.model }),
    keyHref: logAddress(month, { key: call.keyId }),
    badge: { tone: RESULT_TONES[call.result], label: RESULT_LABELS[call.result] },
    failed: call.errorReason !== '',
    cost: call.cost,
    prompt: call.promptTokens,
    completion: call.completionTokens,
    tokens: call.promptTokens === null ? null : call.promptTokens + (call.completionTokens ?? 0),
    cacheWritten: call.cacheWriteTokens,
    protocol: `${protocolNames(call.protocol).fullName}, ${call.stream ? 'streamed' : 'not streamed'}`,
    translatedTo: translatedTo(call),
    effort: call.effort,
    serviceTier: call.snapshot?.service_tier,
    servedBy: call.snapshot?.served_by,
    keyHint: key?.hint,
    longContext: longContext(call),
    prices,
    split: split(call),
    ...timelineOf(details, now, operator),
    lostMs: lostMs(attempts),
    attemptNumber: attempts.length,
    channel: operator ? call.channel : '',
    upstream: operator ? upstreamOf(details) : undefined,
  };
}

/** Where the time went: as it was recorded at the end, or what is known of it before. */
function timelineOf({ call, attempts }: CallDetails, now: Date, operator: boolean) {
  // Its process has ended, and all that it knew with it.
  if (call.status === 'interrupted') return { lost: true };
  if (call.durationMs === null) {
    const elapsedMs = Math.max(0, now.getTime() - call.createdAt.getTime());
    const outcome = `${exactUsd(call.held)} on hold`;
    const running = { name: 'In progress', atMs: 0, tookMs: elapsedMs, tone: 'wait', outcome } as const;
    return { timeline: waterfall([running], elapsedMs) };
  }
  const steps = callSteps(call, attempts, operator);
  return {
    timeline: waterfall(steps, endOf(call)),
    // Of one from before its times were recorded it is not known well enough.
    finding: call.settleWaitMs === null ? undefined : findingOf(steps, endOf(call)),
  };
}

/** What went by before the attempt began that answered; undefined when that was the first. */
function lostMs(attempts: readonly CallAttempt[]): number | undefined {
  const [first, last] = [attempts[0]?.begunMs, attempts.at(-1)?.begunMs];
  if (attempts.length < 2 || first === undefined || last === undefined || first === null || last === null)
    return undefined;
  return last - first;
}

/** What the last upstream said, and what all attempts cost the operator; null as soon as that of one is unknown. */
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

/** Where its owner sees what it may do and is used for. */
const keyPageOf = ({ keyId }: RecordedCall, key: CallDetails['key']): string | undefined =>
  key?.changeable === true ? `/keys/${keyId}` : undefined;

/** The dialect of the upstream, where it is not the client's. */
const translatedTo = ({ protocol, upstreamProtocol }: RecordedCall): string | undefined =>
  upstreamProtocol === '' || upstreamProtocol === protocol ? undefined : protocolNames(upstreamProtocol).fullName;

const describeGroup = ({ group, snapshot }: RecordedCall): string =>
  snapshot === null ? group : `${group}, ${multiplierText(snapshot.group_multiplier)}`;

/** Tokens a second from the first one on. */
function speedOf({ completionTokens, firstTokenMs, durationMs }: RecordedCall): number | undefined {
  if (completionTokens === null || firstTokenMs === null || durationMs === null) return undefined;
  const seconds = (durationMs - firstTokenMs) / 1000;
  return seconds >= 0.1 && completionTokens > 1 ? Math.round(completionTokens / seconds) : undefined;
}

function attemptText(attempts: readonly CallAttempt[]): string {
  const failed = attempts.slice(0, -1).map(({ outcome }) => outcome.replaceAll('_', ' '));
  if (attempts.length < 2) return attempts.length === 0 ? 'None' : '1';
  return `${attempts.length}: before the last, ${failed.join(', ')}`;
}

const PROMPT_ITEM = /^(?:input|cache_(?:read|write_5m|write_1h|write_12h)|image_input|audio_input)$/;

/** Where the prompt's length made it dearer. */
function longContext({ snapshot, promptTokens, lines }: RecordedCall): number | undefined {
  const ofPasses = lines.filter(({ pass, item }) => pass !== undefined && PROMPT_ITEM.test(item));
  const prompt = ofPasses.reduce((tokens, { quantity }) => tokens - quantity, promptTokens ?? 0);
  const from = snapshot?.tiers?.findLast((tier) => tier.from_prompt_tokens <= prompt)?.from_prompt_tokens;
  return from !== undefined && from > 0 ? from : undefined;
}

/** Of the tokens, not of the charge: a token of an answer costs more. Named as the lines of the formula are. */
function split({ promptTokens, cachedTokens, completionTokens }: RecordedCall) {
  if (promptTokens === null) return undefined;
  const cached = cachedTokens ?? 0;
  return shareBar('Share of tokens', [
    { name: cached > 0 ? 'Prompt, not cached' : 'Prompt', value: promptTokens - cached, class: 'f1' },
    { name: 'Prompt, read from cache', value: cached, class: 'f4' },
    { name: 'Completion', value: completionTokens ?? 0, class: 'f2' },
  ]);
}

/** Of a call that was over so soon there is nothing to find, in ms. */
const MIN_MS = 20;

/** What most of the time of a call was spent on, as a sentence; undefined where it is too short to say. */
export function findingOf(steps: readonly TimedStep[], totalMs: number): string | undefined {
  if (totalMs < MIN_MS) return undefined;
  const times = new Map<string, number>();
  for (const { spent, spentMs, tookMs } of steps)
    if (spent !== undefined) times.set(spent, (times.get(spent) ?? 0) + (spentMs ?? tookMs ?? 0));
  const [longest] = [...times].toSorted(([, one], [, other]) => other - one);
  if (longest === undefined || longest[1] === 0) return undefined;
  const [spent, ms] = longest;
  const most = ms > totalMs / 2 ? 'Most' : 'The largest part';
  return `${most} of the time, ${percent(Math.min(ms, totalMs), totalMs)}, was spent ${spent}.`;
}
