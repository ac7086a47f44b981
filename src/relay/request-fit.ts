import type { Call } from '../protocols/contract/index.js';
import { type Channel, refusesUnknownMembers } from '../catalog/channels/index.js';
import { AppError } from '../platform/shared/index.js';

/** What a channel is looked at for. */
type Asking = Pick<Call, 'protocol' | 'head'>;

/**
 * Why a channel that serves the model must not be asked for what the request demands beside tokens; undefined when it
 * may. Ids of upstream state are not among it: these are looked up once the call is admitted.
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
    super('invalid_request', `${path}: not supported by the upstream of this model. Remove it.`, {
      param: path,
      fault: 'unsupported_parameter',
    });
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
