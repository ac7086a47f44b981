// New accounts with everything they start with, in one transaction; the administrator of a first run.
// Does not own accounts, wallets or keys: it only brings their services together.
export { OnboardingModule } from './onboarding.module.js';
export { type FirstRun, Onboarding } from './onboarding.service.js';
