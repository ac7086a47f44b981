// The settings of the process: the environment, validated once and frozen. Injected as `Config`; nothing else reads
// `process.env`. Also provides the Clock.
export { Config } from './config.js';
export { ConfigModule } from './config.module.js';
export { OWN_SECRETS } from './environment.js';
export { PACKAGE_ROOT, VIEWS } from './package-root.js';
export { BaseAddress } from './base-address.js';
