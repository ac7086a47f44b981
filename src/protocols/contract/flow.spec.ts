import { setTimeout as sleep } from 'node:timers/promises';
import { Flow } from './flow.js';

function aSource() {
  const told: string[] = [];
  return { told, pause: () => void told.push('pause'), resume: () => void told.push('resume') };
}

describe('the flow of an answer', () => {
  it('stands still while anybody holds it', () => {
    const [flow, source] = [new Flow(), aSource()];
    flow.attach(source);
    flow.hold('client');
    flow.hold('credit');
    flow.hold('client');
    flow.release('credit');
    expect([source.told, flow.paused]).toEqual([['pause'], true]);
    flow.release('client');
    expect([source.told, flow.paused]).toEqual([['pause', 'resume'], false]);
  });

  it('says whether it is the client that takes nothing', () => {
    const flow = new Flow();
    flow.hold('credit');
    expect([flow.paused, flow.full]).toEqual([true, false]);
    flow.hold('client');
    expect(flow.full).toBe(true);
  });

  it('pauses a source that comes while it is held, and no source that has gone', () => {
    const [flow, first, second] = [new Flow(), aSource(), aSource()];
    const detach = flow.attach(first);
    flow.hold('client');
    detach();
    flow.attach(second);
    flow.release('client');
    expect([first.told, second.told]).toEqual([['pause'], ['pause', 'resume']]);
  });

  it('counts how long it has been held, by however many at once', async () => {
    const flow = new Flow();
    expect(flow.pausedMs).toBe(0);
    flow.hold('client');
    flow.hold('credit');
    await sleep(30);
    expect(flow.pausedMs).toBeGreaterThan(25);
    flow.release('client');
    flow.release('credit');
    const heldMs = flow.pausedMs;
    await sleep(10);
    expect(flow.pausedMs).toBe(heldMs);
    flow.hold('client');
    await sleep(10);
    expect(flow.pausedMs).toBeGreaterThan(heldMs + 5);
  });
});
