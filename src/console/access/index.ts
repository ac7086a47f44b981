// Access to pages: access levels of handlers, the guard that identifies visitors, sign-in of browsers, recent sign-ins.
export {
  ACCESS,
  type Access,
  Allows,
  ALLOWS,
  AccessModule,
  Audited,
  BrowserSignIn,
  Administrator,
  NotAllowed,
  Public,
  RECENT_SIGN_IN,
  RequiresRecentSignIn,
  SecondFactorSetUp,
  SignedIn,
  TemporaryPassword,
  Unverified,
} from './access.js';
