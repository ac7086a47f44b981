import type { TestingModule } from '@nestjs/testing';
import { DuplicateSubmission, IdempotentForms, WebModule } from '../../src/console/web/index.js';
import { Onboarding, OnboardingModule } from '../../src/keys/onboarding/index.js';
import { freshDatabase, type TestDatabase } from '../support/database.js';
import { startOn } from '../support/modules.js';

const BODY = { _once: 'n'.repeat(22) };

describe('forms that are sent once', () => {
  let database: TestDatabase;
  let app: TestingModule;
  let forms: IdempotentForms;
  let ann: string;
  let bob: string;
  let made: number;

  beforeEach(async () => {
    database = await freshDatabase();
    app = await startOn(database, [WebModule, OnboardingModule]);
    forms = app.get(IdempotentForms);
    ({ id: ann } = await app.get(Onboarding).createAccount({ email: 'ann@example.com' }));
    ({ id: bob } = await app.get(Onboarding).createAccount({ email: 'bob@example.com' }));
    made = 0;
  });
  afterEach(async () => {
    await app.close();
    await database.drop();
  });

  const make = (): Promise<number> => Promise.resolve((made += 1));
  const locate = (number: number): string => `/things/${number}`;

  it('make one thing, and lead to it again when they are sent again', async () => {
    await expect(forms.run(ann, BODY, make, locate)).resolves.toEqual({ location: '/things/1', made: 1 });
    await expect(forms.run(ann, BODY, make, locate)).resolves.toEqual({ location: '/things/1', made: undefined });
    expect(made).toBe(1);
  });

  it('make one thing when they are sent many times at once', async () => {
    const sent = await Promise.allSettled(Array.from({ length: 20 }, () => forms.run(ann, BODY, make, locate)));
    expect(made).toBe(1);
    for (const result of sent)
      if (result.status === 'rejected') expect(result.reason).toBeInstanceOf(DuplicateSubmission);
      else expect(result.value?.location).toBe('/things/1');
  });

  it('are not mixed up between people', async () => {
    await forms.run(ann, BODY, make, locate);
    await expect(forms.run(bob, BODY, make, locate)).resolves.toEqual({ location: '/things/2', made: 2 });
  });

  it('can be sent again when they made nothing or failed', async () => {
    await expect(forms.run(ann, BODY, () => Promise.resolve(undefined), locate)).resolves.toBeUndefined();
    await expect(forms.run(ann, BODY, () => Promise.reject(new Error('no')), locate)).rejects.toThrow('no');
    await expect(forms.run(ann, BODY, make, locate)).resolves.toEqual({ location: '/things/1', made: 1 });
  });

  it('are refused without the page they belong to', async () => {
    for (const body of [{}, { _once: '' }, { _once: ['n'.repeat(22), 'm'.repeat(22)] }])
      await expect(forms.run(ann, body, make, locate)).rejects.toThrow(DuplicateSubmission);
  });
});
