import type { AppError } from '../../../platform/shared/index.js';
import { describeLimits } from '../../../platform/limits/index.js';
import type { DryRunAnswer } from '../../../relay/index.js';
import { dateTime, exactUsd } from '../../../platform/format/index.js';
import type { AnsweredRouting } from './answered-routing.js';

type Outcome = 'passed' | 'refused' | 'not-asked';

const BADGES: Readonly<Record<Outcome, { readonly tone: string; readonly label: string }>> = {
  passed: { tone: 'ok', label: 'Passes' },
  refused: { tone: 'bad', label: 'Refuses' },
  'not-asked': { tone: '', label: 'Not asked' },
};

const outcomeOf = (refusal: AppError | undefined, isAsked = true): Outcome =>
  refusal === undefined ? (isAsked ? 'passed' : 'not-asked') : 'refused';

/** What admits the call, in the order in which it is asked. */
export function admissionSteps(asked: AnsweredRouting) {
  const { answer } = asked;
  const { keyRefusal, modelRefusal, limitRefusal, plan, money } = answer;
  const steps = [
    { name: 'Account and key', outcome: outcomeOf(keyRefusal), words: keyRefusal?.message ?? keyWords(asked) },
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
  if (key === undefined) return 'The account may be used, and so may a new key of it.';
  const until = caller.expiresAt === undefined ? '' : ` until ${dateTime(new Date(caller.expiresAt), timeZone)}`;
  const where =
    caller.networks === undefined ? '' : ' It may be used from its networks alone, which are not looked at here.';
  return `Account and key may be used${until}.${where}`;
}

function groupWords({ key, account, answer: { caller } }: AnsweredRouting): string {
  const from =
    key?.groupName !== undefined
      ? 'the key names it'
      : account.groupName !== undefined
        ? 'the account is in it'
        : 'neither key nor account names another';
  return `The group is ${caller.groupName}: ${from}.`;
}

function modelWords({ answer: { caller } }: AnsweredRouting): string {
  return caller.models === undefined
    ? 'The key may use every model of the group, and this is one.'
    : 'The model is of the group, and one of those that the key may use.';
}

const OWNERS = { key: 'the key', account: 'the account', group: 'the group', address: 'an address' } as const;

function limitWords({ subjects, plan }: DryRunAnswer): string {
  const limits = (subjects ?? []).flatMap(({ kind, limits: own }) => {
    const words = describeLimits(own);
    return words === '' ? [] : [`${OWNERS[kind]} ${words}`];
  });
  if (limits.length === 0) return 'Nobody has a limit.';
  const said = `Limits are: ${limits.join('; ')}.`;
  return plan === undefined ? said : `${said} What other calls use of them at that moment is not counted here.`;
}

function moneyWords({ money, plan }: DryRunAnswer): string {
  if (money === undefined)
    return plan === undefined
      ? 'Nothing is held for a call that has no price.'
      : 'Nothing is held for a key that may not be used.';
  const { result, asked } = money;
  const held = `${exactUsd(result.hold)} would be held, of ${exactUsd(result.free)} that is free in the wallet`;
  const least = `the call needs at least ${exactUsd(asked.minimum)}`;
  return result.hold < asked.ceiling
    ? `${held}; ${least}, and all that it may use is ${exactUsd(asked.ceiling)}, so that its answer would be limited.`
    : `${held}; ${least}.`;
}
