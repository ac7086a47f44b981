/** Abilities of a protocol's half with their checks. */

import { UNSUPPORTED } from './report.js';

/** A fact about a half with the ability. Fails by throwing. */
export interface Check {
  readonly name: string;
  readonly run: () => void;
}

/** Checks of one ability. */
export interface AbilityChecks {
  readonly checks: readonly Check[];
  /** Checked if the ability is not supported: requests for it must not be ignored silently. */
  readonly otherwise?: Check;
}

export type Abilities<Ability extends string> = Readonly<Record<Ability, AbilityChecks>>;

/** Unsupported abilities with the reason. */
export type Lacks<Ability extends string> = Readonly<Partial<Record<Ability, string>>>;

/** @param half as in the report: `gemini, upstream half` */
export function describeAbilities(half: string, abilities: Abilities<string>, lacks: Lacks<string>): void {
  describe(half, () => {
    for (const [ability, shown] of Object.entries(abilities)) {
      describe(ability, () => describeShown(shown, lacks[ability]));
    }
  });
}

function describeShown(shown: AbilityChecks, reason: string | undefined): void {
  if (reason !== undefined) for (const { name, run } of shown.checks) itUnless(reason, name, run);
  for (const { name, run } of checksDue(shown, reason)) it(name, run);
}

/** The checks that apply to a half. */
export function checksDue({ checks, otherwise }: AbilityChecks, reason: string | undefined): readonly Check[] {
  if (reason === undefined) return checks;
  return otherwise === undefined ? [] : [otherwise];
}

/** A test, skipped with the reason in its name if unsupported. */
export function itUnless(reason: string | undefined, name: string, run: (() => void) | (() => Promise<void>)): void {
  if (reason === undefined) it(name, run);
  else it.skip(`${name} (${UNSUPPORTED}${reason})`, run);
}
