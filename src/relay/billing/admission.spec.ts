import { jest } from '@jest/globals';
import type { DatabasePools } from '../../platform/database/index.js';
import { AdmissionHealth } from './admission.js';

describe('AdmissionHealth', () => {
  let isWritable: boolean;
  let probes: number;
  let health: AdmissionHealth;
  let nowMs: number;

  beforeEach(() => {
    isWritable = true;
    probes = 0;
    nowMs = 10_000;
    jest.spyOn(performance, 'now').mockImplementation(() => nowMs);
    const query = (): Promise<unknown> => {
      probes += 1;
      return isWritable ? Promise.resolve() : Promise.reject(new Error('No space left on device'));
    };
    health = new AdmissionHealth({ admission: { query } } as unknown as DatabasePools);
  });
  afterEach(() => jest.restoreAllMocks());

  it('follows the latest admissions without a probe', async () => {
    isWritable = false;
    health.noteSuccess();
    expect(await health.check()).toBe(true);
    isWritable = true;
    for (let failure = 0; failure < 3; failure += 1) health.noteFailure();
    expect(await health.check()).toBe(false);
    health.noteSuccess();
    expect(await health.check()).toBe(true);
    expect(probes).toBe(0);
  });

  it.each([
    ['well', true],
    ['not', false],
  ])('is decided by a probe after a single failure: %s', async (_, writable) => {
    isWritable = writable;
    health.noteSuccess();
    health.noteFailure();
    expect(await health.check()).toBe(writable);
  });

  it('recovers without further calls', async () => {
    for (let failure = 0; failure < 9; failure += 1) health.noteFailure();
    nowMs += 2000;
    expect(await health.check()).toBe(true);
  });

  it('fails without further calls', async () => {
    health.noteSuccess();
    isWritable = false;
    nowMs += 2000;
    expect(await health.check()).toBe(false);
  });

  it('probes at most once a second', async () => {
    for (let requested = 0; requested < 20; requested += 1) {
      expect(await health.check()).toBe(true);
      nowMs += 99;
    }
    expect(probes).toBe(2);
  });
});
