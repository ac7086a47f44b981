// Who may open which page: the access levels of handlers, the guard that finds out who asks, and recent sign-ins.
export { Operator, Public, SecondFactorSetUp, SignedIn, TemporaryPassword, Unverified } from './access.js';
export { ACCESS, type Access } from './access-level.js';
export { AccessModule } from './access.module.js';
export { BrowserSignIn } from './browser-sign-in.js';
export { RECENT_SIGN_IN, RequiresRecentSignIn } from './recent-sign-in.interceptor.js';
