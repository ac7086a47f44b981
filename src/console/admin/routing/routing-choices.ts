import { EFFORTS, type ProtocolAdapter } from '../../../protocols/contract/index.js';
import type { Catalog } from '../../../catalog/index.js';
import type { OwnKey } from '../../../keys/index.js';
import { protocolNames } from '../../web/index.js';

interface Choice {
  readonly value: string;
  readonly label: string;
}

/** Options of the dry run form. */
export const routingChoices = (
  { models }: Pick<Catalog, 'models'>,
  dialects: readonly Pick<ProtocolAdapter, 'id'>[],
  keys: readonly OwnKey[],
  chosen: OwnKey | undefined,
): Readonly<Record<'keys' | 'models' | 'dialects' | 'efforts', readonly Choice[]>> => ({
  keys: [{ value: '', label: 'A new API key with default settings' }, ...withChosen(keys, chosen).map(keyChoice)],
  models: [...models.values()]
    .toSorted((one, other) => one.name.localeCompare(other.name))
    .map(({ name, enabled }) => ({ value: name, label: enabled ? name : `${name} (disabled)` })),
  dialects: dialects
    .toSorted((one, other) => protocolNames(one.id).place - protocolNames(other.id).place)
    .map(({ id }) => ({ value: id, label: protocolNames(id).fullName })),
  efforts: [{ value: '', label: 'Not set' }, ...EFFORTS.map((effort) => ({ value: effort, label: effort }))],
});

/** Includes the selected key if it is not on the listed page. */
const withChosen = (keys: readonly OwnKey[], chosen: OwnKey | undefined): readonly OwnKey[] =>
  chosen === undefined || keys.some(({ id }) => id === chosen.id) ? keys : [chosen, ...keys];

const keyChoice = ({ id, name, hint, state }: OwnKey): Choice => ({
  value: id,
  label: `${name}, ${hint}${state === 'enabled' ? '' : ` (${state})`}`,
});
