import type { AppError } from '../../../platform/shared/index.js';
import { describeLimits } from '../../../platform/limits/index.js';
import type { DryRunResult } from '../../../relay/index.js';
import { dateTime, exactUsd } from '../../../platform/format/index.js';
import type { RoutingResult } from './routing-result.js';

type Outcome = 'passed' | 'refused' | 'not-asked';

const BADGES: Readonly<Record<Outcome, { readonly tone: string; readonly label: string }>> = {
  passed: { tone: 'ok', label: 'Passed' },
  refused: { tone: 'bad', label: 'Failed' },
  'not-asked': { tone: '', label: 'Skipped' },
};

const outcomeOf = (refusal: AppError | undefined, isAsked = true): Outcome =>
  refusal === undefined ? (isAsked ? 'passed' : 'not-asked') : 'refused';

/** The admission checks, in the order in which a call passes them. */
export function admissionSteps(asked: RoutingResult) {
  const { answer } = asked;
  const { keyRefusal, modelRefusal, limitRefusal, plan, money } = answer;
  const steps = [
    { name: 'Account and API key', outcome: outcomeOf(keyRefusal), words: keyRefusal?.message ?? keyText(asked) },
    {
      name: 'Group and model',
      outcome: outcomeOf(modelRefusal),
      words: `${describeGroup(asked)} ${modelRefusal?.message ?? modelText(asked)}`,
    },
    {
      name: 'Limits',
      outcome: outcomeOf(limitRefusal, plan !== undefined),
      words: limitRefusal?.message ?? limitText(answer),
    },
    {
      name: 'Money',
      outcome: outcomeOf(money?.refusal, money !== undefined),
      words: money?.refusal?.message ?? moneyText(answer),
    },
  ];
  return steps.map(({ name, outcome, words }) => ({ name, badge: BADGES[outcome], words }));
}

function keyText({ key, answer: { caller }, timeZone }: RoutingResult): string {
  if (key === undefined) return 'The account and a new API key can be used.';
  const until = caller.expiresAt === undefined ? '' : ` until ${dateTime(new Date(caller.expiresAt), timeZone)}`;
  const where =
    caller.networks === undefined
      ? ''
      : ' The API key is restricted to certain networks, which the dry run does not check.';
  return `The account and the API key can be used${until}.${where}`;
}

function describeGroup({ key, account, answer: { caller } }: RoutingResult): string {
  const from =
    key?.groupName !== undefined
      ? 'set on the API key'
      : account.groupName !== undefined
        ? 'set on the account'
        : 'neither the API key nor the account has a group';
  return `Group: ${caller.groupName} (${from}).`;
}

function modelText({ answer: { caller } }: RoutingResult): string {
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
  const { result, asked } = money;
  const held = `Hold: ${exactUsd(result.hold)} of ${exactUsd(result.free)} available`;
  const least = `minimum: ${exactUsd(asked.minimum)}`;
  return result.hold < asked.ceiling
    ? `${held}; ${least}. The maximum charge is ${exactUsd(asked.ceiling)}, so the output would be limited.`
    : `${held}; ${least}.`;
}
