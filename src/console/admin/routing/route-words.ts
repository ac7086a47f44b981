import type { ProtocolId } from '../../../protocols/contract/index.js';
import type { DryRoute } from '../../../relay/index.js';
import { dialectNames } from '../../web/index.js';
import { percent } from '../../../platform/format/index.js';

/** `main (60%) or other (40%)` */
export function destinationOf(routes: readonly DryRoute[]): string {
  const first = routes.filter(({ firstShare }) => firstShare > 0);
  const named = first.map(({ channel: { name, baseUrl }, firstShare }) =>
    first.length === 1 ? `${name} at ${baseUrl}` : `${name} at ${baseUrl} (${percent(firstShare, 1)})`,
  );
  return named.length < 2 ? (named[0] ?? '') : `${named.slice(0, -1).join(', ')} or ${named.at(-1)}`;
}

/** Why those are asked first, as a sentence. */
export function becauseOf(routes: readonly DryRoute[], protocol: ProtocolId): string {
  const first = routes.filter(({ firstShare }) => firstShare > 0);
  const [one] = first;
  const next = routes[first.length];
  if (one === undefined) return '';
  const many = first.length > 1 ? ' Chance decides between them, by their weights.' : '';
  if (next === undefined)
    return first.length === 1 ? 'It is the only channel that can be asked now.' : many.trimStart();
  return `${whyBefore(one, next, protocol, first.length > 1)}${many}`;
}

function whyBefore(one: DryRoute, next: DryRoute, protocol: ProtocolId, isMany: boolean): string {
  const { tier } = one.channel;
  if (next.channel.tier !== tier) return `Tier ${tier} is asked before tier ${next.channel.tier}.`;
  if (one.channel.protocol !== next.channel.protocol && one.channel.protocol === protocol)
    return `In tier ${tier} ${isMany ? 'they speak' : 'it speaks'} ${dialectNames(protocol).name}, as the client does.`;
  return `The others of tier ${tier} have weight 0: they are asked last.`;
}

/** A channel that would be asked, in its turn. */
export function routeRow(route: DryRoute, place: number, protocol: ProtocolId) {
  const { channel, firstShare, upstreamModel, isTranslated, rest, credentials } = route;
  const unrested = credentials.length;
  const all = channel.credentials.length;
  return {
    place: String(place),
    name: channel.name,
    baseUrl: channel.baseUrl,
    tierAndWeight: `${channel.tier} · ${channel.weight}`,
    upstreamModel,
    share: firstShare > 0 ? percent(firstShare, 1) : undefined,
    badge: { tone: 'ok', label: firstShare > 0 ? 'Asked first' : 'Asked next' },
    words: [
      isTranslated ? translated(protocol, channel.protocol) : 'The request goes up as it is.',
      ...(firstShare > 0 ? [] : ['Asked when those above it fail.']),
      ...(rest !== undefined ? ['It has rested; the next call tries whether it answers again.'] : []),
      ...(unrested < all ? [`${unrested} of its ${all} credentials can be used.`] : []),
    ].join(' '),
  };
}

const translated = (from: ProtocolId, to: ProtocolId): string =>
  from === to
    ? 'The request is written anew: its answer is asked for as a stream.'
    : `Translated from ${dialectNames(from).name} to ${dialectNames(to).name}.`;
