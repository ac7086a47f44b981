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
});
