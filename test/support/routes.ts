import { ModulesContainer } from '@nestjs/core';
import type { Permission } from '../../src/auth/index.js';
import { type Access, ACCESS, ALLOWS, RECENT_SIGN_IN } from '../../src/console/access/index.js';
import { ApiKeyGuard } from '../../src/keys/index.js';
import { CallGuard } from '../../src/relay/call.guard.js';
import { SocketGuard } from '../../src/relay/websocket/socket.controller.js';
import type { RelayApp } from './relay-app.js';

/** Where Nest writes what stands in front of a handler. */
const GUARDS = '__guards__';
const KEY_GUARDS: readonly unknown[] = [CallGuard, ApiKeyGuard, SocketGuard];
const METHODS = ['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'ALL', 'OPTIONS', 'HEAD'];

export interface Route {
  readonly name: string;
  readonly controller: string;
  readonly access: Access | undefined;
  /** Of a page of the scope: what a role in an organization must allow, one of these. */
  readonly allows: readonly Permission[] | undefined;
  /** Of the API: nobody gets by without a key. */
  readonly takesKey: boolean;
  /** Whether it asks for the password on a page of its own when the sign-in is not recent. */
  readonly requiresRecentSignIn: boolean;
}

const reported = (key: string, ...targets: object[]): unknown =>
  targets.map((target) => Reflect.getMetadata(key, target) as unknown).find((value) => value !== undefined);

/** Every handler of every controller, by what Nest has written on it. */
export function routesOf(relay: RelayApp): Route[] {
  const modules = [...relay.get(ModulesContainer).values()];
  const controllers = new Set(
    modules.flatMap((module) => [...module.controllers.values()].map(({ metatype }) => metatype)),
  );
  return [...controllers].flatMap((controller) => {
    if (typeof controller !== 'function') return [];
    const prototype = controller.prototype as Record<string, unknown>;
    const methods = Object.getOwnPropertyNames(prototype).filter((name) => name !== 'constructor');
    return methods.flatMap((method): Route[] => {
      const handler = prototype[method];
      const path = typeof handler === 'function' ? reported('path', handler) : undefined;
      if (typeof handler !== 'function' || path === undefined) return [];
      const verb = METHODS[reported('method', handler) as number] ?? '?';
      const access = reported(ACCESS, handler, controller) as Access | undefined;
      const allows = reported(ALLOWS, handler, controller) as readonly Permission[] | undefined;
      const guards = reported(GUARDS, handler, controller) as readonly unknown[] | undefined;
      const takesKey = KEY_GUARDS.some((guard) => guards?.includes(guard));
      const requiresRecentSignIn = reported(RECENT_SIGN_IN, handler) !== undefined;
      const places = [reported('path', controller)].flat();
      return places
        .flatMap((place) => [path].flat().map((own) => [place, own]))
        .map((both) => {
          const parts = both.map((part) => String(part).replaceAll(/^\/|\/$/g, ''));
          const name = `${verb} /${parts.filter(Boolean).join('/')}`;
          return { name, controller: controller.name, access, allows, takesKey, requiresRecentSignIn };
        });
    });
  });
}
