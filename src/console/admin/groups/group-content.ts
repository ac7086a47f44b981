import type { GroupMoves, Inventory } from '../../../catalog/channels/index.js';
import { RefusedEntries } from '../../../catalog/channels/index.js';
import type { FormBody } from '../../web/index.js';
import { linesOf, pairsIn, textOf, textsOf } from '../catalog-form.js';

// The content of a group: its form ticks models and channels, whose own pages list their groups.

/** Names by kind. */
export interface GroupContent {
  readonly models: ReadonlySet<string>;
  readonly channels: ReadonlySet<string>;
}

const namesIn = (values: FormBody, field: string): ReadonlySet<string> => new Set(textsOf(values, field));

const without = (names: ReadonlySet<string>, others: ReadonlySet<string>): ReadonlySet<string> =>
  new Set([...names].filter((name) => !others.has(name)));

/** Models and channels ticked in the form. */
export const contentIn = (values: FormBody): GroupContent => ({
  models: namesIn(values, 'model'),
  channels: namesIn(values, 'channel'),
});

/** The group's content in the catalog. */
export const contentOf = (group: string, { models, channels }: Inventory): GroupContent => ({
  models: new Set(models.filter(({ definition }) => definition?.groups.includes(group)).map(({ name }) => name)),
  channels: new Set(channels.filter(({ groups }) => groups.includes(group)).map(({ name }) => name)),
});

/** The form's fields for a group's content; `had` fields keep what the page was rendered with. */
export const contentValues = ({ models, channels }: GroupContent): FormBody => ({
  model: [...models],
  hadModel: [...models],
  channel: [...channels],
  hadChannel: [...channels],
});

/** Only what was ticked or unticked on the page, so that changes of others meanwhile are kept. */
export function movesIn(values: FormBody, group: string): GroupMoves {
  const move = (field: string, hadField: string) => {
    const [has, had] = [namesIn(values, field), namesIn(values, hadField)];
    return { group, added: without(has, had), removed: without(had, has) };
  };
  return { models: move('model', 'hadModel'), channels: move('channel', 'hadChannel') };
}

/** Nothing is without a group. @throws RefusedEntries */
export function checkMoves({ models, channels }: GroupMoves, inventory: Inventory): void {
  const things = [
    ...inventory.models.map(({ name, definition }) => ({ name, groups: definition?.groups ?? [], move: models })),
    ...inventory.channels.map(({ name, groups }) => ({ name, groups, move: channels })),
  ];
  const last = things.find(
    ({ name, groups, move }) => move.removed.has(name) && groups.every((group) => group === move.group),
  );
  if (last !== undefined) throw new RefusedEntries([{ path: 'content', message: `must keep ${last.name}: ${LAST}` }]);
}

const LAST = 'this is its only group. Add it to another group first, or disable it';

/** The multipliers of the rows, as the lines `name multiplier` that the form compares. */
export function withFactors(body: FormBody): FormBody {
  const factors = textsOf(body, 'factor');
  const pairs = textsOf(body, 'factorOf').map((name, index) => [name, factors[index]?.trim() ?? ''] as const);
  const { factor: _, factorOf: __, ...fields } = body;
  return { ...fields, models: linesOf(Object.fromEntries(pairs.filter(([, text]) => text !== ''))) };
}

/** Rows of the form. */
export function contentRows({ models, channels }: Inventory, values: FormBody) {
  const content = contentIn(values);
  const factors = pairsIn(textOf(values, 'models'));
  return {
    models: models.flatMap(({ name, enabled, definition }) =>
      definition === undefined
        ? []
        : [{ name, enabled, ticked: content.models.has(name), factor: factors[name] ?? '' }],
    ),
    channels: channels.map(({ name }) => ({ name, ticked: content.channels.has(name) })),
    hadModels: textsOf(values, 'hadModel'),
    hadChannels: textsOf(values, 'hadChannel'),
  };
}
