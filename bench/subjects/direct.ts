// The upstream itself, without anything in between.
import type { Subject, SubjectContext } from './subject.ts';

export function direct({ upstream, protocol }: SubjectContext): Subject {
  const target = { origin: upstream, protocol: protocol.id, headers: protocol.headers('sk-bench') };
  return {
    name: 'direct',
    target,
    translating: target,
    pid: undefined,
    databasePid: undefined,
    probe: undefined,
    stop: async () => undefined,
  };
}
