// Calls with unknown keys at a steady rate.
import { randomBytes } from 'node:crypto';
import { protocolOf } from '../work/protocols.ts';
import type { Caller, Outcome } from './caller.ts';
import type { Report, UnknownKeysJob } from './jobs.ts';
import { Tally } from './tally.ts';

const TICK_MS = 5;
/** At this limit, later calls are delayed; the report's duration shows it. */
const MAX_IN_FLIGHT = 256;

const unknownKey = (): string => `sk-${randomBytes(24).toString('hex')}`;

export function sendUnknownKeys(caller: Caller, { target, calls, perSecond }: UnknownKeysJob): Promise<Report> {
  const protocol = protocolOf(target.protocol);
  const body = caller.body('answer', 900);
  const tally = new Tally();
  const same = protocol.headers(unknownKey());
  const begun = performance.now();
  let [sent, answered] = [0, 0];
  return new Promise((resolve) => {
    const answer = (outcome: Outcome): void => {
      tally.add(asRefusal(outcome));
      if (++answered < calls) return;
      clearInterval(timer);
      resolve(tally.report());
    };
    const timer = setInterval(() => {
      const due = Math.min(calls, ((performance.now() - begun) * perSecond) / 1000);
      for (; sent < due && sent - answered < MAX_IN_FLIGHT; sent++)
        void caller.call('answer', body, sent % 2 === 0 ? same : protocol.headers(unknownKey())).then(answer);
    }, TICK_MS);
  });
}

/** A 401 is the expected outcome. */
function asRefusal(outcome: Outcome): Outcome {
  if (outcome.failure === undefined) return { ...outcome, failure: 'a call with an unknown key was answered' };
  return outcome.failure.startsWith('401 ') ? { ...outcome, failure: undefined } : outcome;
}
