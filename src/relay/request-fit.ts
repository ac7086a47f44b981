import type { Call, ScopedId } from '../call/index.js';
import { type Channel, refusesUnknownMembers, sharesState } from '../channels/index.js';
import { AppError } from '../shared/index.js';

/** What a channel is looked at for. */
type Asking = Pick<Call, 'protocol' | 'head'>;

/**
 * Why a channel that serves the model must not be asked for what the request demands beside tokens; undefined when it
 * may. Ids of responses and items are not among it: these are looked up where responses are stored.
 * @param unpriced what the client is told where its hosted tools would be run, and one has no fee
 */
export function misfitOf(
  channel: Channel,
  { protocol, head: { demands } }: Asking,
  unpriced?: AppError,
): AppError | undefined {
  if (demands === undefined) return undefined;
  const [unknown] = demands.unknownMembers;
  if (unknown !== undefined && refusesUnknownMembers(channel)) return new UnknownMember(unknown);
  const [scoped] = demands.scopedIds;
  if (scoped !== undefined && !sharesState(channel)) return new NotYours(scoped);
  // A translation leaves tools and other models out that the channel does not have, and says so.
  const isNative = channel.protocol === protocol;
  if (unpriced !== undefined && (isNative || hasHostedTools(channel))) return unpriced;
  const unmapped = isNative ? demands.models.find(({ name }) => !channel.models.has(name)) : undefined;
  return unmapped && new ServedElsewhere(unmapped.path, unmapped.name);
}

const hasHostedTools = ({ flags: { hostedWebSearch } }: Channel): boolean =>
  hostedWebSearch !== undefined && hostedWebSearch !== false;

/** The channel takes only what its vendor documents. */
class UnknownMember extends AppError {
  constructor(path: string) {
    super('invalid_request', `${path}: this member is not supported by the upstream of this model. Leave it out.`, {
      param: path,
      fault: 'unsupported_parameter',
    });
  }
}

const NOUNS: Readonly<Record<ScopedId['kind'], string>> = {
  response: 'response',
  item: 'item',
  conversation: 'conversation',
  file: 'file',
  container: 'container',
  thread: 'thread',
  vector_store: 'vector store',
  prompt: 'prompt',
  skill: 'skill',
  tunnel: 'tunnel',
};

/** The id is of state that was not made through this relay by this account: it may be anybody's. */
class NotYours extends AppError {
  /** Clients that are told so send the whole conversation. */
  readonly wireDetails;

  constructor({ kind, id, path }: ScopedId) {
    super('not_found', `${path}: no ${NOUNS[kind]} found with id ${JSON.stringify(id.slice(0, 128))}.`, {
      param: path,
    });
    this.wireDetails = kind === 'thread' ? { error_code: 'thread_not_found' } : undefined;
  }
}

/** No upstream has both models under one account. */
class ServedElsewhere extends AppError {
  constructor(path: string, name: string) {
    super(
      'invalid_request',
      `${path}: the model ${JSON.stringify(name)} is not served by the same upstream as the model of this request.`,
      { param: path },
    );
  }
}
