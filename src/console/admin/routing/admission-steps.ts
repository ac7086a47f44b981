import type { AppError } from '../../../platform/shared/index.js';
import { describeLimits } from '../../../platform/limits/index.js';
import type { DryRunAnswer } from '../../../relay/index.js';
import { dateTime, exactUsd } from '../../../platform/format/index.js';
import type { AnsweredRouting } from './answered-routing.js';

type Outcome = 'passed' | 'refused' | 'not-asked';

const BADGES: Readonly<Record<Outcome, { readonly tone: string; readonly label: string }>> = {
  passed: { tone: 'ok', label: 'Passed' },
  refused: { tone: 'bad', label: 'Failed' },
  'not-asked': { tone: '', label: 'Skipped' },
};

const outcomeOf = (refusal: AppError | undefined, isAsked = true): Outcome =>
  refusal === undefined ? (isAsked ? 'passed' : 'not-asked') : 'refused';

/** The admission checks, in the order in which a call passes them. */
export function admissionSteps(asked: AnsweredRouting) {
  const { answer } = asked;
  const { keyRefusal, modelRefusal, limitRefusal, plan, money } = answer;
  const steps = [
    { name: 'Account and API key', outcome: outcomeOf(keyRefusal), words: keyRefusal?.message ?? keyWords(asked) },
    {
      name: 'Group and model',
      outcome: outcomeOf(modelRefusal),
      words: `${groupWords(asked)} ${modelRefusal?.message ?? modelWords(asked)}`,
    },
    {
      name: 'Limits',
      outcome: outcomeOf(limitRefusal, plan !== undefined),
      words: limitRefusal?.message ?? limitWords(answer),
    },
    {
      name: 'Money',
      outcome: outcomeOf(money?.refusal, money !== undefined),
      words: money?.refusal?.message ?? moneyWords(answer),
    },
  ];
  return steps.map(({ name, outcome, words }) => ({ name, badge: BADGES[outcome], words }));
}

function keyWords({ key, answer: { caller }, timeZone }: AnsweredRouting): string {
  if (key === undefined) return 'The account and a new API key can be used.';
  const until = caller.expiresAt === undefined ? '' : ` until ${dateTime(new Date(caller.expiresAt), timeZone)}`;
  const where =
    caller.networks === undefined
      ? ''
      : ' The API key is restricted to certain networks, which the dry run does not check.';
  return `The account and the API key can be used${until}.${where}`;
}

function groupWords({ key, account, answer: { caller } }: AnsweredRouting): string {
  const from =
    key?.groupName !== undefined
      ? 'set on the API key'
      : account.groupName !== undefined
        ? 'set on the account'
        : 'neither the API key nor the account has a group';
  return `Group: ${caller.groupName} (${from}).`;
}

function modelWords({ answer: { caller } }: AnsweredRouting): string {
  return caller.models === undefined
    ? 'The model is available in the group.'
    : 'The model is available in the group and allowed for the API key.';
}

const OWNERS = { key: 'API key', account: 'account', group: 'group', address: 'IP address' } as const;

function limitWords({ subjects, plan }: DryRunAnswer): string {
  const limits = (subjects ?? []).flatMap(({ kind, limits: own }) => {
    const words = describeLimits(own);
    return words === '' ? [] : [`${OWNERS[kind]} ${words}`];
  });
  if (limits.length === 0) return 'No limits apply.';
  const said = `Limits: ${limits.join('; ')}.`;
  return plan === undefined ? said : `${said} Current usage by other calls is not counted.`;
}

function moneyWords({ money, plan }: DryRunAnswer): string {
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
