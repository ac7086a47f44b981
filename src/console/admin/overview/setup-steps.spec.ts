import { setupSteps, type SetupState } from './setup-steps.js';

const DONE: SetupState = { hasModel: true, unpriced: [], hasSignUpRule: true, sendsMail: true, hasBackup: true };
const NOTHING: SetupState = { ...DONE, hasModel: false, hasSignUpRule: false, sendsMail: false, hasBackup: false };

const open = (state: SetupState) => setupSteps(state)?.flatMap(({ title, done }) => (done ? [] : [title]));

describe('setupSteps', () => {
  it('lists everything at first, and makes the first step the next one', () => {
    expect(open(NOTHING)).toEqual([
      'Add models',
      'Set prices',
      'Choose who may sign up',
      'Connect a mail server',
      'Make a backup',
    ]);
    const kinds = setupSteps(NOTHING)?.map(({ action }) => action?.kind);
    expect(kinds).toEqual(['primary', undefined, undefined, undefined, undefined]);
  });

  it.each([
    ['Add models', { hasModel: false }],
    ['Set prices', { unpriced: ['large'] }],
    ['Choose who may sign up', { hasSignUpRule: false }],
    ['Connect a mail server', { sendsMail: false }],
    ['Make a backup', { hasBackup: false }],
  ])('keeps “%s” open until it is done, without an action for done steps', (title, missing) => {
    const steps = setupSteps({ ...DONE, ...missing });
    expect(steps?.filter(({ done }) => !done).map((step) => [step.title, step.action?.kind])).toContainEqual([
      title,
      'primary',
    ]);
    expect(steps?.filter(({ done, action }) => done && action !== undefined)).toEqual([]);
  });

  it('is gone when everything is done', () => {
    expect(setupSteps(DONE)).toBeUndefined();
  });
});
