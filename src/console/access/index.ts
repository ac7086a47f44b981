// Who may open which page: the access levels of handlers, the guard that finds out who asks, and recent sign-ins.
export {
  ACCESS,
  type Access,
  Operator,
  Public,
  RECENT_SIGN_IN,
  RequiresRecentSignIn,
  SecondFactorSetUp,
  SignedIn,
  TemporaryPassword,
  Unverified,
} from './access.js';
export { AccessModule, BrowserSignIn } from './access.module.js';
