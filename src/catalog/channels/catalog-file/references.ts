import { type CatalogNames, DEFAULT_GROUP } from '../../index.js';
import type { ChannelEntry } from './channel.dto.js';
import { authOf, type DefaultAuth } from './definitions-from-entries.js';
import type { CatalogFileDto, GroupEntry } from './group.dto.js';
import type { ModelEntry } from './model.dto.js';
import type { EntryError } from './read-catalog-file.js';

/** Existing names that the file may refer to. */
interface ReferenceContext {
  /** Undefined when everything else will be disabled: then only the file counts. */
  readonly stored: CatalogNames | undefined;
  readonly protocols: DefaultAuth;
}

/** Valid names, and the message for others. */
interface KnownNames {
  readonly names: ReadonlySet<string>;
  readonly otherwise: string;
}

interface NamedEntry {
  readonly name: string;
}

/** Checks that all names refer to something in the file or the stored catalog. */
export function referenceErrors(file: CatalogFileDto, { stored, protocols }: ReferenceContext): readonly EntryError[] {
  const otherwise = stored === undefined ? 'not in this file' : 'neither in this file nor stored';
  const groups = { names: new Set([DEFAULT_GROUP, ...(stored?.groups ?? []), ...namesOf(file.groups)]), otherwise };
  const models = { names: new Set([...(stored?.models ?? []), ...namesOf(file.models)]), otherwise };
  return [
    ...repeated('groups', file.groups),
    ...repeated('models', file.models),
    ...repeated('channels', file.channels),
    ...(file.groups ?? []).flatMap((group, index) => disabledDefault(`groups[${index}]`, group)),
    ...(file.groups ?? []).flatMap((group, index) => unknownModels(`groups[${index}]`, group.models ?? {}, models)),
    ...(file.models ?? []).flatMap((model, index) => unknownGroups(`models[${index}]`, model.groups, groups)),
    ...(file.models ?? []).flatMap((model, index) => earlyPrices(`models[${index}]`, model)),
    ...(file.channels ?? []).flatMap((channel, index) => [
      ...unknownGroups(`channels[${index}]`, channel.groups, groups),
      ...unknownModels(`channels[${index}]`, channel.models, models),
      ...unservedCosts(`channels[${index}]`, channel),
      ...unknownProtocol(`channels[${index}]`, channel, protocols),
      ...credentialErrors(`channels[${index}]`, channel, protocols),
      ...headerErrors(`channels[${index}]`, channel, protocols),
    ]),
  ];
}

const namesOf = (entries: readonly NamedEntry[] | null | undefined): string[] => entries?.map(({ name }) => name) ?? [];

function repeated(kind: string, entries: readonly NamedEntry[] | null | undefined): EntryError[] {
  const names = namesOf(entries);
  return names.flatMap((name, index) => {
    const first = names.indexOf(name);
    return first === index
      ? []
      : [{ path: `${kind}[${index}].name`, message: `repeats the name of ${kind}[${first}]` }];
  });
}

const unknownGroups = (path: string, groups: readonly string[] | null | undefined, known: KnownNames): EntryError[] =>
  (groups ?? []).flatMap((name, index) =>
    known.names.has(name)
      ? []
      : [{ path: `${path}.groups[${index}]`, message: `refers to the group "${name}", which is ${known.otherwise}` }],
  );

const unknownModels = (path: string, models: Readonly<Record<string, unknown>>, known: KnownNames): EntryError[] =>
  Object.keys(models).flatMap((name) =>
    known.names.has(name)
      ? []
      : [{ path: `${path}.models`, message: `refers to the model "${name}", which is ${known.otherwise}` }],
  );

const disabledDefault = (path: string, { name, enabled }: GroupEntry): EntryError[] =>
  name === DEFAULT_GROUP && enabled === false
    ? [{ path: `${path}.enabled`, message: `must not be false: calls without another group are billed under ${name}` }]
    : [];

const earlyPrices = (path: string, { valid_from, upcoming }: ModelEntry): EntryError[] => {
  const [first] = upcoming ?? [];
  return valid_from && first && first.valid_from <= valid_from
    ? [{ path: `${path}.upcoming[0].valid_from`, message: 'must be later than valid_from of the model' }]
    : [];
};

const unservedCosts = (path: string, { models, costs }: ChannelEntry): EntryError[] =>
  [...(costs?.keys() ?? [])].flatMap((name) =>
    name in models ? [] : [{ path: `${path}.costs.${name}`, message: "is not one of the channel's models" }],
  );

const unknownProtocol = (path: string, { protocol }: ChannelEntry, known: DefaultAuth): EntryError[] =>
  known.has(protocol) ? [] : [{ path: `${path}.protocol`, message: `must be one of ${[...known.keys()].join(', ')}` }];

function credentialErrors(path: string, channel: ChannelEntry, protocols: DefaultAuth): EntryError[] {
  const none = (channel.credentials ?? []).length === 0;
  if ((authOf(channel, protocols) === 'none') === none) return [];
  return none
    ? [{ path: `${path}.credentials`, message: 'is missing: add at least one, or set `auth: none`' }]
    : [{ path: `${path}.credentials`, message: 'must be empty with `auth: none`' }];
}

/** The credential would silently replace the header. */
function headerErrors(path: string, channel: ChannelEntry, protocols: DefaultAuth): EntryError[] {
  const auth = authOf(channel, protocols);
  const isTaken = Object.keys(channel.headers ?? {}).some((name) => name.toLowerCase() === auth);
  return isTaken ? [{ path: `${path}.headers`, message: `must not set ${auth}: it carries the credential` }] : [];
}
