import { classifyUpstream } from '../../src/protocols/contract/index.js';
import { credentialSubjectOf } from '../../src/relay/routing/health/cooldown.js';
import { SharedCooldowns } from '../../src/relay/routing/health/shared-cooldowns.js';
import { NoChannel } from '../../src/relay/routing/selection/channel-status.js';
import { eventually } from '../support/eventually.js';
import type { HeldClock } from '../support/held-clock.js';
import { BAD_REQUEST, BROKEN, RATE_LIMITED, REFUSED, secretOf, useSelection } from '../support/selection-world.js';

describe('whom calls ask', () => {
  const world = useSelection();
  const { start, aCall, drawn, attempt, fail, refusal } = world;
  let clock: HeldClock;
  beforeEach(() => {
    ({ clock } = world);
  });

  it('R2: a credential at its rate limit rests for just as long as it was told, and the channel with it when it is the last', async () => {
    await start([{ name: 'a', credentials: ['one', 'two'] }]);
    const call = aCall();
    const one = (await drawn(call))!;
    await fail(one, RATE_LIMITED(7));
    const other = (await drawn(call))!;
    expect(new Set([secretOf(one), secretOf(other)])).toEqual(new Set(['one', 'two']));
    await fail(other, RATE_LIMITED(70));
    expect(await drawn(call)).toBeUndefined();
    expect(refusal()).toMatchObject({ kind: 'rate_limit_exceeded', details: { retryAfterSeconds: 7 } });
    clock.pass(6.999);
    expect(refusal()).toMatchObject({ kind: 'rate_limit_exceeded', details: { retryAfterSeconds: 1 } });
    clock.pass(0.001);
    for (let round = 0; round < 20; round += 1) expect(secretOf((await drawn(aCall()))!)).toBe(secretOf(one));
    clock.pass(62.999);
    for (let round = 0; round < 20; round += 1) expect(secretOf((await drawn(aCall()))!)).toBe(secretOf(one));
    clock.pass(0.001);
    const again = new Set<string | undefined>();
    for (let round = 0; round < 50; round += 1) again.add(secretOf((await drawn(aCall()))!));
    expect(again.size).toBe(2);
  });

  it('R2: a credential that was refused rests for five minutes, then one call tries', async () => {
    await start([{ name: 'a' }]);
    await attempt(aCall(), REFUSED);
    expect(refusal()).toMatchObject({ kind: 'upstream_auth' });
    clock.pass(299.999);
    expect(await drawn(aCall())).toBeUndefined();
    clock.pass(0.001);
    const tries = await Promise.all(Array.from({ length: 20 }, () => drawn(aCall())));
    const [probe, ...others] = tries.filter((one) => one !== undefined);
    expect(others).toEqual([]);
    expect(probe?.isProbe).toBe(true);

    // Refused again: five more minutes.
    await fail(probe!, REFUSED);
    clock.pass(299.999);
    expect(await drawn(aCall())).toBeUndefined();
    clock.pass(0.001);
    const second = (await drawn(aCall()))!;
    expect(await drawn(aCall())).toBeUndefined();
    second.started();
    expect(await attempt(aCall())).toBe('a');
    expect((await drawn(aCall()))?.isProbe).toBe(false);
  });

  it('R2: a call that was to try and was left lets the next one try', async () => {
    await start([{ name: 'a' }]);
    await attempt(aCall(), REFUSED);
    clock.pass(300);
    const probe = (await drawn(aCall()))!;
    expect(await drawn(aCall())).toBeUndefined();
    probe.release();
    expect((await drawn(aCall()))?.isProbe).toBe(true);
  });

  it('R2: what was healed while its call claimed something else does not rest again', async () => {
    await start([{ name: 'a' }], { minOutcomes: 1 });
    const [refused, broken] = [await aCall().next(), await aCall().next()];
    await fail(refused, REFUSED);
    await fail(broken, BROKEN);
    clock.pass(300);
    const rests = world.program.get(SharedCooldowns);
    const subject = credentialSubjectOf(refused.channel, refused.credential);
    const tries = aCall().next();
    rests.end(rests.find(subject)!);
    (await tries).release();
    expect(rests.find(subject)).toBeUndefined();
  });

  it('R2: a response that comes after another call has tried and failed changes nothing of the new rest', async () => {
    await start([{ name: 'a' }], { minOutcomes: 1, probeMs: 1 });
    await attempt(aCall(), BROKEN);
    clock.pass(5);
    const slow = await aCall().next();
    await eventually(async () => {
      clock.pass(1);
      expect(await attempt(aCall(), BROKEN)).toBe('a');
    });
    slow.succeeded();
    slow.release();
    expect(refusal().kind).toBe('server_is_overloaded');
  });

  it('R2: a channel that fails half of its calls is left alone, longer each time, until one call gets a response', async () => {
    await start([{ name: 'a' }]);
    for (const outcome of [undefined, undefined, BROKEN, BROKEN]) expect(await attempt(aCall(), outcome)).toBe('a');
    // What is not the upstream's fault is not counted.
    for (let count = 0; count < 9; count += 1) expect(await attempt(aCall(), BAD_REQUEST)).toBe('a');
    expect(await attempt(aCall(), BROKEN)).toBe('a');
    for (const seconds of [5, 10, 20, 40, 60, 60]) {
      expect(refusal()).toMatchObject({ kind: 'server_is_overloaded', details: { retryAfterSeconds: seconds } });
      clock.pass(seconds - 0.001);
      expect(await drawn(aCall())).toBeUndefined();
      clock.pass(0.001);
      const tries = await Promise.all(Array.from({ length: 10 }, () => drawn(aCall())));
      const probes = tries.filter((one) => one !== undefined);
      expect(probes).toHaveLength(1);
      await fail(probes[0]!, BROKEN);
    }
    clock.pass(60);
    const probe = (await drawn(aCall()))!;
    probe.started();
    // Open to all, and it begins anew: four failures are too few again.
    for (let count = 0; count < 4; count += 1) expect(await attempt(aCall(), BROKEN)).toBe('a');
    expect(await attempt(aCall())).toBe('a');
    // But a response that breaks off is what the others would get as well.
    await fail(probe, BROKEN);
    expect(await attempt(aCall())).toBeUndefined();
  });

  it('R2: a channel that does not know one model is not left alone, as others may be had there', async () => {
    await start([{ name: 'a' }]);
    const unknown = classifyUpstream(404, {}, { error: { message: 'No such model.', code: 'model_not_found' } });
    expect(unknown.details.failover).toBe(true);
    for (let count = 0; count < 10; count += 1) expect(await attempt(aCall(), unknown)).toBe('a');
    expect(await attempt(aCall())).toBe('a');
  });

  it('R2: what had begun before a channel was healed does not count against it', async () => {
    await start([{ name: 'a' }]);
    const before = await Promise.all(Array.from({ length: 20 }, () => drawn(aCall())));
    for (const assignment of before.slice(0, 5)) await fail(assignment!, BROKEN);
    clock.pass(5);
    await attempt(aCall());
    for (const assignment of before.slice(5)) await fail(assignment!, BROKEN);
    expect(await attempt(aCall())).toBe('a');
  });

  it('a call that finds out whether it is the one that tries takes no place that another has taken meanwhile', async () => {
    await start([{ name: 'a', credentials: ['refused', 'good'], concurrency: 1 }]);
    let refused = await aCall().next();
    while (secretOf(refused) !== 'refused') {
      refused.release();
      refused = await aCall().next();
    }
    await fail(refused, REFUSED);
    clock.pass(300);
    let tries = aCall().next();
    while (!(tries instanceof Promise)) {
      tries.release();
      tries = aCall().next();
    }
    const other = await aCall().next();
    expect(secretOf(other)).toBe('good');
    await expect(tries).rejects.toThrow(NoChannel);
    other.release();
    await world.program.get(SharedCooldowns).written();
    expect(await attempt(aCall())).toBe('a');
  });
});
