import type { Account } from '../../../auth/index.js';
import type { OwnKey } from '../../../keys/index.js';
import { clockTime, dateTime, exactUsd, percent, price, times, usd } from '../../../platform/format/index.js';
import { describeLimits } from '../../../platform/limits/index.js';
import type { AppError } from '../../../platform/shared/index.js';
import { NO_TOKENS, type ProtocolId } from '../../../protocols/contract/index.js';
import { costOf, costItems } from '../../../relay/billing/index.js';
import type { DryRoute, DryRunInput, DryRunResult } from '../../../relay/index.js';
import type { Excluded, Exclusion, UnavailableChannel } from '../../../relay/routing/index.js';
import { protocolNames } from '../../web/index.js';

/** The view of a dry run. */
export function routingResult(result: RoutingResult) {
  const { dryRun, question, account, key, timeZone } = result;
  const { outlook, routes, refusal } = dryRun;
  const who = `${account.email} with ${key === undefined ? 'a new API key' : `the API key “${key.name}”`}`;
  const call = `A call to ${question.model} by ${who}`;
  return {
    isRefused: refusal !== undefined,
    verdict:
      refusal === undefined ? `${call} would be routed to ${destinationOf(routes)}.` : `${call} would be rejected.`,
    because: refusal === undefined ? becauseOf(routes, question.protocol) : refusal.message,
    steps: admissionSteps(result),
    price: priceOf(result),
    routes: [
      ...routes.map((route, index) => routeRow(route, index + 1, question.protocol)),
      ...outlook.unavailable.map((unavailable) => unavailableRow(unavailable, dryRun.evaluatedAt, timeZone)),
      ...outlook.excluded.map(excludedRow),
    ],
  };
}

const ONE = 1_000_000n;

function priceOf({ dryRun: { terms, plan }, question: { promptTokens, outputLimit } }: RoutingResult) {
  if (terms === undefined || plan === undefined) return undefined;
  const {
    pricing,
    groupMultiplier,
    effortMultiplier,
    serviceMultiplier,
    speedMultiplier = ONE,
    geoMultiplier = ONE,
  } = terms;
  const usage = { ...NO_TOKENS, input: promptTokens, output: outputLimit ?? plan.model.maxOutputTokens };
  const tier = pricing.tiers.findLast(
    ({ fromPromptTokens }) => fromPromptTokens > 0 && fromPromptTokens <= promptTokens,
  );
  return {
    isFree: pricing.costsNothing,
    tierFrom: tier?.fromPromptTokens,
    lines: costItems(pricing, usage).map(({ item, price: perMillion, isFee }) => ({
      name: isFee ? 'Fee per call' : `${item === 'input' ? 'Input' : 'Output'} per 1M tokens`,
      price: isFee ? usd(perMillion) : price(perMillion),
    })),
    multipliers: [
      { name: `Group ${plan.group.name}`, value: groupMultiplier, isShown: true },
      { name: 'Effort', value: effortMultiplier, isShown: effortMultiplier !== ONE },
      { name: 'Service tier (highest)', value: serviceMultiplier, isShown: serviceMultiplier !== ONE },
      { name: 'Speed', value: speedMultiplier, isShown: speedMultiplier !== ONE },
      { name: 'Region (highest)', value: geoMultiplier, isShown: geoMultiplier !== ONE },
    ].flatMap(({ name, value, isShown }) => (isShown ? [{ name, value: times(value) }] : [])),
    outputTokens: usage.output,
    most: costOf(terms, usage),
  };
}

/** `main (60%) or other (40%)` */
function destinationOf(routes: readonly DryRoute[]): string {
  const first = routes.filter(({ firstShare }) => firstShare > 0);
  const named = first.map(({ channel: { name, baseUrl }, firstShare }) =>
    first.length === 1 ? `${name} at ${baseUrl}` : `${name} at ${baseUrl} (${percent(firstShare, 1)})`,
  );
  return named.length < 2 ? (named[0] ?? '') : `${named.slice(0, -1).join(', ')} or ${named.at(-1)}`;
}

/** Why these channels are tried first, as a sentence. */
function becauseOf(routes: readonly DryRoute[], protocol: ProtocolId): string {
  const first = routes.filter(({ firstShare }) => firstShare > 0);
  const [one] = first;
  const next = routes[first.length];
  if (one === undefined) return '';
  const many = first.length > 1 ? ' The first channel is chosen at random by weight.' : '';
  if (next === undefined) return first.length === 1 ? 'It is the only available channel.' : many.trimStart();
  return `${whyBefore(one, next, protocol)}${many}`;
}

function whyBefore(one: DryRoute, next: DryRoute, protocol: ProtocolId): string {
  const { tier } = one.channel;
  if (next.channel.tier !== tier) return `Tier ${tier} is tried before tier ${next.channel.tier}.`;
  if (one.channel.protocol !== next.channel.protocol && one.channel.protocol === protocol)
    return `In tier ${tier}, channels with the client’s protocol (${protocolNames(protocol).name}) are tried first.`;
  return `Other channels in tier ${tier} have weight 0 and are tried last.`;
}

/** A channel that would be tried, in routing order. */
function routeRow(route: DryRoute, place: number, protocol: ProtocolId) {
  const { channel, firstShare, upstreamModel, isTranslated, cooldown, credentials } = route;
  const unrested = credentials.length;
  const all = channel.credentials.length;
  return {
    place: String(place),
    name: channel.name,
    baseUrl: channel.baseUrl,
    tierAndWeight: `${channel.tier} · ${channel.weight}`,
    upstreamModel,
    share: firstShare > 0 ? percent(firstShare, 1) : undefined,
    badge: { tone: 'ok', label: firstShare > 0 ? 'First attempt' : 'Failover' },
    words: [
      isTranslated ? translated(protocol, channel.protocol) : 'The request is passed through unchanged.',
      ...(firstShare > 0 ? [] : ['Used if the channels above fail.']),
      ...(cooldown !== undefined ? ['Its cooldown is over; the next request checks whether it has recovered.'] : []),
      ...(unrested < all ? [`${unrested} of ${all} credentials available.`] : []),
    ].join(' '),
  };
}

const translated = (from: ProtocolId, to: ProtocolId): string =>
  from === to
    ? 'The request is rewritten to request a streamed response.'
    : `Translated from ${protocolNames(from).name} to ${protocolNames(to).name}.`;

type CooldownRow = UnavailableChannel['cooldowns'][number];

const REASONS: Readonly<Record<CooldownRow['reason'], string>> = {
  failures: 'of repeated failures',
  rate_limit: 'the upstream’s rate limit was reached',
  refused: 'the upstream rejected the credential',
  no_money: 'the upstream account is out of credit',
};

/** A channel that matches the call but is temporarily unavailable. */
function unavailableRow({ channel, isFull, cooldowns }: UnavailableChannel, nowMs: number, timeZone: string) {
  const full = `The limit of concurrent calls${channel.maxConcurrency === undefined ? '' : ` (${channel.maxConcurrency})`} is reached.`;
  return {
    ...unasked(channel),
    badge: { tone: 'warn', label: isFull ? 'Busy' : 'Cooldown' },
    words: isFull ? full : [...new Set(cooldowns.map((cooldown) => cooldownText(cooldown, nowMs, timeZone)))].join(' '),
  };
}

function cooldownText({ reason, untilMs }: CooldownRow, nowMs: number, timeZone: string): string {
  const why = REASONS[reason];
  if (untilMs <= nowMs) return `In cooldown because ${why}. Another request is checking whether it has recovered.`;
  return `In cooldown until ${clockTime(new Date(untilMs), timeZone)} because ${why}.`;
}

/** A channel that serves the model but does not match the call. */
const excludedRow = ({ channel, exclusion }: Excluded) => ({
  ...unasked(channel),
  badge: { tone: exclusion.why === 'unavailable' ? 'bad' : '', label: LABELS[exclusion.why] },
  words: exclusionText(exclusion),
});

const LABELS: Readonly<Record<Exclusion['why'], string>> = {
  'switched-off': 'Disabled',
  unavailable: 'Unavailable',
  'other-groups': 'Other groups',
  'native-only': 'Other protocol',
};

function exclusionText(exclusion: Exclusion): string {
  switch (exclusion.why) {
    case 'switched-off':
      return 'The channel is disabled.';
    case 'unavailable':
      return `The channel cannot be used: ${exclusion.reason}.`;
    case 'other-groups':
      return `It serves ${exclusion.groups.length === 0 ? 'no groups' : `only ${exclusion.groups.join(', ')}`}.`;
    case 'native-only':
      return 'It serves only calls that need no translation.';
    default:
      return exclusion satisfies never;
  }
}

const unasked = ({ name, baseUrl, tier, weight }: Excluded['channel']) => ({
  place: undefined,
  name,
  baseUrl,
  tierAndWeight: `${tier} · ${weight}`,
  upstreamModel: undefined,
  share: undefined,
});

type StepResult = 'passed' | 'refused' | 'not-asked';

const BADGES: Readonly<Record<StepResult, { readonly tone: string; readonly label: string }>> = {
  passed: { tone: 'ok', label: 'Passed' },
  refused: { tone: 'bad', label: 'Failed' },
  'not-asked': { tone: '', label: 'Skipped' },
};

const outcomeOf = (refusal: AppError | undefined, isAsked = true): StepResult =>
  refusal === undefined ? (isAsked ? 'passed' : 'not-asked') : 'refused';

/** The admission checks, in the order in which a call passes them. */
function admissionSteps(result: RoutingResult) {
  const { dryRun } = result;
  const { keyRefusal, modelRefusal, limitRefusal, plan, money } = dryRun;
  const steps = [
    { name: 'Account and API key', outcome: outcomeOf(keyRefusal), words: keyRefusal?.message ?? keyText(result) },
    {
      name: 'Group and model',
      outcome: outcomeOf(modelRefusal),
      words: `${describeGroup(result)} ${modelRefusal?.message ?? modelText(result)}`,
    },
    {
      name: 'Limits',
      outcome: outcomeOf(limitRefusal, plan !== undefined),
      words: limitRefusal?.message ?? limitText(dryRun),
    },
    {
      name: 'Money',
      outcome: outcomeOf(money?.refusal, money !== undefined),
      words: money?.refusal?.message ?? moneyText(dryRun),
    },
  ];
  return steps.map(({ name, outcome, words }) => ({ name, badge: BADGES[outcome], words }));
}

function keyText({ key, dryRun: { caller }, timeZone }: RoutingResult): string {
  if (key === undefined) return 'The account and a new API key can be used.';
  const until = caller.expiresAt === undefined ? '' : ` until ${dateTime(new Date(caller.expiresAt), timeZone)}`;
  const where =
    caller.networks === undefined
      ? ''
      : ' The API key is restricted to certain networks, which the dry run does not check.';
  return `The account and the API key can be used${until}.${where}`;
}

function describeGroup({ key, account, dryRun: { caller } }: RoutingResult): string {
  const from =
    key?.groupName !== undefined
      ? 'set on the API key'
      : account.groupName !== undefined
        ? 'set on the account'
        : 'neither the API key nor the account has a group';
  return `Group: ${caller.groupName} (${from}).`;
}

function modelText({ dryRun: { caller } }: RoutingResult): string {
  return caller.models === undefined
    ? 'The model is available in the group.'
    : 'The model is available in the group and allowed for the API key.';
}

const OWNERS = { key: 'API key', account: 'account', group: 'group', address: 'IP address' } as const;

function limitText({ subjects, plan }: DryRunResult): string {
  const limits = (subjects ?? []).flatMap(({ kind, limits: own }) => {
    const words = describeLimits(own);
    return words === '' ? [] : [`${OWNERS[kind]} ${words}`];
  });
  if (limits.length === 0) return 'No limits apply.';
  const said = `Limits: ${limits.join('; ')}.`;
  return plan === undefined ? said : `${said} Current usage by other calls is not counted.`;
}

function moneyText({ money, plan }: DryRunResult): string {
  if (money === undefined)
    return plan === undefined
      ? 'No hold, because the call has no price.'
      : 'No hold, because the API key cannot be used.';
  const { result, requested } = money;
  const held = `Hold: ${exactUsd(result.hold)} of ${exactUsd(result.free)} available`;
  const least = `minimum: ${exactUsd(requested.minimum)}`;
  return result.hold < requested.ceiling
    ? `${held}; ${least}. The maximum charge is ${exactUsd(requested.ceiling)}, so the output would be limited.`
    : `${held}; ${least}.`;
}

/** A dry run with everything that its page shows. */
interface RoutingResult {
  readonly question: DryRunInput;
  readonly dryRun: DryRunResult;
  readonly account: Account;
  /** Undefined: a new key. */
  readonly key: OwnKey | undefined;
  readonly timeZone: string;
}
