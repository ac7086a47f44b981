/** What the kit asks of a half of a dialect: abilities, each with the checks that show it. */

import { NO_WORD } from './report.js';

/** One thing that is true of a half that has the ability. It fails by throwing, as `expect` does. */
export interface Check {
  /** A sentence about behaviour. */
  readonly name: string;
  readonly run: () => void;
}

/** How one ability is shown. */
export interface Shown {
  readonly checks: readonly Check[];
  /** What holds all the same of a half that has no word for it: nothing vanishes without a word. */
  readonly otherwise?: Check;
}

/** All abilities of a half. */
export type Abilities<Ability extends string> = Readonly<Record<Ability, Shown>>;

/** What a dialect has no words for, each with the reason. */
export type Lacks<Ability extends string> = Readonly<Partial<Record<Ability, string>>>;

/** @param half as the report names it: `gemini, upstream half` */
export function describeAbilities(half: string, abilities: Abilities<string>, lacks: Lacks<string>): void {
  describe(half, () => {
    for (const [ability, shown] of Object.entries(abilities)) {
      describe(ability, () => describeShown(shown, lacks[ability]));
    }
  });
}

function describeShown(shown: Shown, reason: string | undefined): void {
  if (reason !== undefined) for (const { name, run } of shown.checks) itUnless(reason, name, run);
  for (const { name, run } of checksDue(shown, reason)) it(name, run);
}

/** What has to hold of an ability that a dialect has, or has no word for. */
export function checksDue({ checks, otherwise }: Shown, reason: string | undefined): readonly Check[] {
  if (reason === undefined) return checks;
  return otherwise === undefined ? [] : [otherwise];
}

/** A test; where a dialect has no word for what it is about, one that is left out, with the reason in its name. */
export function itUnless(reason: string | undefined, name: string, run: (() => void) | (() => Promise<void>)): void {
  if (reason === undefined) it(name, run);
  else it.skip(`${name} (${NO_WORD}${reason})`, run);
}
