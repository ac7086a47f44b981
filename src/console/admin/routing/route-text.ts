import type { ProtocolId } from '../../../protocols/contract/index.js';
import type { DryRoute } from '../../../relay/index.js';
import { protocolNames } from '../../web/index.js';
import { percent } from '../../../platform/format/index.js';

/** `main (60%) or other (40%)` */
export function destinationOf(routes: readonly DryRoute[]): string {
  const first = routes.filter(({ firstShare }) => firstShare > 0);
  const named = first.map(({ channel: { name, baseUrl }, firstShare }) =>
    first.length === 1 ? `${name} at ${baseUrl}` : `${name} at ${baseUrl} (${percent(firstShare, 1)})`,
  );
  return named.length < 2 ? (named[0] ?? '') : `${named.slice(0, -1).join(', ')} or ${named.at(-1)}`;
}

/** Why these channels are tried first, as a sentence. */
export function becauseOf(routes: readonly DryRoute[], protocol: ProtocolId): string {
  const first = routes.filter(({ firstShare }) => firstShare > 0);
  const [one] = first;
  const next = routes[first.length];
  if (one === undefined) return '';
  const many = first.length > 1 ? ' The first channel is chosen at random by weight.' : '';
  if (next === undefined) return first.length === 1 ? 'It is the only available channel.' : many.trimStart();
  return `${whyBefore(one, next, protocol)}${many}`;
}

function whyBefore(one: DryRoute, next: DryRoute, protocol: ProtocolId): string {
  const { tier } = one.channel;
  if (next.channel.tier !== tier) return `Tier ${tier} is tried before tier ${next.channel.tier}.`;
  if (one.channel.protocol !== next.channel.protocol && one.channel.protocol === protocol)
    return `In tier ${tier}, channels with the client’s protocol (${protocolNames(protocol).name}) are tried first.`;
  return `Other channels in tier ${tier} have weight 0 and are tried last.`;
}

/** A channel that would be tried, in routing order. */
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
    badge: { tone: 'ok', label: firstShare > 0 ? 'First attempt' : 'Failover' },
    words: [
      isTranslated ? translated(protocol, channel.protocol) : 'The request is passed through unchanged.',
      ...(firstShare > 0 ? [] : ['Used if the channels above fail.']),
      ...(rest !== undefined ? ['Its cooldown is over; the next request checks whether it has recovered.'] : []),
      ...(unrested < all ? [`${unrested} of ${all} credentials available.`] : []),
    ].join(' '),
  };
}

const translated = (from: ProtocolId, to: ProtocolId): string =>
  from === to
    ? 'The request is rewritten to request a streamed response.'
    : `Translated from ${protocolNames(from).name} to ${protocolNames(to).name}.`;
