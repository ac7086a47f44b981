import type { FastifyRequest } from 'fastify';
import { createHash, timingSafeEqual } from 'node:crypto';
import { BlockList, isIP } from 'node:net';
import type { Secret } from '../../platform/shared/index.js';

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4');
LOOPBACK.addAddress('::1', 'ipv6');

/** What proxies say of whom they ask for. */
const FORWARDING =
  /^(?:forwarded|via|x-forwarded(?:-.*)?|x-original-.*|(?:x-)?(?:real|client|cluster-client|true-client)-ip|(?:cf|fastly|true)-.*-ip)$/;

type Asked = Pick<FastifyRequest, 'headers'> & {
  readonly raw: { readonly socket: { readonly remoteAddress?: string | undefined } };
};

/**
 * Whether a request was made on this machine, and not by a proxy on it for somebody elsewhere. The connection is looked
 * at: whom a trusted proxy asks for is not this.
 */
export function isLocal({ headers, raw }: Asked): boolean {
  const address = raw.socket.remoteAddress ?? '';
  const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
  return isIP(address) !== 0 && LOOPBACK.check(address, family) && !Object.keys(headers).some(isForwarding);
}

const isForwarding = (name: string): boolean => FORWARDING.test(name);

/** Digests are compared: in the same time however much of the token is right. */
export function showsToken({ headers }: Pick<FastifyRequest, 'headers'>, token: Secret): boolean {
  const shown = /^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1];
  return shown !== undefined && timingSafeEqual(digest(shown), digest(token.reveal()));
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
